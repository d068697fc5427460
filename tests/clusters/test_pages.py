"""Pages in memory, and the pages of a store, have the clusters of their records in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

from opensearch_winnow import Index, Page, Scheme
from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
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


def without_time(result: ClusteringResult) -> ClusteringResult:
    return replace(result, seconds=0)


@pytest.mark.parametrize("recipe", [Recipe(), Recipe(scheme=SCHEMES[1], title=True), Recipe(scheme=Scheme(key="k"))])
@pytest.mark.parametrize("linkage", ["representatives", "components"])
def test_pages_have_the_clusters_of_their_records(tmp_path: Path, recipe: Recipe, linkage: str) -> None:
    """The tables are equal to the last byte."""
    pages = some_pages(7)
    options = ClusteringOptions(threshold=0.3, linkage=linkage)  # type: ignore[arg-type]
    records = write_records(tmp_path / "records.parquet", records_of(pages, recipe), recipe.scheme)
    by_records, by_pages = tmp_path / "records", tmp_path / "pages"
    settings = settings_in(by_records)
    expected = cluster_records([records], options, replace(settings, key=recipe.scheme.key))
    found = cluster_pages(iter(pages), options, settings_in(by_pages), recipe)
    assert without_time(found) == without_time(expected)
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
    assert without_time(cluster_pages(pages, settings=full)) == without_time(cluster_pages(pages, settings=alone))
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
    options = ClusteringOptions(threshold=0.3)
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add(some_pages(10))
        export_records(index.store, tmp_path / "records.parquet")
        found = index.cluster(output=str(tmp_path / "store.parquet"), threshold=0.3)
    cluster_records([str(tmp_path / "records.parquet")], options, RunSettings(output=str(tmp_path / "file.parquet")))
    assert found.clusters
    assert (tmp_path / "store.parquet").read_bytes() == (tmp_path / "file.parquet").read_bytes()


def test_no_pages(tmp_path: Path) -> None:
    found = cluster_pages([], settings=RunSettings(output=str(tmp_path / "clusters.parquet")))
    assert (found.pages, found.clusters) == (0, 0)


def test_an_error_of_the_pages_is_raised_as_it_is(tmp_path: Path) -> None:
    def pages() -> object:
        yield Page("https://example.org/", text="words")
        raise OSError("No space left on the tape")

    with pytest.raises(OSError, match="the tape"):
        cluster_pages(pages(), settings=RunSettings(work=str(tmp_path)))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_spark_takes_record_files() -> None:
    with pytest.raises(ClusterError, match="for Spark, make record files first"):
        cluster_pages([], settings=RunSettings(engine="spark"))


def test_an_output_that_exists_is_refused_before_pages_are_read(tmp_path: Path) -> None:
    output = tmp_path / "clusters.parquet"
    output.write_bytes(b"mine")
    unread = iter([Page("https://a.example/", text="A page.")])
    with pytest.raises(FileError, match="exists; name another"):
        cluster_pages(unread, settings=RunSettings(output=str(output)))
    assert output.read_bytes() == b"mine"
    assert len(list(unread)) == 1
