"""Clusters of real pages: by this software, phase by phase; by the rule of the paper; and by exact resemblances."""

from __future__ import annotations

import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.generated_crawl import generated_crawl
from benchmarks.own_process import Taken, in_own_process
from benchmarks.papers.run import PaperRun
from opensearch_winnow.clusters.duckdb_clusters import Clusters
from opensearch_winnow.clusters.duckdb_edges import Edges
from opensearch_winnow.clusters.flat_files import PairFiles, PostingFiles
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.run import cluster_pages
from opensearch_winnow.clusters.table_file import TableFile
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record

WHOLE_CRAWL = 30_000_000  # pages of the paper
THRESHOLD = 0.5  # its threshold
MAX_DOCUMENTS = 1_000  # the paper ignores shingles that more documents have
SKETCHING, ELIMINATION, SHINGLES, PAIRS, MERGING, TEXTS, FORMATION, WRITING = (
    "Sketching",
    "Duplicate elimination",
    "Shingle merging",
    "ID–ID pair formation",
    "ID–ID merging",
    "Comparing texts",
    "Cluster formation",
    "Writing the table",
)
# The methods that begin a phase.
BEGINNINGS: tuple[tuple[type, str, str], ...] = (
    (Edges, "make_pages", ELIMINATION),
    (Edges, "make_edges", SHINGLES),
    (Edges, "_propose_pairs", PAIRS),
    (Edges, "_judge_pairs", MERGING),
    (Edges, "_edges_by_text", TEXTS),
    (Clusters, "__init__", FORMATION),
    (TableFile, "write", WRITING),
)
TRIPLETS = """
CREATE TABLE triplets AS
SELECT a.page AS a, b.page AS b, count(*) AS shared
FROM postings a JOIN postings b ON a.shingle = b.shingle AND a.page < b.page
GROUP BY ALL
"""
LINKS = """
WITH sizes AS (SELECT page, count(*) AS size FROM postings GROUP BY page)
SELECT a, b FROM triplets JOIN sizes one ON one.page = a JOIN sizes two ON two.page = b
WHERE shared >= ? * (one.size + two.size - shared) ORDER BY a, b
"""

UrlPair = tuple[str, str]


@dataclass(slots=True)
class Phases:
    """CPU seconds of each phase, and bytes of the files that lie between them."""

    cpu: dict[str, float] = field(default_factory=dict)
    postings: int = 0
    pairs: int = 0
    table: int = 0
    _phase: str = SKETCHING
    _since: float = 0.0

    def begin(self, phase: str) -> None:
        now = time.process_time()
        self.cpu[self._phase] = self.cpu.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    def watch(self, stack: ExitStack) -> None:
        """Have the methods of the software tell when a phase begins, and how large its files are."""
        for owner, name, phase in BEGINNINGS:
            stack.enter_context(patch.object(owner, name, self._beginning(getattr(owner, name), phase)))
        stack.enter_context(patch.object(PostingFiles, "sorted", self._sorting(PostingFiles.sorted)))
        self._since = time.process_time()

    def _beginning(self, method: Callable[..., Any], phase: str) -> Callable[..., Any]:
        def begin_and_call(*arguments: Any, **keywords: Any) -> Any:
            self.begin(phase)
            for file in arguments:
                if isinstance(file, PostingFiles):
                    self.postings += sum(file.sizes())
                elif isinstance(file, PairFiles) and phase == MERGING:
                    self.pairs += sum(file.sizes())
            return method(*arguments, **keywords)

        return begin_and_call

    def _sorting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Count the sorting of postings, which happens part by part while pairs are formed, as merging."""

        def sort(*arguments: Any) -> Any:
            start = time.thread_time()
            result = method(*arguments)
            taken = time.thread_time() - start
            self.cpu[SHINGLES] += taken
            self.cpu[PAIRS] = self.cpu.get(PAIRS, 0.0) - taken
            return result

        return sort


class Clustering(NamedTuple):
    """Clusters found by this software."""

    result: ClusteringResult
    phases: Phases
    clusters: dict[str, str]  # cluster by URL
    taken: Taken


def clusters_of_this_software(corpus: str) -> Clustering:
    """Cluster the pages of a corpus in a process of its own, with one thread and the linkage of the paper."""
    return _in_own_process(PaperRun().pages, corpus)


def clusters_of_generated_pages(count: int) -> Clustering:
    """Cluster generated pages likewise: texts, not HTML."""
    return _in_own_process(generated_crawl, 0, count)


def _in_own_process(pages: Callable[..., Iterable[Page]], *arguments: Any) -> Clustering:
    with TemporaryDirectory(prefix="winnow-papers-") as folder:
        (result, phases, clusters), taken = in_own_process(_clustering, pages, arguments, folder, folder=Path(folder))
    return Clustering(result, phases, clusters, taken)


def _clustering(
    pages: Callable[..., Iterable[Page]], arguments: tuple[Any, ...], folder: str
) -> Callable[[], tuple[ClusteringResult, Phases, dict[str, str]]]:
    some = list(pages(*arguments))
    _cluster(some[:10], Path(folder, "first.parquet"))  # the first run takes a moment to load Arrow and DuckDB
    return partial(_cluster, some, Path(folder, "clusters.parquet"))


def _cluster(pages: Sequence[Page], output: Path) -> tuple[ClusteringResult, Phases, dict[str, str]]:
    phases = Phases()
    with ExitStack() as stack:
        phases.watch(stack)
        options = ClusteringOptions(threshold=THRESHOLD, linkage="components")
        result = cluster_pages(pages, options, RunSettings(output=str(output), threads=1))
        phases.begin("")
    phases.table = output.stat().st_size
    table = pq.read_table(output, columns=["url", "cluster"]).to_pydict()
    return result, phases, dict(zip(table["url"], table["cluster"], strict=True))


class PaperClusters(NamedTuple):
    """Clusters found by the rule of the paper, and how many entries its files have."""

    clusters: dict[str, str]  # cluster by URL
    edges: set[UrlPair]  # pairs that are linked, each in the order of its URLs
    kept: set[str]  # URLs of documents that are no copies
    shingles: int  # of the sketches of all documents
    postings: int  # <shingle, ID>
    triplets: int  # <ID, ID, 1>
    merged: int  # <ID, ID, count>


def clusters_by_the_paper(
    records: Sequence[Record], sketches: Sequence[array[int]], max_documents: int = MAX_DOCUMENTS
) -> PaperClusters:
    """Cluster records by the rule of the paper, to the letter: by counts of the shingles that two sketches share."""
    first: dict[str, int] = {}
    digests = [each.hashes.text_digest for each in records]
    kept = [number for number, digest in enumerate(digests) if first.setdefault(digest, number) == number]
    documents = Counter(shingle for number in kept for shingle in sketches[number])
    entries = [
        (shingle, number) for number in kept for shingle in sketches[number] if documents[shingle] <= max_documents
    ]
    components = UnionFind(len(records))
    with duckdb.connect() as con:
        con.execute("SET threads = 1")
        shingles, numbers = zip(*entries, strict=True)
        con.register("postings", pa.table([pa.array(shingles, pa.uint64()), pa.array(numbers)], ["shingle", "page"]))
        con.execute(TRIPLETS)
        triplets, merged = con.execute("SELECT sum(shared)::BIGINT, count(*) FROM triplets").fetchone() or (0, 0)
        linked = con.execute(LINKS, [THRESHOLD]).fetchall()
    for a, b in linked:
        components.join(a, b)
    for number, record in enumerate(records):
        components.join(first[record.hashes.text_digest], number)
    return PaperClusters(
        _named(records, components),
        {(min(pair), max(pair)) for a, b in linked for pair in [(records[a].url, records[b].url)]},
        {records[number].url for number in kept},
        sum(map(len, sketches)),
        len(entries),
        triplets,
        merged,
    )


def clusters_by_truth(records: Sequence[Record], pairs: Iterable[UrlPair]) -> dict[str, str]:
    """Cluster records by the pairs of URLs that resemble each other."""
    numbers = {record.url: number for number, record in enumerate(records)}
    components = UnionFind(len(records))
    for a, b in pairs:
        components.join(numbers[a], numbers[b])
    return _named(records, components)


def _named(records: Sequence[Record], components: UnionFind) -> dict[str, str]:
    return {record.url: str(label) for record, label in zip(records, components.labels(), strict=True)}


class Statistics(NamedTuple):
    """What the paper counts about clusters of two documents or more."""

    documents: int
    clusters: int
    clustered: int  # documents in clusters
    identical: int  # clusters with identical documents only
    identical_documents: int  # documents in them

    @classmethod
    def of(cls, clusters: dict[str, str], identity: dict[str, str]) -> Statistics:
        """Count the clusters; `identity` says which documents are identical, by URL."""
        members = [urls for urls in _members(clusters) if len(urls) > 1]
        identical = [urls for urls in members if len({identity[url] for url in urls}) == 1]
        return cls(len(clusters), len(members), sum(map(len, members)), len(identical), sum(map(len, identical)))


def _members(clusters: dict[str, str]) -> Iterator[list[str]]:
    members: dict[str, list[str]] = defaultdict(list)
    for url, cluster in clusters.items():
        members[cluster].append(url)
    yield from members.values()


def pair_f1(found: dict[str, str], truth: dict[str, str]) -> float:
    """Return the F1 of the pairs of documents in one cluster."""
    both = Counter((found[url], truth[url]) for url in truth)
    each = _pairs(Counter(found.values()).values()) + _pairs(Counter(truth.values()).values())
    return 2 * _pairs(both.values()) / each if each else 1.0


def _pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)
