"""From texts in memory to clusters, beside datasketch and rensa, and how right each is."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from importlib import import_module
from math import comb
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.generated_crawl import generated_crawl
from benchmarks.own_process import in_own_process
from benchmarks.peers.missing import available
from benchmarks.peers.text_clusters import PEERS, THRESHOLD, Clusters, Labels
from benchmarks.sketches_vs_peers import WIDTH, with_version
from benchmarks.table import Run, Table, times
from opensearch_winnow.clusters.options import LINKAGES, ClusteringOptions, Linkage, RunSettings
from opensearch_winnow.clusters.run import cluster_pages
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.cython_core.pair_representatives import PairRepresentatives
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe

PAGES = 20_000
ROUNDS = 2
SCHEME = Scheme()
OURS = {
    "opensearch-winnow": ClusteringOptions(threshold=THRESHOLD),
    "opensearch-winnow, components": ClusteringOptions(threshold=THRESHOLD, linkage="components"),
    "opensearch-winnow, fast": ClusteringOptions(threshold=THRESHOLD, fast=True),
}
FIRST = next(iter(OURS))

# Pairs at or above the threshold, from all pairs that share a shingle. All other pairs have resemblance 0.
ALIKE = f"""
WITH sizes AS (SELECT page, count(*) AS size FROM postings GROUP BY page),
    shared AS (
        SELECT one.page AS earlier, other.page AS later, count(*) AS common
        FROM postings one JOIN postings other USING (shingle) WHERE one.page < other.page GROUP BY ALL
    )
SELECT (earlier << 32) | later
FROM shared JOIN sizes a ON a.page = earlier JOIN sizes b ON b.page = later
WHERE common >= {THRESHOLD} * (a.size + b.size - common) ORDER BY ALL
"""


def peers_table(run: Run) -> Table:
    count, rounds = run.size(PAGES, least=200), run.size(ROUNDS)
    peers, missing = available(PEERS)
    best = dict.fromkeys([*OURS, *peers], float("inf"))
    found: dict[str, Labels] = {}
    for _ in range(rounds):
        for name, before in best.items():
            found[name], taken = in_own_process(clustering, name, count)
            best[name] = min(before, taken.cpu)
    truth = true_clusters(texts_of(count))
    rows = []
    for name, cpu in best.items():
        linkage = OURS[name].linkage if name in OURS else "components"
        rows.append(
            (
                name if name in OURS else with_version(name),
                f"{cpu:.2f}",
                f"{cpu / count * 1e3:.2f}",
                times(cpu / best[FIRST]),
                linkage,
                f"{sum(size > 1 for size in Counter(found[name]).values()):,}",
                f"{sum(size > 1 for size in Counter(truth[linkage]).values()):,}",
                f"{pair_f1(found[name], truth[linkage]):.4f}",
            )
        )
    return Table(
        f"Texts to clusters: {count:,} generated pages",
        ("", "CPU s", "CPU ms a page", "ours is faster by", "linkage", "clusters", "in truth", "F1 of pairs"),
        rows,
        f"Aim: 5 × datasketch, 3 × rensa. Best of {rounds} rounds, all threads counted. {WIDTH}-word shingles,"
        f" resemblance from {THRESHOLD:g}; the truth is the same linkage of the exact resemblances of all pairs. Ours"
        " is cluster_pages, which makes only what clustering reads and keeps it in a file without compression. The"
        " numbers after the peers are permutations; their shingles are made in Python, as their users do. datasketch"
        " and rensa verify candidates by their MinHashes. Each runs in its fastest mode unless stated: datasketch with"
        " xxhash and batches.",
        missing,
    )


def clustering(name: str, count: int) -> Callable[[], Labels]:
    for module in ("on_duckdb", "page_columns"):  # imported before the clock starts, as the peers are
        import_module(f"opensearch_winnow.clusters.{module}")
    pa.array([0])  # imports pandas if it is installed
    clusters: Clusters = partial(ours, OURS[name]) if name in OURS else PEERS[name]()
    return partial(clusters, texts_of(count))


def texts_of(count: int) -> list[str]:
    return [page.text or "" for page in generated_crawl(0, count)]


def ours(options: ClusteringOptions, texts: Sequence[str]) -> Labels:
    pages = (Page(f"{number:08}", text=text) for number, text in enumerate(texts))  # the URL keeps them in this order
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        output = str(Path(folder, "clusters.parquet"))
        cluster_pages(pages, options, RunSettings(output=output), Recipe(scheme=SCHEME))
        table = pq.read_table(output, columns=["url", "representative"])
    labels = array("q", bytes(8 * len(texts)))
    for url, representative in zip(*(column.to_pylist() for column in table.columns), strict=True):
        labels[int(url)] = int(representative)
    return labels


def true_clusters(texts: Sequence[str]) -> dict[Linkage, Labels]:
    sets = [distinct(shingles(canonical(text, SCHEME), SCHEME.shingle, SCHEME.seed)) for text in texts]
    postings = pa.table(
        {
            "shingle": pa.array([shingle for each in sets for shingle in each], pa.uint64()),
            "page": pa.array([page for page, each in enumerate(sets) for _ in each], pa.int64()),
        }
    )
    with duckdb.connect() as con:
        con.register("postings", postings)
        alike = array("Q", [pair for (pair,) in con.execute(ALIKE).fetchall()])
    representatives, joined = PairRepresentatives(len(texts)), UnionFind(len(texts))
    representatives.add(alike)
    for pair in alike:
        joined.join(pair >> 32, pair & 0xFFFFFFFF)
    truth: dict[Linkage, Labels] = {"representatives": representatives.representatives, "components": joined.labels()}
    assert set(truth) == set(LINKAGES)
    return truth


def pair_f1(labels: Labels, truth: Labels) -> float:
    total = pairs(labels) + pairs(truth)
    return 2 * pairs(zip(labels, truth, strict=True)) / total if total else 1.0


def pairs(labels: Iterable[Hashable]) -> int:
    """Count the pairs of pages with the same label."""
    return sum(comb(size, 2) for size in Counter(labels).values())
