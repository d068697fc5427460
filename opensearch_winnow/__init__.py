"""Finds copies in a crawl: near-duplicate pages and quoted passages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0.dev0"

# The module of each public name. A module is imported when one of its names is first used: a service that calls one
# function does not wait for the parsers and stores of the others.
_MODULES = {
    "Boilerplate": "queries.upkeep.boilerplate",
    "BoilerplateError": "queries.upkeep.boilerplate",
    "Comparison": "queries.compare",
    "Contamination": "operations.sets.contamination",
    "Deduplication": "clusters.deduplication.decisions",
    "Document": "queries.sets.pairs",
    "DocumentFile": "queries.sets.pairs",
    "FieldNames": "ingest.sources.field_names",
    "Filters": "queries.filters",
    "Fingerprints": "ingest.fingerprint",
    "FoldedHit": "queries.searching.hit_groups",
    "HitGroup": "queries.searching.hit_groups",
    "HitGroups": "queries.searching.hit_groups",
    "HitMember": "queries.searching.hit_groups",
    "Index": "index",
    "Match": "queries.asking.matches",
    "Matches": "queries.asking.matches",
    "MissingExtraError": "foundation.extras",
    "Page": "ingest.page",
    "Pair": "queries.sets.pairs",
    "Pairs": "queries.sets.pairs",
    "Passage": "queries.scores",
    "RepeatedPassageFinder": "operations.sets.repeated_passages",
    "PassageIndex": "queries.sets.passage_index",
    "PassageOptions": "operations.sets.repeated_passages",
    "PassagesResult": "operations.sets.passage_run",
    "QuestionError": "foundation.errors",
    "Relationship": "queries.relationship",
    "RepeatedPassage": "operations.sets.repeated_passages",
    "Scheme": "foundation.scheme",
    "SchemeError": "foundation.errors",
    "SearchResults": "queries.searching.results",
    "StoreError": "stores.store",
    "Watch": "operations.asking.watches",
    "WatchError": "operations.asking.watches",
    "WinnowError": "foundation.errors",
    "actions": "ingest.own_index.winnow_fields",
    "attach": "operations.own_index.attaching",
    "compare": "queries.compare",
    "contaminated": "operations.sets.contamination",
    "deduplicate": "operations.sets.deduplication",
    "deduplicate_rows": "operations.sets.deduplication",
    "deduplicate_search_body": "queries.dsl.deduplicate_search_body",
    "detach": "operations.own_index.attaching",
    "fingerprint": "ingest.fingerprint",
    "group_hits": "queries.searching.hit_groups",
    "mapping_fragment": "mappings.opensearch_mapping",
    "pairs": "operations.sets.pairs",
    "repeated_passages": "operations.sets.passage_run",
    "search_groups": "queries.searching.search_groups",
    "search_groups_async": "queries.searching.search_groups",
    "winnow_fields": "ingest.own_index.winnow_fields",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"opensearch_winnow.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
