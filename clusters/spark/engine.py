"""Clusters on Spark: the same tables as on one machine, from record files anywhere, however many they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from opensearch_winnow.clusters import schemas
from opensearch_winnow.clusters.asked import Clustering, Progress
from opensearch_winnow.clusters.expected_recall import expected_recall
from opensearch_winnow.clusters.found import Candidates, Found
from opensearch_winnow.clusters.spark import captures, tables
from opensearch_winnow.clusters.spark.candidates import proposed_pairs, signatures, tally_of
from opensearch_winnow.clusters.spark.hadoop_files import HadoopFiles
from opensearch_winnow.clusters.spark.linkage import joined_contents
from opensearch_winnow.clusters.spark.outputs import Outputs
from opensearch_winnow.clusters.spark.scratch import Scratch
from opensearch_winnow.clusters.spark.settings import in_jobs, until_tasks_end
from opensearch_winnow.clusters.spark.verdicts import decided_by_text, decided_pairs, judged_pairs, shingles_of
from opensearch_winnow.foundation.scheme import Scheme

STEPS = ("reading", "reading tokens", "pairing", "comparing", "comparing texts", "clustering", "writing")


def cluster_on_spark(
    records: Sequence[str],
    asked: Clustering,
    *,
    output: str | None,
    evidence: str | None,
    changes: str | None,
    session: SparkSession,
    overwrite: bool = False,
    work: str | None = None,
    key: str | None = None,
    progress: Progress | None = None,
) -> Found:
    """Cluster record files, or folders of them, on any file system that Spark knows.

    The tables that are asked for are folders of Parquet, which appear when all is done. In `work`, a folder that all
    machines see, is what is kept between steps; else it is beside the output.
    """
    how = _How(output, evidence, changes, overwrite, work, key, progress)
    return in_jobs(session, "winnow cluster", lambda: _clustered(records, asked, how, session))


class _How(NamedTuple):
    output: str | None
    evidence: str | None
    changes: str | None
    overwrite: bool
    work: str | None
    key: str | None
    progress: Progress | None


def _clustered(records: Sequence[str], asked: Clustering, how: _How, session: SparkSession) -> Found:
    with ExitStack() as stack:
        files = HadoopFiles(session)
        rows = captures.record_files(files, records)
        written = captures.scheme_of(files, rows)
        outputs = Outputs(files, how[:3], [file.path for file in rows], overwrite=how.overwrite)
        stack.callback(outputs.discard)
        scratch = Scratch(session, files, files.scratch(how.work) if how.work else outputs.scratch)
        stack.callback(scratch.close)
        stack.enter_context(until_tasks_end(session))
        run = _Run(captures.records_of(session, rows), asked, written.scheme(how.key), scratch, how.progress)
        run.make_edges()
        result = run.clustered()
        run.say("writing")
        for name, table, schema in (
            (how.output, run.clusters, schemas.CLUSTERS),
            (how.evidence, run.evidence, schemas.EDGES),
            (how.changes, run.changes, schemas.CHANGES),
        ):
            if name is not None:
                outputs.write(name, tables.as_table(table(), schema))
        outputs.place()
    return result


class _Run:
    """The steps, and what they have found."""

    def __init__(
        self, records: DataFrame, asked: Clustering, scheme: Scheme, scratch: Scratch, progress: Progress | None
    ) -> None:
        self._records = records
        self._asked = asked
        self._scheme = scheme
        self._scratch = scratch
        self._progress = progress
        self._candidates = Candidates()

    def say(self, step: str) -> None:
        if self._progress is not None:
            self._progress(step, STEPS.index(step), len(STEPS))

    def make_edges(self) -> None:
        keep, asked, scheme = self._scratch.keep, self._asked, self._scheme
        self.say("reading")
        self._pages = captures.numbered_pages(self._records, self._scratch)
        self.say("reading tokens")
        self._signed = keep("signatures", signatures(self._records, self._pages, asked))
        self.say("pairing")
        proposed = keep("proposed", proposed_pairs(self._signed, asked))
        self.say("comparing")
        pairs = proposed.where("pair >= 0")
        judged = keep("judged", judged_pairs(pairs, self._signed, asked.threshold, scheme))
        self.say("comparing texts")
        shingles = keep("shingles", shingles_of(judged, self._pages, self._records, scheme))
        by_text = keep("by-text", decided_by_text(judged, shingles, asked.threshold))
        decided = decided_pairs(judged, by_text)
        self._edges = decided.where("alike")
        self._count(proposed, decided)

    def _count(self, proposed: DataFrame, decided: DataFrame) -> None:
        candidates = self._candidates
        candidates.common, candidates.longest, candidates.left_out = tally_of(proposed)
        candidates.histogram, candidates.exact, candidates.edges = tables.histogram(decided)
        candidates.compared = sum(candidates.histogram)

    def clustered(self) -> Found:
        self.say("clustering")
        joined = joined_contents(
            self._edges,
            self._signed,
            chains=self._asked.linkage == "components",
            threshold=self._asked.threshold,
            scheme=self._scheme,
            scratch=self._scratch,
        )
        self._clustered = self._scratch.keep("clustered", tables.clustered_pages(self._pages, joined))
        clusters = self._scratch.keep("clusters", tables.by_cluster(self._clustered))
        sizes: Counter[int] = Counter()
        identical: Counter[int] = Counter()
        for pages, same, count in tables.sizes(clusters):
            sizes[pages] += count
            if same:
                identical[pages] += count
        pages, contents = tables.totals(self._pages)
        return Found(
            engine="spark",
            scheme=self._scheme.id,
            pages=pages,
            contents=contents,
            sizes=dict(sorted(sizes.items())),
            identical_sizes=dict(sorted(identical.items())),
            largest=tables.largest(clusters, self._clustered),
            edges=self._candidates.edges + pages - contents,
            candidates=self._candidates,
            expected_recall=expected_recall(self._candidates.histogram, self._asked.threshold, self._scheme)
            if self._asked.fast
            else None,
        )

    def clusters(self) -> DataFrame:
        return self._clustered

    def evidence(self) -> DataFrame:
        return tables.evidence(self._pages, self._edges, self._scheme.id)

    def changes(self) -> DataFrame:
        return self._clustered.where("cluster != before")
