"""Finds copies in a crawl: near-duplicate pages and quoted passages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0.dev0"

# The module of each public name. A module is imported when one of its names is first used: a service that calls one
# function does not wait for the parsers and stores of the others.
_MODULES = {
    "Boilerplate": "queries.boilerplate",
    "BoilerplateError": "queries.boilerplate",
    "Comparison": "queries.compare",
    "Contamination": "operations.contamination",
    "Deduplication": "clusters.deduplication.decisions",
    "Document": "queries.pairs",
    "DocumentFile": "queries.pairs",
    "FieldNames": "ingest.sources.field_names",
    "Filters": "queries.filters",
    "Fingerprints": "ingest.fingerprint",
    "FoldedHit": "queries.hit_groups",
    "HitGroup": "queries.hit_groups",
    "HitGroups": "queries.hit_groups",
    "HitMember": "queries.hit_groups",
    "Index": "index",
    "Match": "queries.matches",
    "Matches": "queries.matches",
    "MissingExtraError": "foundation.extras",
    "Page": "ingest.page",
    "Pair": "queries.pairs",
    "Pairs": "queries.pairs",
    "Passage": "queries.scores",
    "RepeatedPassageFinder": "operations.repeated_passages",
    "PassageIndex": "queries.passage_index",
    "PassageOptions": "operations.repeated_passages",
    "PassagesResult": "operations.passage_run",
    "QuestionError": "foundation.errors",
    "Relationship": "queries.relationship",
    "RepeatedPassage": "operations.repeated_passages",
    "Scheme": "foundation.scheme",
    "SchemeError": "foundation.errors",
    "SearchResults": "queries.results",
    "StoreError": "stores.store",
    "Watch": "operations.watches",
    "WatchError": "operations.watches",
    "WinnowError": "foundation.errors",
    "actions": "ingest.own_documents",
    "attach": "operations.attaching",
    "compare": "queries.compare",
    "contaminated": "operations.contamination",
    "deduplicate": "operations.deduplication",
    "deduplicate_rows": "operations.deduplication",
    "deduplicate_search_body": "queries.dsl.deduplicate_search_body",
    "detach": "operations.attaching",
    "fingerprint": "ingest.fingerprint",
    "group_hits": "queries.hit_groups",
    "mapping_fragment": "mappings.opensearch_mapping",
    "pairs": "operations.pairs",
    "repeated_passages": "operations.passage_run",
    "search_groups": "queries.search_groups",
    "search_groups_async": "queries.search_groups",
    "winnow_fields": "ingest.own_documents",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"opensearch_winnow.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
