"""Which captures are stored already, and which contents were seen before: in files, however many they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from opensearch_winnow.mappings.record import Record, Stored

# Gone with the run in any case, so nothing is done to keep it.
TABLES = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE capture (id TEXT PRIMARY KEY, content TEXT) WITHOUT ROWID;
    CREATE TABLE seen (digest TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID;
"""
# In which pages can be equal, the closest first.
LEVELS: tuple[Literal["content", "text", "shingles"], ...] = ("content", "text", "shingles")


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A capture that is stored already, with the same content."""

    url: str


def write_stored(path: Path, stored: Iterable[Stored]) -> None:
    """Make the file of what was stored before the run; it is only read from then on."""
    rows = sqlite3.connect(path)
    rows.executescript(TABLES)
    for each in stored:
        rows.execute("INSERT OR REPLACE INTO capture VALUES (?, ?)", (each.id, each.content_digest))
        _remember(rows, each)
    rows.commit()
    rows.close()


class StoredCaptures:
    """Looks into the file of what was stored, from any process."""

    def __init__(self, path: Path) -> None:
        self._rows = sqlite3.connect(_read_only(path), uri=True)

    def content(self, capture: str) -> str | None:
        """The digest of this capture's content, if it is stored."""
        row = self._rows.execute("SELECT content FROM capture WHERE id = ?", (capture,)).fetchone()
        return row[0] if row else None


class Ledger:
    """Every capture and content of the run, and of what was stored before it."""

    def __init__(self, path: Path, stored: Path) -> None:
        self._rows = sqlite3.connect(path, uri=True)
        self._rows.executescript(TABLES)
        self._rows.execute("ATTACH ? AS stored", (_read_only(stored),))

    def settle(self, record: Record) -> Record | Unchanged:
        """The record, marked if it equals an earlier page; or that this very capture is there."""
        each = Stored.of(record)
        if self._find("content", "capture", "id", each.id) == each.content_digest:
            return Unchanged(each.url)
        self._rows.execute("INSERT OR REPLACE INTO capture VALUES (?, ?)", (each.id, each.content_digest))
        if not record.shingle_count:  # a revisit, or a text without a word: it equals nothing
            return record
        for level, digest in zip(LEVELS, _digests(each), strict=True):
            if first := self._find("url", "seen", "digest", digest):
                record = replace(record, duplicate=level, duplicate_of=first)
                break
        _remember(self._rows, each)
        return record

    def close(self) -> None:
        self._rows.close()

    def _find(self, column: str, table: str, key: str, value: str) -> str | None:
        """What the run says, else what was stored before it."""
        for schema in ("main", "stored"):
            query = f"SELECT {column} FROM {schema}.{table} WHERE {key} = ?"
            if row := self._rows.execute(query, (value,)).fetchone():
                return str(row[0])
        return None


def _digests(stored: Stored) -> list[str]:
    return [f"content {stored.content_digest}", f"text {stored.text_digest}", f"shingles {stored.shingle_digest}"]


def _remember(rows: sqlite3.Connection, stored: Stored) -> None:
    rows.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", [(digest, stored.url) for digest in _digests(stored)])


def _read_only(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"
