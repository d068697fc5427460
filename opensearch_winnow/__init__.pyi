from opensearch_winnow.foundation.errors import SchemeError as SchemeError
from opensearch_winnow.foundation.errors import WinnowError as WinnowError
from opensearch_winnow.foundation.extras import MissingExtraError as MissingExtraError
from opensearch_winnow.foundation.scheme import Scheme as Scheme
from opensearch_winnow.index import Index as Index
from opensearch_winnow.ingest.own_documents import actions as actions
from opensearch_winnow.ingest.fingerprint import Fingerprints as Fingerprints
from opensearch_winnow.ingest.fingerprint import fingerprint as fingerprint
from opensearch_winnow.mappings.opensearch_mapping import mapping_fragment as mapping_fragment
from opensearch_winnow.ingest.own_documents import winnow_fields as winnow_fields
from opensearch_winnow.ingest.page import Page as Page
from opensearch_winnow.operations.watches import WatchError as WatchError
from opensearch_winnow.foundation.errors import QuestionError as QuestionError
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
from opensearch_winnow.stores.store import StoreError as StoreError

__version__: str

__all__: list[str]
