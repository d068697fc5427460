"""Store files that an older winnow has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.mappings import sqlite_schema
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded import EmbeddedStore, file
from opensearch_winnow.stores.store import StoreError
from tests.stores.conftest import numbered
from tests.stores.embedded.store_files import FIRST_FORMAT, FOURTH_FORMAT, SECOND_FORMAT, filled, rows
from tests.stores.store_questions import search


def test_an_older_format_is_brought_to_ours(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of format 0, and a format after the current one whose migration adds a column filled from others."""
    EmbeddedStore.open(path.with_name("model"), create=True).close()
    with rows(path.with_name("model")) as there:
        scheme = there.execute("SELECT * FROM scheme").fetchone()
    with rows(path) as there:
        there.execute(f"PRAGMA application_id = {sqlite_schema.APPLICATION_ID}")
        there.execute("PRAGMA journal_mode = WAL")
    assert path.stat().st_size
    with pytest.raises(StoreError, match="its scheme cannot be read"):
        EmbeddedStore.open(path)
    with rows(path) as there:
        assert there.execute("PRAGMA user_version").fetchone() == (7,)
        there.execute("INSERT INTO scheme VALUES (?, ?, ?, ?)", scheme)
    with EmbeddedStore.open(path) as store:
        store.write([numbered(1), numbered(2)])
    next_format = "ALTER TABLE page ADD COLUMN host TEXT; -- and;\nUPDATE page SET host = 'h' || site;"
    monkeypatch.setattr(sqlite_schema, "MIGRATIONS", (*sqlite_schema.MIGRATIONS, next_format))
    with EmbeddedStore.open(path) as store:
        assert list(store.scan(Record)) == [numbered(1), numbered(2)]
    with rows(path) as there:
        assert there.execute("PRAGMA user_version").fetchone() == (8,)
        assert there.execute("SELECT host FROM page").fetchall() == [("hexample.org",)] * 2
    monkeypatch.undo()
    with pytest.raises(StoreError, match="was written by a newer winnow"):
        EmbeddedStore.open(path)


@pytest.mark.parametrize("old", [FIRST_FORMAT, SECOND_FORMAT, FOURTH_FORMAT], ids=["first", "second", "fourth"])
def test_answers_are_those_of_an_older_format(path: Path, monkeypatch: pytest.MonkeyPatch, old: str) -> None:
    monkeypatch.setattr(file, "CHARS_PER_BATCH", 5_000)  # a few pages

    def answers(store: EmbeddedStore) -> tuple[Any, ...]:
        found = [search(store, Words.of(words), limit=40) for words in ("words", "another")]
        return list(store.scan(Record)), found, store.statistics().frequencies

    filled(path, *range(30))
    with EmbeddedStore.open(path) as store:
        store.delete([numbered(7).id])
        store.write([numbered(8, title="another word"), numbered(30, text="short"), numbered(31, text="")])
        before = answers(store)
    assert [found.total for found in before[1]] == [29, 1]
    with rows(path) as there:
        there.executescript(old)
        if old != FOURTH_FORMAT:  # a text was no BLOB if it was not packed
            there.execute("UPDATE page_text SET text = CAST(text AS TEXT) WHERE length(text) < 6")
    with EmbeddedStore.open(path) as store:
        assert answers(store) == before
        store.verify()
        store.write([numbered(40)])  # merges old blocks with new ones
        assert list(store.scan(Record)) == [*before[0], numbered(40)]
        store.delete([numbered(8).id])
        assert search(store, Words.of("another")).total == 0
    with rows(path) as there:
        tables = {name for (name,) in there.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert not any(name.startswith("words") for name in tables)


def test_a_block_of_the_fourth_format_that_is_damaged(path: Path) -> None:
    filled(path, 1)
    with rows(path) as there:
        there.executescript(f"{FOURTH_FORMAT} UPDATE bands SET block = zeroblob(16)")
    with pytest.raises(StoreError, match="is damaged"):
        EmbeddedStore.open(path)


def test_a_migration_is_all_or_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, 1)
    broken = "ALTER TABLE page ADD COLUMN host TEXT;\nINSERT INTO nowhere VALUES (1);"
    with monkeypatch.context() as patched:
        patched.setattr(sqlite_schema, "MIGRATIONS", (*sqlite_schema.MIGRATIONS, broken))
        with pytest.raises(StoreError, match="no such table: nowhere"):
            EmbeddedStore.open(path)
    with EmbeddedStore.open(path) as store:
        assert list(store.scan(Record)) == [numbered(1)]
