"""The SQLite file of a store: made, opened, and whatever is wrong with it in words."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings import sqlite_schema
from opensearch_winnow.mappings.sqlite_schema import APPLICATION_ID, PAGE_SIZE
from opensearch_winnow.mappings.written_scheme import WrittenScheme, written
from opensearch_winnow.record_files.atomic_file import sync_folder
from opensearch_winnow.stores.embedded.rows import text_of
from opensearch_winnow.stores.embedded.text_index import TextIndex
from opensearch_winnow.stores.store import StoreError

PATIENCE = 60.0  # seconds that a writer waits for another: a few of its commits
HEADER = 100  # bytes
WORDS_INDEXED = 2  # the first format with a text index of our own
INDEXED_AT_ONCE = 16_000_000  # characters of texts in memory while a file is brought to that
CONNECTION = """
    PRAGMA synchronous = FULL; -- what is acknowledged survives a loss of power too
    PRAGMA secure_delete = OFF; -- Debian has it on: every page that becomes free would be written once more
    PRAGMA cache_size = -65536; -- in KiB
    PRAGMA wal_autocheckpoint = 4000; -- pages
    PRAGMA journal_size_limit = 67108864; -- bytes that the log keeps after a large commit
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
"""


class StoreFile:
    """One connection to a store, in words of which file it is."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.path = path
        self._address = address(path)
        with reporting_sqlite_errors(name):
            self.rows = self._connection()
        try:
            with reporting_sqlite_errors(name):
                self._migrate()
        except BaseException:
            self.rows.close()
            raise

    def close(self) -> None:
        self.rows.close()

    def scheme(self) -> WrittenScheme:
        row = self.rows.execute("SELECT id, choices, keyed FROM scheme").fetchone()
        try:
            return WrittenScheme(row[0], json.loads(row[1]), bool(row[2]))
        except (TypeError, ValueError):
            raise damaged(self.name, "it does not tell its scheme") from None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Statements that see one state of the file, whatever others write meanwhile."""
        with reporting_sqlite_errors(self.name), _transaction(self.rows, "BEGIN"):
            yield self.rows

    @contextmanager
    def reading_apart(self) -> Iterator[sqlite3.Connection]:
        """As `reading`, for a long time, in which this store may be written to."""
        with reporting_sqlite_errors(self.name):
            rows = self._connection()
            try:
                with _transaction(rows, "BEGIN"):
                    yield rows
            finally:
                rows.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Statements of which all or none become part of the file. While they run, others can only read."""
        with reporting_sqlite_errors(self.name, writing=True), _transaction(self.rows, "BEGIN IMMEDIATE"):
            yield self.rows

    def _connection(self) -> sqlite3.Connection:
        rows = sqlite3.connect(self._address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            rows.executescript(CONNECTION)
        except BaseException:
            rows.close()
            raise
        return rows

    def _migrate(self) -> None:
        ours = len(sqlite_schema.MIGRATIONS)
        version = _format(self.rows)
        if version > ours:
            raise StoreError(
                f"{self.name} was written by a newer winnow (format {version} of stores, and this one knows {ours}):"
                " update winnow"
            )
        if version < ours:
            if "mode=ro" in self._address:
                raise StoreError(
                    f"{self.name} was written by an older winnow (format {version} of stores, and this one has {ours}),"
                    " and cannot be written here: open it once where it can be, which brings it up to date"
                )
            with self.writing() as rows:
                migrate(rows)


def make(path: Path, name: str, scheme: Scheme) -> None:
    """Make the file of a store without a page. Somebody else may make it at the same time: then theirs stays."""
    if not path.parent.is_dir():
        raise StoreError(f"{name} cannot be made: there is no folder {path.parent}")
    hidden = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        with reporting_sqlite_errors(name, writing=True):
            rows = sqlite3.connect(hidden, isolation_level=None)
            try:
                # In this order: the size of a page is settled by the first one written.
                rows.executescript(
                    f"PRAGMA page_size = {PAGE_SIZE}; PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = WAL;"
                    f"PRAGMA synchronous = FULL; PRAGMA application_id = {APPLICATION_ID};"
                )
                with _transaction(rows, "BEGIN IMMEDIATE"):
                    migrate(rows)
                    told = written(scheme)
                    choices = json.dumps(told.choices)
                    rows.execute("INSERT INTO scheme VALUES (?, ?, ?)", (told.id, choices, told.keyed))
            finally:
                rows.close()
        _place(hidden, path)
    except OSError as error:
        raise StoreError(f"{name} cannot be made: {error.strerror}") from None
    finally:
        for left in path.parent.glob(f"{hidden.name}*"):
            left.unlink()


def _place(hidden: Path, path: Path) -> None:
    try:
        path.hardlink_to(hidden)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not path.exists():
            hidden.rename(path)
    sync_folder(path.parent)


def migrate(rows: sqlite3.Connection) -> None:
    """Bring a file to our format, within a transaction."""
    # Looked at again: another process may have done it while we waited for our turn.
    for version in range(_format(rows), len(sqlite_schema.MIGRATIONS)):
        # Not executescript, which commits first.
        for statement in _statements(sqlite_schema.MIGRATIONS[version]):
            rows.execute(statement)
        if version + 1 == WORDS_INDEXED:
            _index_words(rows)
        rows.execute(f"PRAGMA user_version = {version + 1}")


def _index_words(rows: sqlite3.Connection) -> None:
    """Of all pages that are there."""
    pages: list[tuple[int, str, str]] = []
    size = 0
    for number, title, text in rows.execute(
        "SELECT number, title, text FROM page JOIN page_text USING (number) ORDER BY number"
    ):
        pages.append((number, title or "", text_of(text)))
        size += len(pages[-1][1]) + len(pages[-1][2])
        if size > INDEXED_AT_ONCE:
            TextIndex(rows).add(*zip(*pages, strict=True))
            pages, size = [], 0
    if pages:
        TextIndex(rows).add(*zip(*pages, strict=True))


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _format(rows: sqlite3.Connection) -> int:
    version: int = rows.execute("PRAGMA user_version").fetchone()[0]
    return version


@contextmanager
def _transaction(rows: sqlite3.Connection, begin: str) -> Iterator[None]:
    rows.execute(begin)
    try:
        yield
        rows.execute("COMMIT")
    finally:
        if rows.in_transaction:  # not committed; of some errors SQLite has gone back by itself
            rows.execute("ROLLBACK")


def check(path: Path, name: str) -> None:
    """Refuse what is no store, before SQLite touches it."""
    try:
        with path.open("rb") as file:
            header = file.read(HEADER)
    except FileNotFoundError:
        raise StoreError(f"there is no store {name}: index a crawl into it first, or look at the name") from None
    except IsADirectoryError:
        raise StoreError(f"{name} is a folder, and a store is one file: name a file in it") from None
    except OSError as error:
        raise StoreError(f"{name} cannot be read: {error.strerror}") from None
    if not header:
        raise StoreError(f"{name} is an empty file, and no store: remove it, or name another file")
    if header[68:72] != APPLICATION_ID.to_bytes(4, "big") or not header.startswith(b"SQLite format 3\0"):
        kind = "a database of something else" if header.startswith(b"SQLite format 3\0") else "another kind of file"
        raise StoreError(f"{name} is {kind}, and no store: name another file")


def address(path: Path) -> str:
    """How SQLite is to open it: to write if the file and its folder allow that."""
    effective = os.access in os.supports_effective_ids
    uri = path.absolute().as_uri()
    folder_writable = os.access(path.parent, os.W_OK, effective_ids=effective)
    if folder_writable and os.access(path, os.W_OK, effective_ids=effective):
        return f"{uri}?mode=rw"
    # Beside a log there are unfinished things, which only SQLite can tell; else it needs no file of its own.
    log = path.with_name(f"{path.name}-wal")
    return f"{uri}?mode=ro" if folder_writable or log.exists() else f"{uri}?mode=ro&immutable=1"


@contextmanager
def reporting_sqlite_errors(name: str, *, writing: bool = False) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _store_error(name, error, writing=writing) from None
    except UnicodeDecodeError:  # of a message of SQLite's, about a name in it
        raise damaged(name, "a name is not UTF-8") from None
    except MemoryError:
        raise StoreError(f"{name} takes more memory than there is, or is damaged") from None


def damaged(name: str, reason: str) -> StoreError:
    return StoreError(f"{name} is damaged ({' '.join(reason.split())}): index the crawl again, or take a copy")


def _store_error(name: str, error: sqlite3.Error, *, writing: bool) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0)
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return StoreError(f"there is no space left for {name}; what was stored before is intact")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(f"another process has been writing to {name} for {PATIENCE:.0f} s: try again when it is done")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        wanted = "written" if writing else "read"
        return StoreError(f"{name} cannot be {wanted} here ({error}): look at the rights to the file and its folder")
    if isinstance(error, sqlite3.ProgrammingError):
        return StoreError(f"{name} cannot be used: {error}")
    if primary == sqlite3.SQLITE_IOERR:
        reason = f"{error}, {error.sqlite_errorname}"
        if writing:
            return StoreError(f"{name} cannot be written ({reason}); what was stored before is intact")
        return StoreError(f"{name} cannot be read ({reason})")
    return damaged(name, str(error))
