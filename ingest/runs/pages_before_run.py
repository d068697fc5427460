"""The pages that were stored before a run, in a SQLite file that the processes of the run read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, Self

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.mappings.record import Record, StoredDigests
from opensearch_winnow.mappings.stored_fields import packed_digest, unpacked_digest

Level = Literal["content", "text", "shingles"]
# The levels at which two pages can be equal, the strictest first, and the digests that are compared.
LEVELS: dict[Level, str] = {"content": "content_digest", "text": "text_digest", "shingles": "shingle_digest"}

TEMPORARY = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"  # for files that need not survive a crash
# The columns that are read here of the table `page` of an embedded store.
PAGE_TABLE = """
    CREATE TABLE page (
        number INTEGER PRIMARY KEY, id BLOB, url TEXT, content_digest BLOB, text_digest BLOB, shingle_digest BLOB
    );
"""
INDEXES = "".join(f"CREATE INDEX page_{column} ON page ({column});" for column in ("id", *LEVELS.values()))
INSERT = f"INSERT OR IGNORE INTO page (number, id, url, {', '.join(LEVELS.values())}) VALUES (?, ?, ?, ?, ?, ?)"


LookUp = Callable[[Sequence[Record]], Iterable[tuple[int, StoredDigests]]]


class PagesBeforeRun:
    """The pages that were stored before a run.

    `file` has them in its table `page`: it is the file of an embedded store, or a temporary file. What a remote store
    has is too much to list, so `look_up` asks it about the records that a run makes, and adds the pages like them.
    """

    def __init__(self, file: Path, look_up: LookUp | None = None) -> None:
        self.file = file
        self._look_up = look_up

    @classmethod
    def listed(cls, folder: Path, stored: Iterable[StoredDigests] = (), look_up: LookUp | None = None) -> Self:
        """Write `stored` to a temporary file in `folder`. If an id comes twice, the later one counts."""
        path = folder / "stored.sqlite"
        with reporting_sqlite_errors(path), closing(sqlite3.connect(path)) as file:
            file.executescript(TEMPORARY + PAGE_TABLE)
            file.executemany(INSERT, ((None, *_row(each)) for each in stored))
            file.commit()
            file.executescript(INDEXES)  # after the rows: sorting them once takes a third of the time
        return cls(path, look_up)

    def look_up(self, records: Sequence[Record]) -> None:
        """Make sure that the file has the stored pages with the id or the shingles of one of `records`."""
        found = list(self._look_up(records)) if self._look_up and records else ()
        if not found:
            return
        with reporting_sqlite_errors(self.file), closing(sqlite3.connect(self.file)) as file:
            file.execute(TEMPORARY.partition(";")[0])
            file.executemany(INSERT, ((number, *_row(each)) for number, each in found))
            file.commit()


def _row(stored: StoredDigests) -> tuple[bytes | str, ...]:
    id_, url, *digests = stored
    return packed_digest(id_), url, *map(packed_digest, digests)


class StoredCaptures:
    """Reads the file of `PagesBeforeRun`, in any process.

    The file may be written meanwhile: each lookup is a transaction of its own, so writers never wait for it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with reporting_sqlite_errors(path):
            self._file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)

    def content(self, capture: str) -> str | None:
        """Return the content digest of the capture with this id, or None if it is not stored."""
        # The last one, because a folder of record files may also list an older one.
        query = "SELECT content_digest FROM page WHERE id = ? ORDER BY number DESC LIMIT 1"
        with reporting_sqlite_errors(self._path):
            row = self._file.execute(query, (packed_digest(capture),)).fetchone()
        return None if row is None else unpacked_digest(row[0])

    def pages_with_digest(self, level: Level, digest: bytes | str) -> Generator[tuple[bytes, str]]:
        """Yield ids and URLs of the pages with this digest, in the order in which they were stored."""
        query = f"SELECT id, url FROM page WHERE {LEVELS[level]} = ? ORDER BY number"
        with reporting_sqlite_errors(self._path), closing(self._file.execute(query, (digest,))) as rows:
            yield from rows

    def close(self) -> None:
        self._file.close()


@contextmanager
def reporting_sqlite_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise WinnowError(f"{path} is damaged ({error}): index the crawl again, or use a copy") from None
        raise WinnowError(f"stored pages cannot be looked up in {path}: {error}") from None
