"""Clusters of thousands of real pages, compared with the clusters that brute force makes of all exact scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opensearch_winnow.clusters.options import ENGINES, ClusteringOptions, Linkage, RunSettings
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.stores.exported_records import export_records
from tests.cython_core.reference import pair_representatives
from tests.quality.corpora import PUBLIC
from tests.quality.measured import THRESHOLD, CorpusStore, Quality
from tests.spark_settings import SMALL

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("near-duplicates")]

UNKNOWN = datetime.max.replace(tzinfo=UTC)  # sorts pages without a time last
# Lowest F1 of pairs in one cluster. Measured: .9998, and 1 for components; .997 with bands as the only candidates.
F1 = 0.999


def brute_force(corpus_store: CorpusStore, linkage: Linkage) -> dict[str, str]:
    """Return the representative of each page: the page fetched first, or of several, the one with the shortest URL."""
    fetched = {card.url: card.fetched_at or UNKNOWN for card in corpus_store.index.store.scan(Card)}
    urls = sorted(corpus_store.urls, key=lambda url: (fetched[url], len(url), url))
    place = {url: number for number, url in enumerate(urls)}
    pairs_alike = [pair for pair, score in corpus_store.truth.resemblances.items() if score >= THRESHOLD]
    alike = [(place[a], place[b]) for a, b in pairs_alike if place[a] < place[b]]
    if linkage == "representatives":
        representatives: Iterable[int] = pair_representatives(len(urls), alike)
    else:
        joined = UnionFind(len(urls))
        for a, b in alike:
            joined.join(a, b)
        representatives = joined.labels()
    return {url: urls[representative] for url, representative in zip(urls, representatives, strict=True)}


def pairs(representatives: dict[str, str]) -> set[tuple[str, str]]:
    """Return all pairs of pages that are in one cluster."""
    members = defaultdict(list)
    for url, representative in sorted(representatives.items()):
        members[representative].append(url)
    return {pair for each in members.values() for pair in combinations(each, 2)}


@pytest.mark.parametrize("fast", [False, True], ids=["sketches", "fast"])
@pytest.mark.parametrize("linkage", ["representatives", "components"])
def test_clusters(corpus_store: CorpusStore, linkage: Linkage, fast: bool, tmp_path: Path) -> None:
    output = tmp_path / "clusters.parquet"
    corpus_store.index.cluster(threshold=THRESHOLD, linkage=linkage, fast=fast, write_back=False, output=str(output))
    table = pq.read_table(output)
    assert sorted(table["url"].to_pylist()) == sorted(corpus_store.urls)
    found = pairs(dict(zip(table["url"].to_pylist(), table["representative"].to_pylist(), strict=True)))
    wanted = pairs(brute_force(corpus_store, linkage))
    quality = Quality(len(found & wanted) / len(wanted), len(found & wanted) / len(found))
    assert quality.f1 >= (corpus_store.corpus.fast_clusters if fast else F1), quality


@pytest.mark.soak  # tests/clusters/spark compares the engines on small sets
@pytest.mark.parametrize("corpus", [pytest.param(PUBLIC, id="public")], indirect=True)
def test_spark_makes_the_same_tables(corpus_store: CorpusStore, tmp_path: Path) -> None:
    records = tmp_path / "records.parquet"
    export_records(corpus_store.index.store, records)
    made = {}
    for engine in ENGINES:
        places = [str(tmp_path / f"{engine}-{name}") for name in ("clusters", "edges")]
        settings = RunSettings(engine=engine, output=places[0], evidence=places[1], spark=SMALL)
        cluster_records([str(records)], ClusteringOptions(threshold=THRESHOLD), settings)
        made[engine] = [sorted_bytes(pq.read_table(place)) for place in places]
    assert made["spark"] == made["duckdb"]


def sorted_bytes(table: pa.Table) -> bytes:
    """Return the table's values as bytes, in an order that does not depend on how the table was written."""
    rows = table.sort_by([(name, "ascending") for name in table.column_names]).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema.remove_metadata()) as stream:
        stream.write_table(rows.replace_schema_metadata())
    return bytes(sink.getvalue())
