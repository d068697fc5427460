from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.runs.ledger import Ledger, StoredCaptures, Unchanged, write_stored
from opensearch_winnow.ingest.sources.split import Skipped
from opensearch_winnow.mappings.record import Record, StoredDigests


def digest(name: str) -> str:
    return name.encode().hex()


def record(url: str, content: str, text: str = "", shingles: str = "") -> Record:
    return Record(
        url=url,
        text="some text",
        content_digest=digest(content),
        text_digest=digest(text or content),
        shingle_digest=digest(shingles or text or content),
        fingerprints=array("Q"),
        positions=array("I"),
        shingle_count=1,
        sketch=array("Q"),
        minhash=b"",
        bands=array("Q"),
    )


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "stored.sqlite"
    write_stored(path, [StoredDigests.of(record("http://old/", "old"))])
    return path


@pytest.fixture
def ledger(tmp_path: Path, stored: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / "run.sqlite", stored)) as opened:
        yield opened


def mark(settled: object) -> tuple[str | None, str | None]:
    assert isinstance(settled, Record)
    return settled.duplicate, settled.duplicate_of


def test_a_duplicate_is_marked_by_its_closest_equality(ledger: Ledger) -> None:
    assert mark(ledger.settle(record("http://a/", "1", "2", "3"))) == (None, None)
    assert mark(ledger.settle(record("http://b/", "1", "2", "3"))) == ("content", "http://a/")
    assert mark(ledger.settle(record("http://c/", "4", "2", "3"))) == ("text", "http://a/")
    assert mark(ledger.settle(record("http://d/", "5", "6", "3"))) == ("shingles", "http://a/")
    assert mark(ledger.settle(record("http://e/", "5", "6", "3"))) == ("content", "http://d/")
    assert mark(ledger.settle(record("http://f/", "3", "1", "2"))) == (
        None,
        None,
    )  # equal only to digests of other kinds


def test_pages_stored_before_the_run_are_compared(ledger: Ledger) -> None:
    assert mark(ledger.settle(record("http://new/", "old"))) == ("content", "http://old/")


def test_the_same_capture_with_the_same_content_is_unchanged(ledger: Ledger) -> None:
    assert isinstance(ledger.settle(record("http://old/", "old")), Unchanged)
    assert ledger.replaced == 0


def test_a_capture_with_new_content_replaces_the_stored_one(ledger: Ledger) -> None:
    assert mark(ledger.settle(record("http://old/", "changed"))) == (None, None)
    assert ledger.replaced == 1
    assert isinstance(ledger.settle(record("http://old/", "changed")), Unchanged)


def test_the_first_content_of_a_capture_in_a_run_is_kept(ledger: Ledger) -> None:
    another = Skipped("http://old/", "same id as an earlier one, other content")
    ledger.settle(record("http://old/", "changed"))
    assert ledger.settle(record("http://old/", "again")) == another
    assert ledger.settle(Unchanged("http://old/", record("http://old/", "").id, digest("old"))) == another


def test_an_unchanged_capture_is_the_first_content_of_the_run(ledger: Ledger) -> None:
    unchanged = Unchanged("http://old/", record("http://old/", "").id, digest("old"))
    assert ledger.settle(unchanged) == unchanged
    assert isinstance(ledger.settle(record("http://old/", "changed")), Skipped)


def test_workers_read_the_stored_digests(stored: Path) -> None:
    with closing(StoredCaptures(stored)) as captures:
        assert captures.content(record("http://old/", "").id) == digest("old")
        assert captures.content(record("http://other/", "").id) is None


def test_a_page_without_words_equals_nothing(ledger: Ledger) -> None:
    for url in ("http://a/", "http://b/"):
        empty = record(url, "same")
        empty.shingle_count = 0
        assert mark(ledger.settle(empty)) == (None, None)


def test_a_stored_page_is_the_original_of_all_its_duplicates_in_the_run(ledger: Ledger) -> None:
    for url in ("http://a/", "http://b/"):
        assert mark(ledger.settle(record(url, "old"))) == ("content", "http://old/")
    assert mark(ledger.settle(record("http://c/", "new", "old"))) == ("text", "http://old/")


def test_replaced_content_is_no_longer_compared(ledger: Ledger) -> None:
    ledger.settle(record("http://old/", "changed"))
    assert mark(ledger.settle(record("http://a/", "old"))) == (None, None)
    assert mark(ledger.settle(record("http://b/", "old"))) == ("content", "http://a/")
    assert mark(ledger.settle(record("http://c/", "changed"))) == ("content", "http://old/")


def test_the_later_of_two_rows_of_a_capture_counts(tmp_path: Path) -> None:
    """A killed run leaves such rows in a folder of record files."""
    write_stored(tmp_path / "s", [StoredDigests.of(record("http://a/", content)) for content in ("first", "second")])
    with closing(StoredCaptures(tmp_path / "s")) as captures:
        assert captures.content(record("http://a/", "").id) == digest("second")


# Pages of a run, each with a URL and the digests of its content, text and shingles.
PAGES = st.lists(st.tuples(*[st.integers(0, 4)] * 4).map(lambda given: record(*map(str, given))), max_size=20)


@pytest.mark.check
@given(before=PAGES, run=PAGES, writes=st.sets(st.integers(0, 20)))
def test_outcomes_do_not_depend_on_when_the_run_writes(
    before: list[Record], run: list[Record], writes: set[int]
) -> None:
    """The outcomes are the same whether the run writes to the store as it goes or only at the end."""
    with TemporaryDirectory() as folder:
        outcomes = []
        for name, times in (("at the end", set[int]()), ("meanwhile", writes)):
            path = Path(folder, name)
            write_stored(path, [])
            _write(path, before)
            with closing(Ledger(Path(folder, f"run {name}"), path)) as ledger:
                settled: list[Record | Unchanged | Skipped] = []
                waiting: list[Record] = []
                for number, each in enumerate(run):
                    settled.append(ledger.settle(each))
                    waiting += [last] if isinstance(last := settled[-1], Record) else []
                    if number in times:
                        _write(path, waiting)
                        waiting = []
                outcomes.append((settled, ledger.replaced))
        assert outcomes[0] == outcomes[1]


@given(before=PAGES, run=PAGES)
def test_a_second_run_finds_everything_unchanged(before: list[Record], run: list[Record]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "stored")
        write_stored(path, [])
        _write(path, before)
        with closing(Ledger(Path(folder, "first"), path)) as ledger:
            first = [ledger.settle(each) for each in run]
        _write(path, [each for each in first if isinstance(each, Record)])
        with closing(Ledger(Path(folder, "second"), path)) as ledger:
            again = [ledger.settle(each) for each in run]
        for one, other in zip(first, again, strict=True):
            assert isinstance(other, Skipped if isinstance(one, Skipped) else Unchanged)


def _write(path: Path, records: list[Record]) -> None:
    """Write records as a store does."""
    with closing(sqlite3.connect(path)) as file:
        for each in records:
            id_, *digests = (bytes.fromhex(value) for value in (each.id, *StoredDigests.of(each)[2:]))
            file.execute("DELETE FROM page WHERE id = ?", (id_,))
            file.execute("INSERT INTO page VALUES (NULL, ?, ?, ?, ?, ?)", (id_, each.url, *digests))
        file.commit()


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "garbage").write_bytes(b"garbage" * 1000)
    with pytest.raises(WinnowError, match="garbage"), closing(StoredCaptures(tmp_path / "garbage")) as captures:
        captures.content("00")


def test_digests_may_have_any_format(tmp_path: Path) -> None:
    odd = replace(record("http://old/", "old"), content_digest="sha1:xyz")
    write_stored(tmp_path / "stored", [StoredDigests.of(odd)])
    with closing(Ledger(tmp_path / "run.sqlite", tmp_path / "stored")) as ledger:
        assert mark(ledger.settle(replace(odd, url="http://new/"))) == ("content", "http://old/")
        assert isinstance(ledger.settle(odd), Unchanged)
