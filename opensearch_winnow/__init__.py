"""Finds copies in a crawl: near-duplicate pages and quoted passages."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opensearch_winnow.bulk_actions import actions as actions
    from opensearch_winnow.errors import SchemeError as SchemeError
    from opensearch_winnow.errors import WinnowError as WinnowError
    from opensearch_winnow.extras import MissingExtraError as MissingExtraError
    from opensearch_winnow.index import Index as Index
    from opensearch_winnow.ingest.fingerprint import Fingerprints as Fingerprints
    from opensearch_winnow.ingest.fingerprint import fingerprint as fingerprint
    from opensearch_winnow.ingest.page import Page as Page
    from opensearch_winnow.own_fields import mapping_fragment as mapping_fragment
    from opensearch_winnow.own_fields import winnow_fields as winnow_fields
    from opensearch_winnow.queries.asked import QuestionError as QuestionError
    from opensearch_winnow.queries.boilerplate import Boilerplate as Boilerplate
    from opensearch_winnow.queries.boilerplate import BoilerplateError as BoilerplateError
    from opensearch_winnow.queries.compare import Comparison as Comparison
    from opensearch_winnow.queries.compare import Passage as Passage
    from opensearch_winnow.queries.compare import compare as compare
    from opensearch_winnow.queries.dsl.dedupe import dedupe as dedupe
    from opensearch_winnow.queries.filters import Filters as Filters
    from opensearch_winnow.queries.hit_groups import HitGroup as HitGroup
    from opensearch_winnow.queries.hit_groups import HitGroups as HitGroups
    from opensearch_winnow.queries.hit_groups import HitMember as HitMember
    from opensearch_winnow.queries.hit_groups import group_hits as group_hits
    from opensearch_winnow.queries.matches import Match as Match
    from opensearch_winnow.queries.matches import Matches as Matches
    from opensearch_winnow.queries.results import SearchResults as SearchResults
    from opensearch_winnow.scheme import Scheme as Scheme
    from opensearch_winnow.stores.store import StoreError as StoreError
    from opensearch_winnow.watches import WatchError as WatchError

__version__ = "0.1.0.dev0"

# The module of each public name. It is imported when the name is first used: a service that calls one function does not
# wait for the parsers and stores of the others.
_MODULES = {
    "Boilerplate": "queries.boilerplate",
    "BoilerplateError": "queries.boilerplate",
    "Comparison": "queries.compare",
    "Filters": "queries.filters",
    "Fingerprints": "ingest.fingerprint",
    "HitGroup": "queries.hit_groups",
    "HitGroups": "queries.hit_groups",
    "HitMember": "queries.hit_groups",
    "Index": "index",
    "Match": "queries.matches",
    "Matches": "queries.matches",
    "MissingExtraError": "extras",
    "Page": "ingest.page",
    "Passage": "queries.compare",
    "QuestionError": "queries.asked",
    "Scheme": "scheme",
    "SchemeError": "errors",
    "SearchResults": "queries.results",
    "StoreError": "stores.store",
    "WatchError": "watches",
    "WinnowError": "errors",
    "actions": "bulk_actions",
    "compare": "queries.compare",
    "dedupe": "queries.dsl.dedupe",
    "fingerprint": "ingest.fingerprint",
    "group_hits": "queries.hit_groups",
    "mapping_fragment": "own_fields",
    "winnow_fields": "own_fields",
}

__all__ = list(_MODULES)  # noqa: PLE0605 (a list of strings, which ruff does not see)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"opensearch_winnow.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
