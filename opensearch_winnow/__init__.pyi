from opensearch_winnow.clusters.deduplication.decisions import Deduplication
from opensearch_winnow.foundation.errors import QuestionError, SchemeError, WinnowError
from opensearch_winnow.foundation.extras import MissingExtraError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.fingerprint import Fingerprints, fingerprint
from opensearch_winnow.ingest.own_index.winnow_fields import actions, winnow_fields
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.mappings.opensearch_mapping import mapping_fragment
from opensearch_winnow.operations.asking.watches import Watch, WatchError
from opensearch_winnow.operations.own_index.attaching import attach, detach
from opensearch_winnow.operations.sets.contamination import Contamination, contaminated
from opensearch_winnow.operations.sets.deduplication import deduplicate, deduplicate_rows
from opensearch_winnow.operations.sets.pairs import pairs
from opensearch_winnow.operations.sets.passage_run import PassagesResult, repeated_passages
from opensearch_winnow.operations.sets.repeated_passages import PassageOptions, RepeatedPassage, RepeatedPassageFinder
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.compare import Comparison, compare
from opensearch_winnow.queries.dsl.deduplicate_search_body import deduplicate_search_body
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.relationship import Relationship
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.searching.hit_groups import FoldedHit, HitGroup, HitGroups, HitMember, group_hits
from opensearch_winnow.queries.searching.results import SearchResults
from opensearch_winnow.queries.searching.search_groups import search_groups, search_groups_async
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile, Pair, Pairs
from opensearch_winnow.queries.sets.passage_index import PassageIndex
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, BoilerplateError
from opensearch_winnow.stores.store import StoreError

__version__: str

__all__ = [
    "Boilerplate",
    "BoilerplateError",
    "Comparison",
    "Contamination",
    "Deduplication",
    "Document",
    "DocumentFile",
    "FieldNames",
    "Filters",
    "Fingerprints",
    "FoldedHit",
    "HitGroup",
    "HitGroups",
    "HitMember",
    "Index",
    "Match",
    "Matches",
    "MissingExtraError",
    "Page",
    "Pair",
    "Pairs",
    "Passage",
    "PassageIndex",
    "PassageOptions",
    "PassagesResult",
    "QuestionError",
    "Relationship",
    "RepeatedPassage",
    "RepeatedPassageFinder",
    "Scheme",
    "SchemeError",
    "SearchResults",
    "StoreError",
    "Watch",
    "WatchError",
    "WinnowError",
    "actions",
    "attach",
    "compare",
    "contaminated",
    "deduplicate",
    "deduplicate_rows",
    "deduplicate_search_body",
    "detach",
    "fingerprint",
    "group_hits",
    "mapping_fragment",
    "pairs",
    "repeated_passages",
    "search_groups",
    "search_groups_async",
    "winnow_fields",
]
