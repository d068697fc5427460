"""Which captures are stored already, and which contents were seen before: in files, however many they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.sources.split import Skipped
from opensearch_winnow.mappings.record import Record, Stored
from opensearch_winnow.mappings.sqlite_schema import packed, unpacked

Level = Literal["content", "text", "shingles"]
# In which pages can be equal, the closest first; and the digests that tell.
LEVELS: dict[Level, str] = {"content": "content_digest", "text": "text_digest", "shingles": "shingle_digest"}
OTHER_CONTENT = "another content of the same capture"  # why a page is skipped

# Gone with the run in any case, so nothing is done to keep it.
TEMPORARY = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
# Named as in an embedded store, which has more columns, and is looked into in the same way.
STORED = """
    CREATE TABLE page (
        number INTEGER PRIMARY KEY, id BLOB, url TEXT, content_digest BLOB, text_digest BLOB, shingle_digest BLOB
    );
"""
INDEXES = "".join(f"CREATE INDEX page_{column} ON page ({column});" for column in ("id", *LEVELS.values()))
INSERT = f"INSERT OR IGNORE INTO page (number, id, url, {', '.join(LEVELS.values())}) VALUES (?, ?, ?, ?, ?, ?)"
RUN = """
    CREATE TABLE capture (id BLOB PRIMARY KEY, content BLOB, new INTEGER) WITHOUT ROWID;
    CREATE TABLE seen (level TEXT, digest BLOB, url TEXT, PRIMARY KEY (level, digest)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A capture that is stored already, with the same content."""

    url: str
    id: str
    content_digest: str


def write_stored(path: Path, stored: Iterable[Stored]) -> None:
    """Make a file of what was stored before the run."""
    with _in_words(path), closing(sqlite3.connect(path)) as file:
        file.executescript(TEMPORARY + STORED)
        file.executemany(INSERT, ((None, *_row(each)) for each in stored))
        file.commit()
        file.executescript(INDEXES)  # now: to sort them once takes a third of the time


def add_stored(path: Path, stored: Iterable[tuple[int, Stored]]) -> None:
    """Add to such a file what was stored too, each with its number in the order of all; what it has stays."""
    with _in_words(path), closing(sqlite3.connect(path)) as file:
        file.execute(TEMPORARY.partition(";")[0])
        file.executemany(INSERT, ((number, *_row(each)) for number, each in stored))
        file.commit()


def _row(stored: Stored) -> tuple[bytes | str, ...]:
    id_, url, *digests = stored
    return packed(id_), url, *map(packed, digests)


class StoredCaptures:
    """Looks into the table `page` of such a file or of an embedded store, from any process, also while it is written.

    Each look is a transaction of its own, so that it keeps nobody from writing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with _in_words(path):
            self._file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)

    def content(self, capture: str) -> str | None:
        """The digest of this capture's content, if it is stored."""
        # The last, because a folder of record files may have an older one too.
        query = "SELECT content_digest FROM page WHERE id = ? ORDER BY number DESC LIMIT 1"
        with _in_words(self._path):
            row = self._file.execute(query, (packed(capture),)).fetchone()
        return None if row is None else unpacked(row[0])

    def equals(self, level: Level, digest: bytes | str) -> Generator[tuple[bytes, str]]:
        """Ids and URLs of the pages with this digest, the first stored first."""
        query = f"SELECT id, url FROM page WHERE {LEVELS[level]} = ? ORDER BY number"
        with _in_words(self._path), closing(self._file.execute(query, (digest,))) as rows:
            yield from rows

    def close(self) -> None:
        self._file.close()


class Ledger:
    """Every capture and content of the run, and of what was stored before it.

    What the run itself has written meanwhile, or not yet, changes nothing.
    """

    def __init__(self, path: Path, stored: Path) -> None:
        self._path = path
        self._stored = StoredCaptures(stored)
        with _in_words(path):
            self._run = sqlite3.connect(path)
            self._run.executescript(TEMPORARY + RUN)
        self.replaced = 0  # captures whose content is another now

    def settle(self, result: Record | Unchanged) -> Record | Unchanged | Skipped:
        """What becomes of it after all that came before: a record that equals an earlier page is marked.

        If a run has several contents for one capture, the first counts. So another run over the same changes nothing.
        """
        with _in_words(self._path):
            return self._settle(result)

    def _settle(self, result: Record | Unchanged) -> Record | Unchanged | Skipped:
        id_, content = packed(result.id), packed(result.content_digest)
        in_run = self._run.execute("SELECT content FROM capture WHERE id = ?", (id_,)).fetchone()
        if in_run and in_run[0] != content:
            return Skipped(result.url, OTHER_CONTENT)
        unchanged = Unchanged(result.url, result.id, result.content_digest)
        if in_run:
            return unchanged
        before = result.content_digest if isinstance(result, Unchanged) else self._stored.content(result.id)
        new = before != result.content_digest
        self._run.execute("INSERT INTO capture VALUES (?, ?, ?)", (id_, content, new))
        if isinstance(result, Unchanged) or not new:
            return unchanged
        self.replaced += before is not None
        # A revisit, or a text without a word, equals nothing.
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
        """The URL of the first page that was there before the run with this digest, and still has it."""
        with closing(self._stored.equals(level, digest)) as rows:
            return next((url for id_, url in rows if not self._is_new(id_)), None)

    def _is_new(self, id_: bytes) -> bool:
        return bool(self._run.execute("SELECT 1 FROM capture WHERE id = ? AND new", (id_,)).fetchone())

    def close(self) -> None:
        self._run.close()
        self._stored.close()


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise WinnowError(f"what is stored cannot be looked up in {path}: {error}") from None
