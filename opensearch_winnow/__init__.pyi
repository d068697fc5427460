from opensearch_winnow.foundation.errors import (
    FileError as FileError,
    QuestionError as QuestionError,
    SchemeError as SchemeError,
    WinnowError as WinnowError,
)
from opensearch_winnow.foundation.extras import MissingExtraError as MissingExtraError
from opensearch_winnow.foundation.scheme import Scheme as Scheme
from opensearch_winnow.index import Index as Index
from opensearch_winnow.ingest.fingerprint import fingerprint as fingerprint
from opensearch_winnow.ingest.page import Page as Page
from opensearch_winnow.mappings.record import RecordsError as RecordsError
from opensearch_winnow.operations.own_index.attaching import attach as attach, detach as detach
from opensearch_winnow.operations.sets.contamination import contaminated as contaminated
from opensearch_winnow.operations.sets.deduplication import (
    deduplicate as deduplicate,
    deduplicate_rows as deduplicate_rows,
)
from opensearch_winnow.operations.sets.pairs import pairs as pairs
from opensearch_winnow.operations.sets.passage_run import repeated_passages as repeated_passages
from opensearch_winnow.queries.compare import compare as compare
from opensearch_winnow.queries.filters import Filters as Filters
from opensearch_winnow.stores.store import StoreError as StoreError

__version__: str
