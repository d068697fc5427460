"""Finds out which captures are stored already and which contents were seen before, in SQLite files of any size."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.sources.split import Skipped
from opensearch_winnow.mappings.record import Record, StoredDigests
from opensearch_winnow.mappings.sqlite_schema import packed, unpacked

Level = Literal["content", "text", "shingles"]
# The levels at which two pages can be equal, the strictest first, and the digests that are compared.
LEVELS: dict[Level, str] = {"content": "content_digest", "text": "text_digest", "shingles": "shingle_digest"}
OTHER_CONTENT = "same id as an earlier one, other content"  # the reason for skipping a page

# The file is deleted after the run, so it need not survive a crash.
TEMPORARY = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
# The columns that are read here of the table `page` of an embedded store.
PAGE_TABLE = """
    CREATE TABLE page (
        number INTEGER PRIMARY KEY, id BLOB, url TEXT, content_digest BLOB, text_digest BLOB, shingle_digest BLOB
    );
"""
INDEXES = "".join(f"CREATE INDEX page_{column} ON page ({column});" for column in ("id", *LEVELS.values()))
INSERT = f"INSERT OR IGNORE INTO page (number, id, url, {', '.join(LEVELS.values())}) VALUES (?, ?, ?, ?, ?, ?)"
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


def write_stored(path: Path, stored: Iterable[StoredDigests]) -> None:
    """Create a file that lists what was stored before the run."""
    with _reporting_sqlite_errors(path), closing(sqlite3.connect(path)) as file:
        file.executescript(TEMPORARY + PAGE_TABLE)
        file.executemany(INSERT, ((None, *_row(each)) for each in stored))
        file.commit()
        file.executescript(INDEXES)  # after the rows: sorting them once takes a third of the time


def add_stored(path: Path, stored: Iterable[tuple[int, StoredDigests]]) -> None:
    """Add pages to a file of `write_stored`, each with its number in the order of all. Pages that it has stay."""
    with _reporting_sqlite_errors(path), closing(sqlite3.connect(path)) as file:
        file.execute(TEMPORARY.partition(";")[0])
        file.executemany(INSERT, ((number, *_row(each)) for number, each in stored))
        file.commit()


def _row(stored: StoredDigests) -> tuple[bytes | str, ...]:
    id_, url, *digests = stored
    return packed(id_), url, *map(packed, digests)


class StoredCaptures:
    """Reads the table `page` of an embedded store, or of a file of `write_stored`, in any process.

    The file may be written meanwhile: each lookup is a transaction of its own, so writers never wait for it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with _reporting_sqlite_errors(path):
            self._file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)

    def content(self, capture: str) -> str | None:
        """Return the content digest of the capture with this id, or None if it is not stored."""
        # The last one, because a folder of record files may also list an older one.
        query = "SELECT content_digest FROM page WHERE id = ? ORDER BY number DESC LIMIT 1"
        with _reporting_sqlite_errors(self._path):
            row = self._file.execute(query, (packed(capture),)).fetchone()
        return None if row is None else unpacked(row[0])

    def pages_with_digest(self, level: Level, digest: bytes | str) -> Generator[tuple[bytes, str]]:
        """Yield ids and URLs of the pages with this digest, in the order in which they were stored."""
        query = f"SELECT id, url FROM page WHERE {LEVELS[level]} = ? ORDER BY number"
        with _reporting_sqlite_errors(self._path), closing(self._file.execute(query, (digest,))) as rows:
            yield from rows

    def close(self) -> None:
        self._file.close()


class Ledger:
    """Remembers every capture and content of the run, in addition to what was stored before it.

    It does not depend on how much of the run has been written.
    """

    def __init__(self, path: Path, stored: Path) -> None:
        self._path = path
        self._stored = StoredCaptures(stored)
        with _reporting_sqlite_errors(path):
            self._run = sqlite3.connect(path)
            self._run.executescript(TEMPORARY + RUN_TABLES)
        self.replaced = 0  # captures that had other content before the run
        self.replaced_undated = 0  # of these, those of unknown time

    def settle(self, result: Record | Unchanged) -> Record | Unchanged | Skipped:
        """Decide what becomes of `result`: unchanged, skipped, or a record, marked if it equals an earlier page.

        If a run has several contents for one capture, the first counts, so that running again changes nothing.
        """
        with _reporting_sqlite_errors(self._path):
            return self._settle(result)

    def _settle(self, result: Record | Unchanged) -> Record | Unchanged | Skipped:
        id_, content = packed(result.id), packed(result.content_digest)
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
        return self._marked(result) if result.shingle_count else result

    def _marked(self, record: Record) -> Record:
        marked = record
        for level, name in LEVELS.items():
            digest = packed(getattr(record, name))
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


@contextmanager
def _reporting_sqlite_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise WinnowError(f"{path} is damaged ({error}): index the crawl again, or use a copy") from None
        raise WinnowError(f"stored pages cannot be looked up in {path}: {error}") from None
