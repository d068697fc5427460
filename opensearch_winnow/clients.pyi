from opensearch_winnow.ingest.own_index.winnow_fields import actions as actions, winnow_fields as winnow_fields
from opensearch_winnow.mappings.opensearch_mapping import mapping_fragment as mapping_fragment
from opensearch_winnow.queries.dsl.deduplicate_search_body import deduplicate_search_body as deduplicate_search_body
from opensearch_winnow.queries.dsl.filters import conditions as conditions
from opensearch_winnow.queries.dsl.frequency import holders as holders, suspects as suspects, with_any as with_any
from opensearch_winnow.queries.dsl.overlap import (
    overlap as overlap,
    overlap_parts as overlap_parts,
    put_together as put_together,
    uncounted as uncounted,
)
from opensearch_winnow.queries.dsl.pages import best as best, count as count, first as first, following as following
from opensearch_winnow.queries.dsl.scores import least_shared as least_shared, scored as scored, shares as shares
from opensearch_winnow.queries.dsl.words import words_query as words_query
from opensearch_winnow.queries.searching.hit_groups import (
    FoldedHit as FoldedHit,
    HitGroup as HitGroup,
    HitGroups as HitGroups,
    HitMember as HitMember,
    group_hits as group_hits,
)
from opensearch_winnow.queries.searching.search_groups import (
    search_groups as search_groups,
    search_groups_async as search_groups_async,
)
from opensearch_winnow.stores.engine.local_engine import LocalEngine as LocalEngine
from opensearch_winnow.stores.opensearch.requests.bulk import bulk as bulk
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits as BulkLimits, Operation as Operation
from opensearch_winnow.stores.opensearch.requests.transport import (
    PatientTransport as PatientTransport,
    RetryingTransport as RetryingTransport,
)
