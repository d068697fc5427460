from opensearch_winnow.clusters.deduplication.decisions import (
    Deduplication as Deduplication,
    OtherSymbols as OtherSymbols,
    RowCluster as RowCluster,
)
from opensearch_winnow.clusters.deduplication.options import DeduplicationError as DeduplicationError
from opensearch_winnow.clusters.options import ClusterError as ClusterError, ClusterRun as ClusterRun
from opensearch_winnow.clusters.result import (
    Candidates as Candidates,
    ClusteringResult as ClusteringResult,
    LargestCluster as LargestCluster,
    LastClustering as LastClustering,
)
from opensearch_winnow.cython_core.canonical_text import CanonicalText as CanonicalText
from opensearch_winnow.cython_core.estimates import Estimate as Estimate
from opensearch_winnow.foundation.cancellation import CancelledError as CancelledError
from opensearch_winnow.foundation.figures import Figure as Figure
from opensearch_winnow.ingest.extractors import Extracted as Extracted, ExtractError as ExtractError
from opensearch_winnow.ingest.fingerprint import Fingerprints as Fingerprints
from opensearch_winnow.ingest.rows import FailedRow as FailedRow, Row as Row
from opensearch_winnow.ingest.rows.in_memory import ArrowTable as ArrowTable
from opensearch_winnow.ingest.runs.report import Damaged as Damaged, OutcomeCount as OutcomeCount, Report as Report
from opensearch_winnow.ingest.sources.field_names import FieldNames as FieldNames
from opensearch_winnow.ingest.sources.split import Failed as Failed, Skipped as Skipped
from opensearch_winnow.mappings.archive_location import ArchiveLocation as ArchiveLocation
from opensearch_winnow.mappings.card import CaptureEntry as CaptureEntry, Card as Card
from opensearch_winnow.mappings.finding import Finding as Finding, Findings as Findings
from opensearch_winnow.mappings.record import Hashes as Hashes, Record as Record
from opensearch_winnow.mappings.written_scheme import WrittenScheme as WrittenScheme
from opensearch_winnow.operations.asking.history import (
    History as History,
    HistoryEntry as HistoryEntry,
    HistoryQuestion as HistoryQuestion,
)
from opensearch_winnow.operations.asking.locate import FoundPage as FoundPage, Located as Located, LostPage as LostPage
from opensearch_winnow.operations.asking.nothing_found import (
    NoHit as NoHit,
    NoMatch as NoMatch,
    Offer as Offer,
    WordSearch as WordSearch,
)
from opensearch_winnow.operations.asking.page_comparer import ComparedPair as ComparedPair, Likeness as Likeness
from opensearch_winnow.operations.asking.page_finder import PageNotFoundError as PageNotFoundError
from opensearch_winnow.operations.asking.sources import (
    SourcedPart as SourcedPart,
    TextSource as TextSource,
    TextSources as TextSources,
)
from opensearch_winnow.operations.asking.versions import (
    Version as Version,
    VersionPage as VersionPage,
    Versions as Versions,
    VersionsQuestion as VersionsQuestion,
)
from opensearch_winnow.operations.asking.watch_log import LogQuestion as LogQuestion
from opensearch_winnow.operations.asking.watches import (
    AddingOptions as AddingOptions,
    NewWatch as NewWatch,
    Watch as Watch,
    WatchError as WatchError,
    WatchList as WatchList,
    WatchReport as WatchReport,
)
from opensearch_winnow.operations.clusters.cluster_details import (
    ClusterDetails as ClusterDetails,
    ClusterDetailsOptions as ClusterDetailsOptions,
    ClusterPageRow as ClusterPageRow,
    ComparedPage as ComparedPage,
    DividedText as DividedText,
    JoiningPage as JoiningPage,
    ListedPage as ListedPage,
)
from opensearch_winnow.operations.clusters.cluster_list import (
    ClusterList as ClusterList,
    ClusterListOptions as ClusterListOptions,
    ClusterRow as ClusterRow,
    ListedCluster as ListedCluster,
)
from opensearch_winnow.operations.crawls.changes import (
    Change as Change,
    Changes as Changes,
    ChangesQuestion as ChangesQuestion,
)
from opensearch_winnow.operations.crawls.deletion import (
    DeletedCapture as DeletedCapture,
    DeletionReport as DeletionReport,
    DeletionRequest as DeletionRequest,
)
from opensearch_winnow.operations.crawls.export import ExportOptions as ExportOptions, ExportReport as ExportReport
from opensearch_winnow.operations.crawls.extract import ExtractOptions as ExtractOptions, ExtractReport as ExtractReport
from opensearch_winnow.operations.crawls.indexing import IndexingOptions as IndexingOptions
from opensearch_winnow.operations.crawls.remaining_copies import (
    RemainingCopies as RemainingCopies,
    RemainingCopy as RemainingCopy,
)
from opensearch_winnow.operations.own_index.attaching import Attaching as Attaching
from opensearch_winnow.operations.sets.contamination import (
    ContaminatedRow as ContaminatedRow,
    Contamination as Contamination,
    ContaminationOptions as ContaminationOptions,
    FoundEvaluation as FoundEvaluation,
)
from opensearch_winnow.operations.sets.deduplication import (
    FileDeduplication as FileDeduplication,
    RowsDeduplication as RowsDeduplication,
)
from opensearch_winnow.operations.sets.evaluation_sets import (
    EvaluationField as EvaluationField,
    EvaluationSet as EvaluationSet,
    FieldContainment as FieldContainment,
    FrequentRow as FrequentRow,
)
from opensearch_winnow.operations.sets.pairs import PairOptions as PairOptions, PairsQuestion as PairsQuestion
from opensearch_winnow.operations.sets.passage_run import FrequentPassage as FrequentPassage, PassageRun as PassageRun
from opensearch_winnow.operations.upkeep.boilerplate import LearningOptions as LearningOptions
from opensearch_winnow.operations.upkeep.common_texts import CommonText as CommonText
from opensearch_winnow.operations.upkeep.overview import (
    ExamplePair as ExamplePair,
    ExampleSearch as ExampleSearch,
    LargeCluster as LargeCluster,
    Overview as Overview,
)
from opensearch_winnow.operations.upkeep.power_law import PowerLaw as PowerLaw
from opensearch_winnow.operations.upkeep.rotation import RotationReport as RotationReport
from opensearch_winnow.operations.upkeep.store_figures import (
    FigureOptions as FigureOptions,
    StoreFigures as StoreFigures,
    TokenCounts as TokenCounts,
)
from opensearch_winnow.queries.asking.compared_pages import TwoPages as TwoPages
from opensearch_winnow.queries.asking.matches import Match as Match, Matches as Matches
from opensearch_winnow.queries.asking.similar_options import (
    SimilarOptions as SimilarOptions,
    SimilarQuestion as SimilarQuestion,
)
from opensearch_winnow.queries.asking.thresholds import Thresholds as Thresholds
from opensearch_winnow.queries.compare import (
    ComparedCapture as ComparedCapture,
    Comparison as Comparison,
    TextRun as TextRun,
)
from opensearch_winnow.queries.dsl.overlap import QuestionPart as QuestionPart
from opensearch_winnow.queries.dsl.scores import Shares as Shares
from opensearch_winnow.queries.estimates import Estimates as Estimates
from opensearch_winnow.queries.relationship import Lengths as Lengths, Relationship as Relationship
from opensearch_winnow.queries.scores import Passage as Passage, Scores as Scores
from opensearch_winnow.queries.searching.hit_groups import ClientResponse as ClientResponse
from opensearch_winnow.queries.searching.results import (
    FacetCount as FacetCount,
    Folded as Folded,
    GroupedPage as GroupedPage,
    Member as Member,
    Result as Result,
    SearchResults as SearchResults,
)
from opensearch_winnow.queries.searching.search_groups import GroupsQuestion as GroupsQuestion
from opensearch_winnow.queries.searching.search_request import (
    SearchQuestion as SearchQuestion,
    SearchRequest as SearchRequest,
)
from opensearch_winnow.queries.sets.pairs import (
    Document as Document,
    DocumentFile as DocumentFile,
    FilePart as FilePart,
    NotCompared as NotCompared,
    Pair as Pair,
    Pairs as Pairs,
    SharedPassage as SharedPassage,
    Unread as Unread,
)
from opensearch_winnow.queries.sets.passage_index import IndexedPassage as IndexedPassage
from opensearch_winnow.queries.upkeep.boilerplate import (
    Boilerplate as Boilerplate,
    BoilerplateError as BoilerplateError,
)
from opensearch_winnow.queries.words import Term as Term, Words as Words
from opensearch_winnow.stores.engine.options import EngineOptions as EngineOptions
from opensearch_winnow.stores.engine.running import EngineNode as EngineNode, Running as Running
from opensearch_winnow.stores.opensearch.own_index.attach_reports import (
    AttachReport as AttachReport,
    Detached as Detached,
    NewIndices as NewIndices,
)
from opensearch_winnow.stores.store import (
    ClusterSize as ClusterSize,
    Crawl as Crawl,
    Statistics as Statistics,
    WriteOutcome as WriteOutcome,
)
