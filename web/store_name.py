"""The name of the store as visitors see it: without its folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.stores.opening import is_address


class StoreName(NamedTuple):
    """The name of a store, in full and as it is shown: a visitor need not learn the folders of this machine."""

    full: str
    shown: str

    @classmethod
    def of(cls, name: str) -> StoreName:
        """An address is shown whole, without credentials: a command with less of it would take it for a file."""
        return cls(name, without_credentials(name) if is_address(name) else Path(name).name or name)

    def shorten(self, message: str) -> str:
        """Return a message about the store with the name that is shown."""
        return message.replace(self.full, self.shown)
