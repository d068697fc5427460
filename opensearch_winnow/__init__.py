"""Finds copies in a crawl: near-duplicate pages and quoted passages."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from opensearch_winnow.errors import SchemeError, WinnowError
from opensearch_winnow.ingest.fingerprint import Fingerprints, fingerprint
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.queries.asked import QuestionError
from opensearch_winnow.queries.boilerplate import Boilerplate, BoilerplateError
from opensearch_winnow.queries.compare import Comparison, Passage, compare
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Match, Matches
from opensearch_winnow.queries.results import SearchResults
from opensearch_winnow.scheme import Scheme
from opensearch_winnow.stores.store import StoreError
from opensearch_winnow.watches import WatchError

if TYPE_CHECKING:
    from opensearch_winnow.index import Index as Index
    from opensearch_winnow.parts import actions as actions
    from opensearch_winnow.parts import mapping_fragment as mapping_fragment
    from opensearch_winnow.parts import winnow_fields as winnow_fields
    from opensearch_winnow.queries.dsl.dedupe import dedupe as dedupe
    from opensearch_winnow.queries.hit_groups import HitGroup as HitGroup
    from opensearch_winnow.queries.hit_groups import HitGroups as HitGroups
    from opensearch_winnow.queries.hit_groups import HitMember as HitMember
    from opensearch_winnow.queries.hit_groups import group_hits as group_hits

__version__ = "0.1.0.dev0"

__all__ = [
    "Boilerplate",
    "BoilerplateError",
    "Comparison",
    "Filters",
    "Fingerprints",
    "HitGroup",
    "HitGroups",
    "HitMember",
    "Index",
    "Match",
    "Matches",
    "Page",
    "Passage",
    "QuestionError",
    "Scheme",
    "SchemeError",
    "SearchResults",
    "StoreError",
    "WatchError",
    "WinnowError",
    "actions",
    "compare",
    "dedupe",
    "fingerprint",
    "group_hits",
    "mapping_fragment",
    "winnow_fields",
]

# By where they are. They come when they are asked for: they bring every parser along, and `winnow --help` need not wait
# for them.
LATER = {
    "Index": "index",
    **dict.fromkeys(("actions", "mapping_fragment", "winnow_fields"), "parts"),
    "dedupe": "queries.dsl.dedupe",
    **dict.fromkeys(("HitGroup", "HitGroups", "HitMember", "group_hits"), "queries.hit_groups"),
}


def __getattr__(name: str) -> Any:
    if name in LATER:
        return getattr(import_module(f"opensearch_winnow.{LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
