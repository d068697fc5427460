"""Pages in memory, and the pages of a store, have the clusters of their records in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

from opensearch_winnow import Index, Page, Scheme
from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.run import cluster_pages, cluster_records
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.exported_records import export_records
from tests.clusters.conftest import NAMES, SCHEMES, START, TABLES, texts, write_records

HTML = "<html><head><title>A title</title></head><body><p>{}</p></body></html>"


def some_pages(seed: int, count: int = 120) -> list[Page]:
    """Return pages as text and as HTML, of known and unknown times, some captures twice, some of them unreadable."""
    random = Random(seed)
    pages = []
    for text in texts(random, count):
        text = random.choice([text, f" {text}\n", text.replace("w1", "é"), f"{text} \ud800", text])
        url = f"https://{random.choice(NAMES)}.example/{random.choice(NAMES)}{random.choice(['', chr(0xD800)])}"
        seconds = random.choice([None, 0, 1, random.randrange(1_000)])
        time = None if seconds is None else START + timedelta(seconds=seconds)
        title = random.choice([None, "Ein »Titel«"])
        kind = random.randrange(10)
        if kind < 6:
            pages.append(Page(url, text=text, fetched_at=time, title=title))
        elif kind < 8:
            pages.append(Page(url, html=HTML.format(text), fetched_at=time, title=title))
        elif kind == 8:
            pages.append(Page(url, html=b"cut off", codings=("gzip",), fetched_at=time, content_type="text/plain"))
        else:
            pages.append(Page(url, revisit_of="https://a.example/", fetched_at=time))
    return pages


def records_of(pages: Sequence[Page], recipe: Recipe) -> list[Record]:
    maker = RecordMaker(recipe)
    return [record for page in pages if isinstance(record := maker.make(page), Record)]


def settings_in(folder: Path) -> RunSettings:
    folder.mkdir()
    output, evidence, changes = (str(folder / f"{name}.parquet") for name in TABLES)
    return RunSettings(output=output, evidence=evidence, changes=changes)


@pytest.mark.parametrize("recipe", [Recipe(), Recipe(scheme=SCHEMES[1], title=True), Recipe(scheme=Scheme(key="k"))])
@pytest.mark.parametrize("linkage", ["representatives", "components"])
def test_pages_have_the_clusters_of_their_records(tmp_path: Path, recipe: Recipe, linkage: str) -> None:
    pages = some_pages(7)
    options = ClusteringOptions(threshold=0.3, linkage=linkage)  # type: ignore[arg-type]
    records = write_records(tmp_path / "records.parquet", records_of(pages, recipe), recipe.scheme)
    by_records, by_pages = tmp_path / "records", tmp_path / "pages"
    settings = settings_in(by_records)
    expected = cluster_records([records], options, replace(settings, key=recipe.scheme.key))
    found = cluster_pages(iter(pages), options, settings_in(by_pages), recipe)
    assert replace(found, seconds=0) == replace(expected, seconds=0)
    assert 10 < found.pages < len(pages)
    assert found.clusters
    assert found.candidates.exact
    for name in TABLES:
        assert (by_pages / f"{name}.parquet").read_bytes() == (by_records / f"{name}.parquet").read_bytes()


def test_tables_that_are_not_asked_for_change_nothing(tmp_path: Path) -> None:
    """Without evidence, digests are made only where they decide which pages are equal."""
    pages = some_pages(8)
    full = settings_in(tmp_path / "full")
    alone = RunSettings(output=str(tmp_path / "alone.parquet"), threads=1)
    one, other = (replace(cluster_pages(pages, settings=each), seconds=0) for each in (full, alone))
    assert one == other
    assert pq.read_table(str(full.output)).equals(pq.read_table(str(alone.output)))


def test_a_state_serves_pages_and_records(tmp_path: Path) -> None:
    pages = [page for page in some_pages(9) if page.fetched_at]
    state = str(tmp_path / "state")
    cluster_pages(pages[: len(pages) // 2], settings=RunSettings(state=state))
    records = write_records(tmp_path / "records.parquet", records_of(pages, Recipe()))
    grown = cluster_records([records], ClusteringOptions(), RunSettings(state=state, output=str(tmp_path / "grown")))
    whole = cluster_pages(pages, settings=RunSettings(output=str(tmp_path / "whole")))
    assert grown.fresh is not None
    assert grown.fresh < grown.contents == whole.contents
    assert pq.read_table(tmp_path / "grown").equals(pq.read_table(tmp_path / "whole"))


def test_a_store_has_the_clusters_of_its_records(tmp_path: Path) -> None:
    records, by_store, by_file = (tmp_path / f"{name}.parquet" for name in ("records", "store", "file"))
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add(some_pages(10))
        export_records(index.store, records)
        assert index.cluster(output=str(by_store), threshold=0.3).clusters
    cluster_records([str(records)], ClusteringOptions(threshold=0.3), RunSettings(output=str(by_file)))
    assert by_store.read_bytes() == by_file.read_bytes()


def test_no_pages_and_no_record_files_for_spark(tmp_path: Path) -> None:
    found = cluster_pages([], settings=RunSettings(output=str(tmp_path / "clusters.parquet")))
    assert (found.pages, found.clusters) == (0, 0)
    with pytest.raises(ClusterError, match="for Spark, make record files first"):
        cluster_pages([], settings=RunSettings(engine="spark"))


def test_errors_of_the_pages_and_of_the_output(tmp_path: Path) -> None:
    def pages() -> Iterator[Page]:
        yield Page("https://example.org/", text="words")
        raise OSError("No space left on the tape")

    with pytest.raises(OSError, match="the tape"):
        cluster_pages(pages(), settings=RunSettings(work=str(tmp_path)))
    assert not list(tmp_path.iterdir())
    output = tmp_path / "clusters.parquet"
    output.write_bytes(b"mine")
    unread = iter([Page("https://a.example/", text="A page.")])
    with pytest.raises(FileError, match="exists; name another"):
        cluster_pages(unread, settings=RunSettings(output=str(output)))
    assert output.read_bytes() == b"mine"
    assert len(list(unread)) == 1
