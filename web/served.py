"""Defines the two things that a server answers from: a store, or a scheme alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.stores.opening import is_address


class HasScheme(Protocol):
    """The scheme: all that screens without a store need. An index has one, and so has a server without a store."""

    @property
    def scheme(self) -> Scheme: ...


class OnlyScheme(NamedTuple):
    """The scheme that a server without a store answers from."""

    scheme: Scheme


class ServedStore(NamedTuple):
    """A store, and the function that opens an index of it for each thread."""

    name: str  # in full; visitors see a shorter one
    open_index: Callable[[], Index]

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the store of this name, which must exist. Its messages contain the name that visitors see."""
        return cls(name, partial(Index.open, name, create=False, shown_name=shown_name(name)))

    @property
    def shown_name(self) -> str:
        return shown_name(self.name)


def shown_name(store: str) -> str:
    """Return the name of a store as visitors see it: that of a file without its folder, which stays private.

    An address is whole, without credentials: a command with less of it would take it for a file.
    """
    return without_credentials(store) if is_address(store) else Path(store).name or store
