from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from opensearch_winnow.ingest.seen import Ledger, StoredCaptures, Unchanged, write_stored
from opensearch_winnow.ingest.sources.split import Skipped
from opensearch_winnow.mappings.record import Record, Stored


def record(url: str, content: str, text: str = "", shingles: str = "") -> Record:
    return Record(
        url=url,
        text="some text",
        content_digest=content,
        text_digest=text or content,
        shingle_digest=shingles or text or content,
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
    write_stored(path, [Stored.of(record("http://old/", "old"))])
    return path


@pytest.fixture
def ledger(tmp_path: Path, stored: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / "run.sqlite", stored)) as opened:
        yield opened


def mark(settled: object) -> tuple[str | None, str | None]:
    assert isinstance(settled, Record)
    return settled.duplicate, settled.duplicate_of


def test_the_closest_equality_is_the_mark(ledger: Ledger) -> None:
    assert mark(ledger.settle(record("http://a/", "1", "2", "3"))) == (None, None)
    assert mark(ledger.settle(record("http://b/", "1", "2", "3"))) == ("content", "http://a/")
    assert mark(ledger.settle(record("http://c/", "4", "2", "3"))) == ("text", "http://a/")
    assert mark(ledger.settle(record("http://d/", "5", "6", "3"))) == ("shingles", "http://a/")
    assert mark(ledger.settle(record("http://e/", "5", "6", "3"))) == ("content", "http://d/")
    assert mark(ledger.settle(record("http://f/", "3", "1", "2"))) == (None, None)  # digests of other kinds


def test_what_was_stored_before_the_run_counts(ledger: Ledger) -> None:
    assert mark(ledger.settle(record("http://new/", "old"))) == ("content", "http://old/")


def test_the_same_capture_with_the_same_content_is_unchanged(ledger: Ledger) -> None:
    assert isinstance(ledger.settle(record("http://old/", "old")), Unchanged)
    assert ledger.replaced == 0


def test_a_capture_with_another_content_than_the_stored_one_replaces_it(ledger: Ledger) -> None:
    assert mark(ledger.settle(record("http://old/", "changed"))) == (None, None)
    assert ledger.replaced == 1
    assert isinstance(ledger.settle(record("http://old/", "changed")), Unchanged)


def test_the_first_content_of_a_capture_counts_in_a_run(ledger: Ledger) -> None:
    another = Skipped("http://old/", "another content of the same capture")
    ledger.settle(record("http://old/", "changed"))
    assert ledger.settle(record("http://old/", "again")) == another
    assert ledger.settle(Unchanged("http://old/", record("http://old/", "").id, "old")) == another


def test_what_a_worker_found_unchanged_is_the_first_content(ledger: Ledger) -> None:
    unchanged = Unchanged("http://old/", record("http://old/", "").id, "old")
    assert ledger.settle(unchanged) == unchanged
    assert isinstance(ledger.settle(record("http://old/", "changed")), Skipped)


def test_workers_see_what_was_stored(stored: Path) -> None:
    with closing(StoredCaptures(stored)) as captures:
        assert captures.content(record("http://old/", "").id) == "old"
        assert captures.content(record("http://other/", "").id) is None


def test_a_page_without_words_equals_nothing(ledger: Ledger) -> None:
    for url in ("http://a/", "http://b/"):
        empty = record(url, "same")
        empty.shingle_count = 0
        assert mark(ledger.settle(empty)) == (None, None)
