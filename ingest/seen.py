"""Which captures are stored already, and which contents were seen before: in files, however many they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from opensearch_winnow.ingest.sources.split import Skipped
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
    id: str
    content_digest: str


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

    def close(self) -> None:
        self._rows.close()


class Ledger:
    """Every capture and content of the run, and of what was stored before it."""

    def __init__(self, path: Path, stored: Path) -> None:
        self._rows = sqlite3.connect(path, uri=True)
        self._rows.executescript(TABLES)
        self._rows.execute("ATTACH ? AS stored", (_read_only(stored),))
        self.replaced = 0  # captures whose content is another now

    def settle(self, result: Record | Unchanged) -> Record | Unchanged | Skipped:
        """What becomes of it after all that came before: a record that equals an earlier page is marked.

        If a run has several contents for one capture, the first counts. So another run over the same changes nothing.
        """
        in_run = self._find("main", "content", "capture", "id", result.id)
        if in_run is not None and in_run != result.content_digest:
            return Skipped(result.url, "another content of the same capture")
        if in_run is not None or isinstance(result, Unchanged):
            self._enter(result)
            return Unchanged(result.url, result.id, result.content_digest)
        self._enter(result)
        before = self._find("stored", "content", "capture", "id", result.id)
        if before == result.content_digest:
            return Unchanged(result.url, result.id, result.content_digest)
        self.replaced += before is not None
        # A revisit, or a text without a word, equals nothing.
        return self._marked(result) if result.shingle_count else result

    def _marked(self, record: Record) -> Record:
        each = Stored.of(record)
        for level, digest in zip(LEVELS, _digests(each), strict=True):
            first = self._find("main", "url", "seen", "digest", digest)
            first = first or self._find("stored", "url", "seen", "digest", digest)
            if first:
                record = replace(record, duplicate=level, duplicate_of=first)
                break
        _remember(self._rows, each)
        return record

    def _enter(self, result: Record | Unchanged) -> None:
        self._rows.execute("INSERT OR REPLACE INTO capture VALUES (?, ?)", (result.id, result.content_digest))

    def close(self) -> None:
        self._rows.close()

    def _find(self, schema: str, column: str, table: str, key: str, value: str) -> str | None:
        row = self._rows.execute(f"SELECT {column} FROM {schema}.{table} WHERE {key} = ?", (value,)).fetchone()
        return row[0] if row else None


def _digests(stored: Stored) -> list[str]:
    return [f"content {stored.content_digest}", f"text {stored.text_digest}", f"shingles {stored.shingle_digest}"]


def _remember(rows: sqlite3.Connection, stored: Stored) -> None:
    rows.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", [(digest, stored.url) for digest in _digests(stored)])


def _read_only(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"
