"""Finds copies in a crawl: near-duplicate pages and quoted passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opensearch_winnow.errors import SchemeError, WinnowError
from opensearch_winnow.ingest.fingerprint import Fingerprints, fingerprint
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.queries.asked import QuestionError
from opensearch_winnow.queries.boilerplate import Boilerplate, BoilerplateError
from opensearch_winnow.queries.compare import Comparison, Passage, compare
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Match, Matches
from opensearch_winnow.scheme import Scheme
from opensearch_winnow.stores.store import StoreError

if TYPE_CHECKING:
    from opensearch_winnow.index import Index as Index

__version__ = "0.1.0.dev0"

__all__ = [
    "Boilerplate",
    "BoilerplateError",
    "Comparison",
    "Filters",
    "Fingerprints",
    "Index",
    "Match",
    "Matches",
    "Page",
    "Passage",
    "QuestionError",
    "Scheme",
    "SchemeError",
    "StoreError",
    "WinnowError",
    "compare",
    "fingerprint",
]


def __getattr__(name: str) -> Any:
    """The index when it is asked for: it brings every parser along, and `winnow --help` need not wait for them."""
    if name == "Index":
        from opensearch_winnow.index import Index  # noqa: PLC0415

        return Index
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
