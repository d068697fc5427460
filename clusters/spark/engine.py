"""Clusters record files on Spark, with the same result and the same tables as on DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

from pyspark.sql import DataFrame, SparkSession

from opensearch_winnow.clusters import schemas
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import Candidates, ClusteringResult
from opensearch_winnow.clusters.spark import captures, tables
from opensearch_winnow.clusters.spark.candidates import proposed_pairs, signatures, total_tally
from opensearch_winnow.clusters.spark.chosen_representatives import with_chosen_representatives
from opensearch_winnow.clusters.spark.hadoop_files import HadoopFiles
from opensearch_winnow.clusters.spark.jobs import run_job_group, waiting_for_tasks
from opensearch_winnow.clusters.spark.linkage import joined_contents
from opensearch_winnow.clusters.spark.outputs import Outputs, Scratch
from opensearch_winnow.clusters.spark.verdicts import decided_by_text, decided_pairs, judged_pairs, shingle_sets
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme

PHASES = ("reading", "reading tokens", "pairing", "comparing", "comparing texts", "clustering", "writing")


def cluster_on_spark(
    records: Sequence[str],
    options: ClusteringOptions,
    settings: RunSettings = RunSettings(),
    *,
    session: SparkSession,
) -> ClusteringResult:
    """Cluster `records`, which are record files or folders of them, on any file system that Spark knows.

    The tables that `settings` names are folders of Parquet files, and appear together at the end of the run.
    Intermediate tables are kept in `settings.work`, a folder that all machines see, by default beside the output.
    """
    return run_job_group(session, "winnow cluster", lambda: _cluster(records, options, settings, session))


def _cluster(
    records: Sequence[str], options: ClusteringOptions, settings: RunSettings, session: SparkSession
) -> ClusteringResult:
    with ExitStack() as stack:
        files = HadoopFiles(session)
        record_files = captures.record_files(files, records)
        scheme = captures.common_scheme(files, record_files)
        outputs = Outputs(
            files,
            (settings.output, settings.evidence, settings.changes),
            [file.path for file in record_files],
            overwrite=settings.overwrite,
        )
        stack.callback(outputs.discard)
        scratch = Scratch(session, files, files.new_folder(settings.work) if settings.work else outputs.scratch_folder)
        stack.callback(scratch.close)
        stack.enter_context(waiting_for_tasks(session))
        rows = captures.with_texts_of_revisits(captures.read_records(session, record_files))
        steps = _Steps(rows, options, scheme.scheme(settings.key), scratch, settings.report)
        steps.make_edges()
        result = steps.make_clusters()
        steps.report("writing")
        for name, table, schema in (
            (settings.output, steps.clusters, schemas.CLUSTERS),
            (settings.evidence, steps.evidence, schemas.EDGES),
            (settings.changes, steps.changes, schemas.CHANGES),
        ):
            if name is not None:
                outputs.write(name, tables.cast_to_schema(table(), schema))
        outputs.commit()
    return result


class _Steps:
    """The steps of a clustering, and the tables they leave."""

    def __init__(
        self, records: DataFrame, options: ClusteringOptions, scheme: Scheme, scratch: Scratch, progress: Progress
    ) -> None:
        self._records = records
        self._options = options
        self._scheme = scheme
        self._scratch = scratch
        self._progress = progress
        self._candidates = Candidates()

    def report(self, phase: str) -> None:
        self._progress(phase, PHASES.index(phase), len(PHASES))

    def make_edges(self) -> None:
        keep, options, scheme = self._scratch.keep, self._options, self._scheme
        self.report("reading")
        self._pages = captures.numbered_pages(self._records, self._scratch)
        self.report("reading tokens")
        self._signed = keep("signatures", signatures(self._records, self._pages, options))
        self.report("pairing")
        proposed = keep("proposed", proposed_pairs(self._signed, options))
        self.report("comparing")
        pairs = proposed.where("pair >= 0")
        judged = keep("judged", judged_pairs(pairs, self._signed, options.threshold, scheme))
        self.report("comparing texts")
        shingles = keep("shingles", shingle_sets(judged, self._pages, self._records, scheme))
        by_text = keep("by-text", decided_by_text(judged, shingles, options.threshold))
        decided = decided_pairs(judged, by_text)
        self._edges = decided.where("alike")
        self._count_candidates(proposed, decided)

    def _count_candidates(self, proposed: DataFrame, decided: DataFrame) -> None:
        common, longest, left_out = total_tally(proposed)
        bars, exact, edges = tables.histogram(decided)
        self._candidates = Candidates(
            compared=sum(bars),
            exact=exact,
            edges=edges,
            common=common,
            longest=longest,
            left_out=left_out,
            histogram=bars,
        )

    def make_clusters(self) -> ClusteringResult:
        self.report("clustering")
        joined = joined_contents(
            self._edges,
            self._signed,
            linkage=self._options.linkage,
            threshold=self._options.threshold,
            scheme=self._scheme,
            scratch=self._scratch,
        )
        members = tables.members(self._pages, joined)
        rule = self._options.other_representative
        if rule is not None:
            members = with_chosen_representatives(
                self._scratch.keep("members", members),
                self._edges,
                self._signed,
                rule,
                threshold=self._options.threshold,
                scheme=self._scheme,
                scratch=self._scratch,
            )
        self._clustered = self._scratch.keep("clustered", tables.clustered_pages(self._pages, members))
        clusters = self._scratch.keep("clusters", tables.by_cluster(self._clustered))
        sizes: Counter[int] = Counter()
        identical_sizes: Counter[int] = Counter()
        for size, identical, count in tables.count_by_size(clusters):
            sizes[size] += count
            if identical:
                identical_sizes[size] += count
        pages, contents = tables.count_pages(self._pages)
        return ClusteringResult(
            engine="spark",
            scheme=self._scheme.id,
            pages=pages,
            contents=contents,
            sizes=dict(sorted(sizes.items())),
            identical_sizes=dict(sorted(identical_sizes.items())),
            largest_clusters=tables.largest_clusters(clusters, self._clustered),
            edges=self._candidates.edges + pages - contents,
            candidates=self._candidates,
            expected_recall=self._candidates.expected_recall(self._options.threshold, self._scheme)
            if self._options.fast
            else None,
        )

    def clusters(self) -> DataFrame:
        return self._clustered

    def evidence(self) -> DataFrame:
        return tables.evidence(self._pages, self._edges, self._scheme.id)

    def changes(self) -> DataFrame:
        return self._clustered.where("cluster != before")
