"""What any version has written is read by every later one, with the same answers.

tests/formats has a sample of each version of each format: stores in one file, indices on OpenSearch, record files, and
states of clusterings. All have the same pages, and answers.json has what they answer. A sample is never written again.
When a format gets a new version, add its sample with: python -m tests.test_formats
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.clusters import state
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings import opensearch_mapping, record_metadata, sqlite_schema
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.records import read_records
from opensearch_winnow.stores.engine.running import Running
from tests.test_golden import TEXTS, digest

SAMPLES = Path(__file__).parent / "formats"
MAX_SAMPLE_BYTES = 30_000  # they stay in the repository for ever
LATIN = " ".join(TEXTS[name] for name in ("English", "German", "French", "Turkish", "Vietnamese"))
OTHERS = " ".join(TEXTS[name] for name in ("Greek", "Hebrew", "Hindi", "Thai", "Chinese", "Japanese"))
MILL, NOTICE = "http://mill.example/", "Whoever copies this text shall name its source and the day it was copied."
DAY = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
SOURCE = ArchiveLocation("mill.warc.gz", 300, 2_000, "response", 200, "text/html")
PAGES = [
    Page(MILL, text=LATIN, title="The mill", fetched_at=DAY, source=SOURCE, canonical=MILL),
    Page(MILL, text=f"{LATIN} {TEXTS['Russian']}", title="The mill, again", fetched_at=DAY.replace(month=6)),
    Page("http://mirror.example/mühle?q=%20", html=f"<title>Mühle</title><p>{LATIN}<p>{NOTICE}", canonical=MILL),
    Page("http://others.example/", text=f"{OTHERS} {NOTICE}", title="風 ‎\U0001f33e"),
    Page("http://others.example/same", text=OTHERS.upper()),
    Page("http://short.example/", text="too short", fetched_at=DAY),
]
CANONICAL = [(MILL, MILL), (PAGES[2].url, MILL)]
SEARCHES = ("wind", "風", "Straße", '"le blé"', "crops OR hạt")
OPTIONS = ClusteringOptions(threshold=0.5)
HASHES = ("fingerprints", "positions", "sketch", "minhash", "bands")
KEPT_SETTINGS = ("default_pipeline", "analysis", "hidden")  # of an index


def versions(pattern: str) -> dict[int, Path]:
    """Return the samples of a format by version: the number at the end of the first part of a name."""
    return {int(path.name.partition(".")[0].rpartition("-")[2]): path for path in SAMPLES.glob(pattern)}


STORES, INDICES = versions("store-*.winnow.gz"), versions("index-*.json.gz")
RECORDS, STATES = versions("records-*.parquet"), versions("state-*")


@pytest.fixture(scope="module")
def answers() -> Any:
    return json.loads((SAMPLES / "answers.json").read_text(encoding="utf-8"))


def portraits(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return everything that is kept of a page, with digests in place of hashes."""
    return [
        {
            **{name: getattr(each, name) for name in ("id", "url", "crawl", "title")},
            "fetched_at": each.fetched_at and each.fetched_at.isoformat(),
            "text": digest(each.text.encode()),
            "digests": [each.content_digest, each.hashes.text_digest, each.hashes.shingle_digest],
            "duplicate": [each.duplicate, each.duplicate_of],
            "counts": [each.hashes.fingerprint_count, each.hashes.shingle_count, each.hashes.sketch_count],
            "hashes": digest(b"".join(bytes(getattr(each.hashes, name)) for name in HASHES)),
        }
        for each in sorted(records, key=lambda record: record.id)
    ]


def answers_of(index: Index) -> dict[str, Any]:
    """Return what a store answers. Scores are rounded, because engines compute with single precision."""
    matches = index.similar(url=MILL, min_resemblance=0.2).matches
    return {
        "scheme": index.scheme.id,
        "records": portraits(index.store.scan(Record)),
        "similar": [[each.url, round(each.resemblance, 4), len(each.passages)] for each in matches],
        "search": {words: [hit.url for hit in index.search(words).hits] for words in SEARCHES},
        "boilerplate": [[each.name, each.text] for each in index.boilerplate()],
    }


def canonical_urls(records: Iterable[Record]) -> list[tuple[str, str]]:
    return sorted((each.url, each.canonical) for each in records if each.canonical is not None)


def fill(store: str | Path) -> None:
    with Index.open(store) as index:
        index.add(PAGES, crawl="samples")
        index.add_boilerplate("notice", NOTICE)


def unpack(sample: Path, folder: Path) -> Path:
    path = folder / sample.stem
    path.write_bytes(gzip.decompress(sample.read_bytes()))
    return path


def add_new_page(index: Index) -> None:
    """Add a page with fields that the sample may not have had."""
    index.add([Page("http://new.example/", text=LATIN, source=SOURCE, canonical=MILL)])
    assert "http://new.example/" in {each.url for each in index.similar(url=MILL).matches}
    assert index.page("http://new.example/").source == SOURCE
    assert index.page("http://new.example/").canonical == MILL


def test_every_version_has_a_sample() -> None:
    assert sorted(STORES) == list(range(1, 1 + sqlite_schema.current_format()))
    assert opensearch_mapping.FORMAT in INDICES
    assert sorted(RECORDS) == list(range(1, 1 + record_metadata.FORMAT))
    assert state.FORMAT in STATES
    sizes = {path: path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()}
    assert max(sizes.values()) <= MAX_SAMPLE_BYTES, sizes


@pytest.mark.parametrize("version", STORES)
def test_a_store_in_one_file(version: int, tmp_path: Path, answers: Any) -> None:
    path = unpack(STORES[version], tmp_path)
    with Index.open(path, create=False) as index:
        assert answers_of(index) == answers
        assert index.add(PAGES, crawl="samples").unchanged == len(PAGES)
        assert index.page(MILL, DAY).source == SOURCE
        assert canonical_urls(index.store.scan(Record)) == CANONICAL
        add_new_page(index)
    path.chmod(0o444)
    with Index.open(path, create=False) as index:
        assert index.store.count() == len(PAGES) + 1


@pytest.mark.parametrize("version", RECORDS)
def test_record_files(version: int, answers: Any) -> None:
    records = list(read_records(RECORDS[version]))
    assert portraits(records) == answers["records"]
    (mill,) = (each for each in records if (each.url, each.fetched_at) == (MILL, DAY))
    assert mill.source == SOURCE
    assert canonical_urls(records) == CANONICAL


def clustered(output: Path, options: ClusteringOptions, state: Path | None = None) -> list[Any]:
    """Return the rows that a clustering of the oldest record file writes."""
    cluster_records([str(RECORDS[1])], options, RunSettings(output=str(output), state=str(state) if state else None))
    rows: list[Any] = pq.read_table(output).sort_by("capture").to_pylist()
    return rows


@pytest.mark.parametrize("version", STATES)
def test_the_state_of_a_clustering(version: int, tmp_path: Path) -> None:
    kept = shutil.copytree(STATES[version], tmp_path / "state")
    with_state = clustered(tmp_path / "with.parquet", OPTIONS, kept)
    assert with_state == clustered(tmp_path / "without.parquet", OPTIONS)


@pytest.mark.check
@pytest.mark.parametrize("version", INDICES)
def test_an_index_on_opensearch(version: int, engine: Running, answers: Any) -> None:
    name = f"format-{version}-{os.getpid()}"
    sample = gzip.decompress(INDICES[version].read_bytes()).decode()
    with OpenSearch(engine.url, timeout=60) as client:
        fill(f"{engine.url}/{name}-model")  # an engine where winnow is used has its pipelines and scripts
        for index, content in json.loads(sample.replace("NAME", name)).items():
            documents = content.pop("documents")
            client.indices.create(index=index, body=content)
            for id_, document in documents.items():
                client.index(index=index, id=id_, body=document, refresh=True, pipeline="_none")
        try:
            with Index.open(f"{engine.url}/{name}", create=False) as index:
                assert answers_of(index) == answers
                for rule in ("best", "canonical"):  # the engine reads fields that this index may not have
                    assert index.search("wind", group=True, representative=rule).total > 1
                add_new_page(index)
        finally:
            client.indices.delete(index=f"{name}*", params={"expand_wildcards": "all"})


def main() -> None:
    """Write the samples that are missing. The index needs a running engine, whose address is in WINNOW_ENGINE."""
    SAMPLES.mkdir(exist_ok=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "store.winnow")
        with Index.open(folder / "store.winnow") as index:
            text = json.dumps(answers_of(index), indent=1, ensure_ascii=True)
            (SAMPLES / "answers.json").write_text(f"{text}\n", encoding="utf-8")
        target = SAMPLES / f"store-{sqlite_schema.current_format()}.winnow.gz"
        if not target.exists():
            target.write_bytes(gzip.compress((folder / "store.winnow").read_bytes(), mtime=0))
        target = SAMPLES / f"records-{record_metadata.FORMAT}.parquet"
        if not target.exists():
            from opensearch_winnow.stores.exported_records import export_records  # noqa: PLC0415

            with Index.open(folder / "store.winnow") as index:
                export_records(index.store, target)
        if state.FORMAT not in STATES:
            where = str(SAMPLES / f"state-{state.FORMAT}")
            cluster_records([str(target)], OPTIONS, RunSettings(output=str(folder / "clusters.parquet"), state=where))
    if opensearch_mapping.FORMAT not in INDICES:
        _write_index(os.environ["WINNOW_ENGINE"])


def _write_index(engine: str) -> None:
    fill(f"{engine}/sample")
    sample: dict[str, Any] = {}
    everything = {"expand_wildcards": "all"}
    with OpenSearch(engine, timeout=60) as client:
        client.indices.refresh(index="sample*", params=everything)
        for index, content in client.indices.get(index="sample*", params=everything).items():
            settings = content["settings"]["index"]
            found = client.search(index=index, body={"size": 100, "query": {"match_all": {}}})["hits"]["hits"]
            sample[index.replace("sample", "NAME")] = {
                "settings": {"index": {key: settings[key] for key in KEPT_SETTINGS if key in settings}},
                "mappings": content["mappings"],
                "aliases": {name.replace("sample", "NAME"): {} for name in content["aliases"]},
                "documents": {hit["_id"]: hit["_source"] for hit in found},
            }
        client.indices.delete(index="sample*", params=everything)
    packed = gzip.compress(json.dumps(sample, sort_keys=True).encode(), mtime=0)
    (SAMPLES / f"index-{opensearch_mapping.FORMAT}.json.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
