"""Postings compared with a plain set of pairs."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.sorted_postings import sorted_postings
from opensearch_winnow.stores.embedded import postings
from opensearch_winnow.stores.embedded.postings import Postings, unpacked
from opensearch_winnow.stores.embedded.seals import sealed

TABLES = """
CREATE TABLE field (block_id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE run (field TEXT, run INTEGER, postings INTEGER, PRIMARY KEY (field, run));
"""
# Many tokens that differ only in the slot, both ends of the range, and any others.
TOKENS = st.integers(0, 40) | st.integers(2**64 - 40, 2**64 - 1) | st.integers(0, 2**64 - 1)
PAGES = st.lists(st.lists(TOKENS, max_size=30), max_size=12)


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits, so that a few postings make many runs, blocks and parts."""
    for name, value in (("FIRST_RUN_POSTINGS", 8), ("GROWTH", 2), ("BLOCK_BYTES", 40), ("BLOCKS_IN_MEMORY", 2)):
        monkeypatch.setattr(postings, name, value)


@contextmanager
def tables() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as rows:
        rows.executescript(TABLES)
        yield rows


@given(PAGES, st.integers(1, 4), st.sets(st.integers(1, 12)))
def test_what_is_added_is_found_and_what_is_dropped_is_not(
    pages: list[list[int]], batch: int, dropped: set[int]
) -> None:
    with tables() as rows:
        field = Postings(rows, "field")
        for start in range(0, len(pages), batch):
            some = pages[start : start + batch]
            joined = array("Q", (token for tokens in some for token in tokens))
            numbers = array("I", range(start + 1, start + 1 + len(some)))
            field.add(*sorted_postings(joined, array("I", map(len, some)), numbers))
        every = {(token, number) for number, tokens in enumerate(pages, 1) for token in tokens}
        assert found(field, every) == every
        kept = {pair for pair in every if pair[1] not in dropped}
        gone = array("I", sorted(dropped))
        assert field.frequencies(gone) == Counter(Counter(token for token, _ in kept).values())
        field.drop(gone)
        assert found(field, every) == kept
        assert rows.execute("SELECT coalesce(sum(postings), 0) FROM run").fetchone() == (len(kept),)
        blocks = rows.execute("SELECT block_id, block FROM field").fetchall()
        assert sum(len(unpacked(*row).tokens) for row in blocks) == len(kept)


def found(field: Postings, every: set[tuple[int, int]]) -> set[tuple[int, int]]:
    wanted = array("Q", {token for token, _ in every} | {5, 2**63, 2**64 - 5})
    pairs = [(token, page) for token, pages in field.pages(wanted) for page in pages]
    assert len(pairs) == len(set(pairs))
    return set(pairs)


def test_a_token_on_every_page_is_one_block() -> None:
    with tables() as rows:
        field = Postings(rows, "field")
        for number in range(1, 200):
            field.add(array("Q", [7, number << 40]), array("I", [number, number]))
        assert sum(len(pages) for _, pages in field.pages(array("Q", [7]))) == 199
        assert field.frequencies(array("I")) == {1: 199, 199: 1}
        assert field.frequencies(array("I", range(1, 100))) == {1: 100, 100: 1}


@pytest.mark.parametrize("block", [b"", b"x", bytes(13)])
def test_a_block_that_is_none(block: bytes) -> None:
    with tables() as rows:
        rows.execute("INSERT INTO field VALUES (0, ?)", (sealed(block, 0),))
        rows.execute("INSERT INTO run VALUES ('field', 0, 1)")
        with pytest.raises(sqlite3.DatabaseError, match="a block of postings is corrupt"):
            list(Postings(rows, "field").pages(array("Q", [1])))
