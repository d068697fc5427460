"""Finds out which captures of a run are unchanged, and which contents were seen before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from opensearch_winnow.ingest.runs.pages_before_run import (
    LEVELS,
    TEMPORARY,
    Level,
    StoredCaptures,
    reporting_sqlite_errors,
)
from opensearch_winnow.ingest.sources.split import Skipped
from opensearch_winnow.mappings.record import Record, StoredDigests
from opensearch_winnow.mappings.stored_fields import packed_digest

OTHER_CONTENT = "same id as an earlier one, other content"  # the reason for skipping a page

RUN_TABLES = """
    CREATE TABLE capture (id BLOB PRIMARY KEY, content BLOB, new INTEGER) WITHOUT ROWID;
    CREATE TABLE seen (level TEXT, digest BLOB, url TEXT, PRIMARY KEY (level, digest)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A capture that is already stored, with the same content."""

    url: str
    id: str
    content_digest: str


class Ledger:
    """Remembers every capture and content of the run, in addition to those stored before it.

    It does not depend on how much of the run has been written.
    """

    def __init__(self, path: Path, stored: Path) -> None:
        self._path = path
        self._stored = StoredCaptures(stored)
        with reporting_sqlite_errors(path):
            self._run = sqlite3.connect(path)
            self._run.executescript(TEMPORARY + RUN_TABLES)
        self.replaced = 0  # captures that had other content before the run
        self.replaced_undated = 0  # of these, captures of unknown time

    def settle(self, result: Record | Unchanged) -> Record | Unchanged | Skipped:
        """Return the outcome of `result`: unchanged, skipped, or a record, marked if it equals an earlier page.

        If a run has several contents for one capture, the first counts, so that running again changes nothing.
        """
        with reporting_sqlite_errors(self._path):
            return self._settle(result)

    def _settle(self, result: Record | Unchanged) -> Record | Unchanged | Skipped:
        id_, content = packed_digest(result.id), packed_digest(result.content_digest)
        row = self._run.execute("SELECT content FROM capture WHERE id = ?", (id_,)).fetchone()
        if row and row[0] != content:
            return Skipped(result.url, OTHER_CONTENT)
        unchanged = Unchanged(result.url, result.id, result.content_digest)
        if row:
            return unchanged
        stored_digest = result.content_digest if isinstance(result, Unchanged) else self._stored.content(result.id)
        new = stored_digest != result.content_digest
        self._run.execute("INSERT INTO capture VALUES (?, ?, ?)", (id_, content, new))
        if isinstance(result, Unchanged) or not new:
            return unchanged
        self.replaced += stored_digest is not None
        self.replaced_undated += stored_digest is not None and result.fetched_at is None
        # A revisit, or a text without words, has no shingles to compare.
        return self._marked(result) if result.hashes.shingle_count else result

    def _marked(self, record: Record) -> Record:
        marked = record
        digests = StoredDigests.of(record)
        for level, name in LEVELS.items():
            digest = packed_digest(getattr(digests, name))
            seen = self._run.execute("SELECT url FROM seen WHERE level = ? AND digest = ?", (level, digest)).fetchone()
            first = seen[0] if seen else self._first_stored(level, digest)
            if not seen:
                self._run.execute("INSERT INTO seen VALUES (?, ?, ?)", (level, digest, first or record.url))
            if first and marked is record:
                marked = replace(record, duplicate=level, duplicate_of=first)
        return marked

    def _first_stored(self, level: Level, digest: bytes | str) -> str | None:
        """Return the URL of the first page that had this digest before the run, and still has it."""
        with closing(self._stored.pages_with_digest(level, digest)) as rows:
            return next((url for id_, url in rows if not self._is_new(id_)), None)

    def _is_new(self, id_: bytes) -> bool:
        return bool(self._run.execute("SELECT 1 FROM capture WHERE id = ? AND new", (id_,)).fetchone())

    def close(self) -> None:
        self._run.close()
        self._stored.close()
