"""Revisits in record files get the texts of the pages that they repeat when the files are read."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.clusters.record_scan import RecordScan
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.split import Split
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.filters import Selection
from opensearch_winnow.record_files.atomic_parquet import merge_files
from opensearch_winnow.record_files.reader import latest_rows, scheme_of
from opensearch_winnow.record_files.records import read_records, read_rows
from opensearch_winnow.stores.store_writer import StoreWriter
from tests.record_files.test_record_writer import write
from tests.stores.test_store_writer import URL, archives, open_store, page, revisit, stored_records, with_content


@pytest.mark.check
@given(data=st.data(), records=archives())
def test_files_in_any_order_have_the_texts_of_a_store(data: st.DataObject, records: list[Record]) -> None:
    order = data.draw(st.permutations(records))
    cut = data.draw(st.integers(0, len(order)))
    with TemporaryDirectory() as name:
        folder = Path(name)
        with open_store(folder) as store, StoreWriter(store) as into:
            for each in records:
                into.add(each)
        for some in (order[:cut], order[cut:]):
            write(f"{folder}/records/", *some)
        found = {each.id: each for each in read_records(folder / "records")}
        assert found == {each.id: each for each in stored_records(folder)}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Record files in which the page comes after the revisits, and in another file."""
    write(tmp_path / "two.parquet", revisit(on=2, payload="sha1:A"), revisit(f"{URL}x", on=3, of=f"{URL}x"))
    write(tmp_path / "one.parquet", page("b", f"{URL}b"), page("a", payload="sha1:A"))
    return [tmp_path / "two.parquet", tmp_path / "one.parquet"]


FILLED = with_content(revisit(on=2, payload="sha1:A"), "a")
ALL = [FILLED, revisit(f"{URL}x", on=3, of=f"{URL}x"), page("b", f"{URL}b"), page("a", payload="sha1:A")]


def test_columns_are_filled_in_for_clustering(files: list[Path]) -> None:
    scan = RecordScan.of([str(file) for file in files])
    (first, batch), (second, _) = scan.columns("id", "text_digest", "sketch", "fetched_at")
    assert (first, second, batch.schema.names) == (0, 2, ["id", "text_digest", "sketch", "fetched_at"])
    assert batch["text_digest"].to_pylist() == [FILLED.hashes.text_digest, ""]
    assert [row for _, each in scan.columns("url") for row in each["url"].to_pylist()] == [each.url for each in ALL]


def test_files_are_merged_with_texts_and_only_chosen_rows_are_read(files: list[Path], tmp_path: Path) -> None:
    merge_files(files, latest_rows(files), tmp_path / "all.parquet", scheme_of(files[0]))
    assert list(read_records(tmp_path / "all.parquet")) == ALL
    assert pq.read_table(tmp_path / "all.parquet", columns=["text"])["text"].to_pylist()[0] == FILLED.text
    assert list(read_rows(files, latest_rows(files, url=URL))) == [FILLED, page("a", payload="sha1:A")]


def test_revisits_of_record_files_that_are_indexed(files: list[Path], tmp_path: Path) -> None:
    """They are read as revisits, and the store gives them their texts."""
    items = [item for file in files for _, item in read(Split("parquet", str(file)), 1_000_000)]
    pages = [item for item in items if isinstance(item, Page)]
    assert [(each.url, each.revisit_of, each.payload_digest) for each in pages] == [
        (URL, URL, "sha1:A"),
        (f"{URL}x", f"{URL}x", None),
        (f"{URL}b", None, None),
        (URL, None, "sha1:A"),
    ]
    with Index.open(tmp_path / "crawl.winnow") as index:
        report = index.add(pages)
        assert (report.indexed, report.unfilled_revisits) == (4, 1)
        assert {each.text for each in index.store.scan(Record, Selection(url=URL))} == {FILLED.text}
