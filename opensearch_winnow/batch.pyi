from opensearch_winnow.clusters.options import ClusteringOptions as ClusteringOptions, RunSettings as RunSettings
from opensearch_winnow.clusters.run import cluster_pages as cluster_pages, cluster_records as cluster_records
from opensearch_winnow.clusters.spark.engine import cluster_on_spark as cluster_on_spark
from opensearch_winnow.clusters.spark.fingerprint import fingerprint_on_spark as fingerprint_on_spark
from opensearch_winnow.clusters.spark.session import spark_session as spark_session
from opensearch_winnow.ingest.page_record import Recipe as Recipe
from opensearch_winnow.operations.sets.passage_run import PassagesResult as PassagesResult
from opensearch_winnow.operations.sets.repeated_passages import (
    PassageOptions as PassageOptions,
    RepeatedPassage as RepeatedPassage,
    RepeatedPassageFinder as RepeatedPassageFinder,
)
from opensearch_winnow.queries.sets.passage_index import PassageIndex as PassageIndex
from opensearch_winnow.record_files.reader import scheme_of as scheme_of
from opensearch_winnow.record_files.records import read_records as read_records
from opensearch_winnow.stores.exported_records import export_records as export_records
from opensearch_winnow.web.class_report.report import write_report as write_report
