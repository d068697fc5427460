from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.runs.ledger import Ledger, Unchanged
from opensearch_winnow.ingest.runs.pages_before_run import PagesBeforeRun, StoredCaptures
from opensearch_winnow.ingest.sources.split import Skipped
from opensearch_winnow.mappings.record import Hashes, Record, StoredDigests


def digest(name: str) -> str:
    return name.encode().hex()


def record(url: str, content: str, text: str = "", shingles: str = "", *, shingle_count: int = 1) -> Record:
    text_digest, shingle_digest = digest(text or content), digest(shingles or text or content)
    hashes = Hashes(text_digest=text_digest, shingle_digest=shingle_digest, shingle_count=shingle_count)
    return Record(url=url, text="some text", content_digest=digest(content), hashes=hashes)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return PagesBeforeRun.listed(tmp_path, [StoredDigests.of(record("old", "old"))]).file


@pytest.fixture
def ledger(tmp_path: Path, stored: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / "run.sqlite", stored)) as opened:
        yield opened


def said(settled: Record | Unchanged | Skipped) -> str:
    """Tell what became of a page: new, a duplicate of a kind and of which URL, unchanged, or skipped."""
    if isinstance(settled, Record):
        return f"{settled.duplicate} of {settled.duplicate_of}" if settled.duplicate else "new"
    return "unchanged" if isinstance(settled, Unchanged) else settled.reason


OTHER_CONTENT = "same id as an earlier one, other content"
# Pages of a run, each as its URL and the digests of its content, text and shingles, and what becomes of it. A page with
# the URL "old" and the content "old" is stored before.
RUNS = {
    "the closest equality counts": [
        ("a 1 2 3", "new"),
        ("b 1 2 3", "content of a"),
        ("c 4 2 3", "text of a"),
        ("d 5 6 3", "shingles of a"),
        ("e 5 6 3", "content of d"),
        ("f 3 1 2", "new"),  # equal only to digests of other kinds
    ],
    "a stored page is the original of all": [
        ("a old", "content of old"),
        ("b old", "content of old"),
        ("c 1 old", "text of old"),
    ],
    "a stored page is unchanged": [("old old", "unchanged"), ("old changed", OTHER_CONTENT)],
    "replaced content is not compared": [
        ("old changed", "new"),
        ("old changed", "unchanged"),
        ("old again", OTHER_CONTENT),
        ("a old", "new"),
        ("b old", "content of a"),
        ("c changed", "content of old"),
    ],
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_what_becomes_of_pages(ledger: Ledger, run: list[tuple[str, str]]) -> None:
    for page, outcome in run:
        assert said(ledger.settle(record(*page.split()))) == outcome, page
    assert ledger.replaced == (run[0][0] == "old changed")


def test_what_a_worker_found_unchanged_is_unchanged_unless_the_run_has_replaced_it(ledger: Ledger) -> None:
    unchanged = Unchanged("old", record("old", "").id, digest("old"))
    assert ledger.settle(unchanged) == unchanged
    assert said(ledger.settle(record("old", "changed"))) == OTHER_CONTENT


def test_a_replaced_page_is_no_longer_unchanged(ledger: Ledger) -> None:
    ledger.settle(record("old", "changed"))
    unchanged = Unchanged("old", record("old", "").id, digest("old"))
    assert ledger.settle(unchanged) == Skipped("old", OTHER_CONTENT)


def test_a_page_without_words_equals_nothing(ledger: Ledger) -> None:
    for url in "ab":
        assert said(ledger.settle(record(url, "same", shingle_count=0))) == "new"


def test_workers_read_the_stored_digests(stored: Path) -> None:
    with closing(StoredCaptures(stored)) as captures:
        assert captures.content(record("old", "").id) == digest("old")
        assert captures.content(record("other", "").id) is None


def test_the_later_of_two_rows_of_a_capture_counts(tmp_path: Path) -> None:
    """A killed run leaves such rows in a folder of record files."""
    twice = [StoredDigests.of(record("a", content)) for content in ("first", "second")]
    with closing(StoredCaptures(PagesBeforeRun.listed(tmp_path, twice).file)) as captures:
        assert captures.content(record("a", "").id) == digest("second")


# Pages of a run, each with a URL and the digests of its content, text and shingles.
PAGES = st.lists(st.tuples(*[st.integers(0, 4)] * 4).map(lambda given: record(*map(str, given))), max_size=20)


@pytest.mark.check
@given(before=PAGES, run=PAGES, writes=st.sets(st.integers(0, 20)))
def test_outcomes_do_not_depend_on_when_the_run_writes(
    before: list[Record], run: list[Record], writes: set[int]
) -> None:
    with TemporaryDirectory() as folder:
        outcomes = []
        for name, times in (("at the end", set[int]()), ("meanwhile", writes)):
            Path(folder, name).mkdir()
            path = PagesBeforeRun.listed(Path(folder, name)).file
            _write(path, before)
            with closing(Ledger(Path(folder, f"run {name}"), path)) as ledger:
                settled: list[Record | Unchanged | Skipped] = []
                written = 0
                for number, each in enumerate(run):
                    settled.append(ledger.settle(each))
                    if number in times:
                        _write(path, [each for each in settled[written:] if isinstance(each, Record)])
                        written = len(settled)
                outcomes.append((settled, ledger.replaced))
        assert outcomes[0] == outcomes[1]


@given(before=PAGES, run=PAGES)
def test_a_second_run_finds_everything_unchanged(before: list[Record], run: list[Record]) -> None:
    with TemporaryDirectory() as folder:
        path = PagesBeforeRun.listed(Path(folder)).file
        _write(path, before)
        with closing(Ledger(Path(folder, "first"), path)) as ledger:
            first = [ledger.settle(each) for each in run]
        _write(path, [each for each in first if isinstance(each, Record)])
        with closing(Ledger(Path(folder, "second"), path)) as ledger:
            again = [ledger.settle(each) for each in run]
        for one, other in zip(first, again, strict=True):
            assert isinstance(other, Skipped if isinstance(one, Skipped) else Unchanged)


def _write(path: Path, records: list[Record]) -> None:
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
    odd = replace(record("old", "old"), content_digest="sha1:xyz")
    before = PagesBeforeRun.listed(tmp_path, [StoredDigests.of(odd)])
    with closing(Ledger(tmp_path / "run.sqlite", before.file)) as ledger:
        assert said(ledger.settle(replace(odd, url="new"))) == "content of old"
        assert isinstance(ledger.settle(odd), Unchanged)
