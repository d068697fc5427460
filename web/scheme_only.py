"""Stands in for the index of a server that has no store."""

from __future__ import annotations

from dataclasses import dataclass

from opensearch_winnow.foundation.scheme import Scheme


@dataclass(slots=True)
class SchemeOnly:
    """The scheme of a server without a store. Screens that need no more than this are served."""

    scheme: Scheme
    name: str = "no store"

    def close(self) -> None:
        pass
