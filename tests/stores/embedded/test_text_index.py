"""The text index compared with a search that reads every page."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from opensearch_winnow.mappings.sqlite_schema import WORD_TABLES
from opensearch_winnow.queries.words import Term, Words
from opensearch_winnow.stores.embedded import text_index
from opensearch_winnow.stores.embedded.seals import sealed, unsealed
from opensearch_winnow.stores.embedded.search import find
from opensearch_winnow.stores.embedded.text_index import TextIndex
from tests.stores.embedded.naive_search import NaiveSearch, Page

WORDS = ["a", "A", "ab", "abc", "b", "ba", "été", "日", "本", "x-y", "z"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
PAGES = st.lists(st.tuples(st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join), TEXTS), min_size=1, max_size=4)
# Steps: add pages; delete some of those in the index, by their places; drop the postings of deleted pages.
STEPS = st.lists(PAGES | st.sets(st.integers(0, 30), max_size=3) | st.none(), max_size=12)
TERMS = st.builds(Term, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), st.booleans())
ALTERNATIVES = st.lists(TERMS, min_size=1, max_size=3).map(tuple)
QUESTIONS = st.builds(
    Words, st.lists(ALTERNATIVES, min_size=1, max_size=3).map(tuple), st.lists(TERMS, max_size=1).map(tuple)
)


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits, so that a few pages make many segments that are often merged."""
    for name, value in (("MERGE_FACTOR", 2), ("FIRST_TIER_WORDS", 30), ("BLOCKS_IN_MEMORY", 1)):
        monkeypatch.setattr(text_index, name, value)


@contextmanager
def tables() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as rows:
        rows.executescript("CREATE TABLE page (number INTEGER PRIMARY KEY, latest);" + WORD_TABLES)
        yield rows


class Filled:
    def __init__(self, rows: sqlite3.Connection) -> None:
        self.rows = rows
        self.index = TextIndex(rows)
        self.pages: dict[int, Page] = {}
        self.gone = array("I")
        self.next = 1

    def add(self, pages: list[Page]) -> None:
        numbers = range(self.next, self.next + len(pages))
        self.index.add(numbers, *(list(each) for each in zip(*pages, strict=True)))
        self.pages.update(zip(numbers, pages, strict=True))
        self.next = numbers.stop + len(pages) % 2  # page numbers may have gaps

    def remove(self, places: set[int]) -> None:
        there = list(self.pages)
        numbers = [there[place] for place in places if place < len(there)]
        self.index.forget(numbers)
        self.gone = array("I", sorted([*self.gone, *numbers]))
        for number in numbers:
            del self.pages[number]

    def drop(self) -> None:
        self.index.drop(self.gone)
        self.gone = array("I")

    def found(self, words: Words) -> dict[int, float]:
        numbers, scores = find(self.rows, words, self.gone)
        assert list(numbers) == sorted(numbers)
        return dict(zip(numbers, scores, strict=True))

    def check(self, *questions: Words) -> None:
        naive = NaiveSearch(self.pages)
        for words in questions:
            assert self.found(words) == pytest.approx(naive.find(words), rel=1e-5)


@pytest.mark.check
@settings(max_examples=300)
@given(STEPS, st.lists(QUESTIONS, min_size=1, max_size=4))
def test_any_writes_give_the_answers_of_a_look_at_every_page(
    steps: list[list[Page] | set[int] | None], questions: list[Words]
) -> None:
    with tables() as rows:
        filled = Filled(rows)
        for step in steps:
            if step is None:
                filled.drop()
            elif isinstance(step, set):
                filled.remove(step)
            else:
                filled.add(step)
            filled.check(questions[0])
        filled.check(*questions)


def prose(source: Random, words: int) -> str:
    """Return a text of common words, each half as common as the one before, and many that are nearly unique."""
    return " ".join(
        f"c{int(source.expovariate(0.7))}" if source.random() < 0.7 else f"rare{source.randrange(9_000)}"
        for _ in range(words)
    )


@pytest.mark.check
@pytest.mark.parametrize("joined", [2, 8])
def test_many_blocks(joined: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "MERGE_FACTOR", joined)
    monkeypatch.setattr(text_index, "FIRST_TIER_WORDS", 1_000)
    source = Random(1)
    typed = ["c0", "c1 c5", "c3 OR c9", '"c0 c1"', '"c1 c0 c0" -c7', "rare1*", "rare12* c2", '"c0 rare7*" OR c11']
    typed += ["rare* -c0", *(f"rare{number}" for number in range(0, 9_000, 700))]
    questions = [Words.of(each) for each in typed]
    with tables() as rows:
        filled = Filled(rows)
        for _ in range(20):
            pages = range(source.randrange(1, 9))
            filled.add([(prose(source, 3), prose(source, source.randrange(400))) for _ in pages])
        assert rows.execute("SELECT count(*) FROM word_block GROUP BY run ORDER BY 1 DESC").fetchone()[0] > 3
        filled.check(*questions)
        filled.remove(set(source.sample(range(len(filled.pages)), 25)))
        filled.check(*questions)
        before = size(rows)
        filled.drop()
        assert size(rows) < before
        filled.check(*questions)
        filled.remove(set(range(len(filled.pages))))
        filled.drop()
        assert size(rows) == 0
        filled.check(*questions)
        filled.add([("c0", "c0 c1")])
        filled.check(*questions)


def size(rows: sqlite3.Connection, of: str = "coalesce(sum(length(words) + length(positions)), 0)") -> int:
    return int(rows.execute(f"SELECT {of} FROM word_block").fetchone()[0])


def test_segments_are_few_and_their_blocks_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    source = Random(2)
    with tables() as rows:
        filled = Filled(rows)
        for _ in range(300):
            filled.add([("", prose(source, 300))])
        segments = filled.index.segments()
        tiers = [segment.tier for segment in segments]
        assert len(tiers) <= 3 * text_index.MERGE_FACTOR
        assert tiers == sorted(tiers, reverse=True)
        average = f"avg(length(words) + length(positions)) FILTER (WHERE run = {segments[0].number})"
        assert size(rows, average) > 7_000
        filled.check(Words.of("c0"), Words.of('"c0 c1"'))


def test_an_empty_index_and_empty_pages() -> None:
    with tables() as rows:
        filled = Filled(rows)
        for pages in ([], [("", ""), ("...", "—")], [("", "a b")]):
            if pages:
                filled.add(pages)
            filled.check(*map(Words.of, ("a", "a*", '"a b"', "...")))


COLUMNS = {
    "word_block": ("words", "positions", "first", "run"),
    "word_run": ("titles", "texts", "first", "last", "run", "words"),
    "word_lengths": ("title", "text"),
}


@pytest.mark.check
@settings(max_examples=300)
@given(
    st.sampled_from([(table, column) for table, columns in COLUMNS.items() for column in columns]),
    st.integers(0, 2**32),
    st.binary(min_size=1, max_size=6),
    st.booleans(),
)
def test_damage_is_an_error_of_the_database(where: tuple[str, str], place: int, wrong: bytes, cut: bool) -> None:
    """Whichever bytes or numbers are wrong, there is an answer or SQLite's error: no other exception, and no crash."""
    table, column = where
    source = Random(3)
    with tables() as rows:
        filled = Filled(rows)
        for _ in range(5):
            filled.add([(prose(source, 2), prose(source, 60)) for _ in range(3)])
        key, value = rows.execute(f"SELECT rowid, {column} FROM {table}").fetchone()
        if isinstance(value, bytes):  # with the right checksum, as in a file that somebody forged
            value = unsealed(value, key)
            at = place % len(value)
            value = sealed(value[:at] + wrong + (b"" if cut else value[at + len(wrong) :]), key)
        else:
            value = wrong if cut else int.from_bytes(wrong, "little", signed=True)
        with suppress(sqlite3.IntegrityError):  # the changed number breaks a constraint
            rows.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, key))
        questions = [Words.of(typed) for typed in ("c0 -c9", '"c0 c1" OR "c1 c0"', "c* rare*", '"c0 c1*"')]
        uses: list[Callable[[], object]] = [partial(filled.found, words) for words in questions]
        uses += [lambda: filled.remove({0, 4}), filled.drop, *[partial(filled.add, [("c0 c1", "c1 c2")])] * 4]
        for use in uses:
            with suppress(sqlite3.DatabaseError):
                use()


def test_the_words_about_damage() -> None:
    with tables() as rows:
        filled = Filled(rows)
        filled.add([("a", "a b")])
        no_sense = sealed(b"\0", 1 << 32), "the word index is corrupt"
        for wrong, words in ((b"\0", "a checksum is wrong"), no_sense):
            rows.execute("UPDATE word_block SET words = ?", (wrong,))
            with pytest.raises(sqlite3.DatabaseError, match=words):
                filled.found(Words.of("a"))
