"""Creates, opens and migrates the SQLite file of a store, and explains its errors."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from threading import RLock

from opensearch_winnow.foundation.atomic_file import sync_folder
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings import sqlite_schema
from opensearch_winnow.mappings.sqlite_schema import APPLICATION_ID, PAGE_SIZE
from opensearch_winnow.mappings.written_scheme import WrittenScheme, written
from opensearch_winnow.stores.embedded.rows import row_checksum
from opensearch_winnow.stores.store import StoreError

WRITE_WAIT_SECONDS = 60.0  # the longest that a writer waits for another one: time for a few commits
HEADER_BYTES = 100
CONNECTION = """
    PRAGMA synchronous = FULL; -- acknowledged writes survive a loss of power
    PRAGMA secure_delete = OFF; -- Debian turns it on: every freed page would be written once more
    PRAGMA cache_size = -65536; -- in KiB
    PRAGMA wal_autocheckpoint = 4000; -- pages
    PRAGMA journal_size_limit = 67108864; -- bytes to which the log is cut after a large commit
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
"""


class StoreFile:
    """A connection to the file of a store. Its errors name the file. Threads that share it take turns."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.path = path
        self._address = address(path)
        self._turn = RLock()
        with reporting_sqlite_errors(name):
            self.db = self._connection()
        try:
            with reporting_sqlite_errors(name):
                self._migrate()
        except BaseException:
            self.db.close()
            raise

    def close(self) -> None:
        with self._turn:
            self.db.close()

    def scheme(self) -> WrittenScheme:
        row = self.db.execute("SELECT id, choices, keyed, checksum FROM scheme").fetchone()
        if row is None or row_checksum(*row[:3]) != row[3]:
            raise damaged(self.name, "its scheme cannot be read")
        return WrittenScheme(row[0], json.loads(row[1]), bool(row[2]))

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction whose statements all see the same state of the file, even if others write to it."""
        with self._turn, reporting_sqlite_errors(self.name), _transaction(self.db, "BEGIN"):
            yield self.db

    @contextmanager
    def reading_on_own_connection(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction for reading that may last long: meanwhile this store can be written to."""
        with reporting_sqlite_errors(self.name):
            db = self._connection()
            try:
                with _transaction(db, "BEGIN"):
                    yield db
            finally:
                db.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction for writing: all of its statements take effect, or none. Others can read meanwhile."""
        with self._turn, reporting_sqlite_errors(self.name, writing=True), _transaction(self.db, "BEGIN IMMEDIATE"):
            yield self.db

    def rewrite(self) -> None:
        """Write the file anew, without the bytes of deleted pages, and empty its log."""
        with self._turn, reporting_sqlite_errors(self.name, writing=True):
            self.db.execute("PRAGMA temp_store = FILE")  # the new file would otherwise be in memory first
            try:
                self.db.execute("VACUUM")
            finally:
                self.db.execute("PRAGMA temp_store = MEMORY")
            (busy, *_) = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreError(
                f"{self.name} is being read by another process, so what was deleted cannot be erased from the file yet:"
                " run winnow delete --erase when no other process reads it"
            )

    def _connection(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self._address, uri=True, timeout=WRITE_WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            db.executescript(CONNECTION)
        except BaseException:
            db.close()
            raise
        return db

    def _migrate(self) -> None:
        ours, version = sqlite_schema.current_format(), format_of(self.db)
        if version > ours or not version:
            raise StoreError(
                f"{self.name} was written by another version of winnow (store format {version}; this one knows {ours}):"
                " update winnow, or index the crawl again"
            )
        if version < ours:
            if "mode=ro" in self._address:
                raise StoreError(
                    f"{self.name} was written by an older winnow (store format {version}; this one has {ours}), and"
                    " cannot be written here: open it once where it can be written, which brings it up to date"
                )
            with self.writing() as db:
                migrate(db)


def create_file(path: Path, name: str, scheme: Scheme) -> None:
    """Create the file of an empty store, unless another process does. It gets its name when it is complete."""
    if not path.parent.is_dir():
        raise StoreError(f"{name} cannot be created: there is no folder {path.parent}")
    hidden = path.with_name(f".{path.name}.new")
    try:
        with _only_creator(path.parent), reporting_sqlite_errors(name, writing=True):
            if os.path.lexists(path):
                return
            _remove_database(hidden)  # left by a process that was killed
            try:
                _fill(hidden, scheme)
                hidden.rename(path)
                sync_folder(path.parent)
            finally:
                _remove_database(hidden)
    except OSError as error:
        raise StoreError(f"{name} cannot be created: {error.strerror}") from None


@contextmanager
def _only_creator(folder: Path) -> Iterator[None]:
    """Wait until no other process creates a store in this folder. The lock of the folder leaves no file behind."""
    with ExitStack() as stack:
        with suppress(OSError):  # some network file systems do not support locks
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            flock(descriptor, LOCK_EX)
        yield


def _fill(path: Path, scheme: Scheme) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        # The page size comes first, because it is fixed when the first page is written.
        db.executescript(
            f"PRAGMA page_size = {PAGE_SIZE}; PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = WAL;"
            f"PRAGMA synchronous = FULL; PRAGMA application_id = {APPLICATION_ID};"
        )
        with _transaction(db, "BEGIN IMMEDIATE"):
            _execute_all(db, sqlite_schema.tables())
            db.execute(f"PRAGMA user_version = {sqlite_schema.current_format()}")
            description = written(scheme)
            row = description.id, json.dumps(description.choices), int(description.keyed)
            db.execute("INSERT INTO scheme VALUES (?, ?, ?, ?)", (*row, row_checksum(*row)))


def _remove_database(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def remove_if_empty(path: Path) -> None:
    """Delete the file of a store without pages, unless another connection has it open."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=0)) as db:
        db.isolation_level = None
        db.execute("PRAGMA journal_mode = DELETE")  # fails if there is another connection
        try:
            with _transaction(db, "BEGIN EXCLUSIVE"):
                if db.execute("SELECT 1 FROM page LIMIT 1").fetchone() is None:
                    path.unlink()
        finally:
            if path.exists():
                db.execute("PRAGMA journal_mode = WAL")


def migrate(db: sqlite3.Connection) -> None:
    """Bring a file to the current format, in a transaction of the caller."""
    # The format is read again: another process may have migrated the file while this one waited for its turn.
    before = format_of(db)
    for script in sqlite_schema.MIGRATIONS[before - 1 :]:
        _execute_all(db, script)
    _add_missing_columns(db)
    db.execute(f"PRAGMA user_version = {sqlite_schema.current_format()}")


def _add_missing_columns(db: sqlite3.Connection) -> None:
    """Add the optional columns of newer records. Stored pages have no values in them."""
    for table, fields in sqlite_schema.FIELDS_OF.items():
        known = {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}
        for field in fields:
            if field.optional and field.name not in known:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {sqlite_schema.column(field)}")


def _execute_all(db: sqlite3.Connection, script: str) -> None:
    """Execute a script in the transaction of the caller, which `executescript` would commit."""
    for statement in _statements(script):
        db.execute(statement)


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def format_of(db: sqlite3.Connection) -> int:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version


@contextmanager
def _transaction(db: sqlite3.Connection, begin: str) -> Iterator[None]:
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:  # not committed; after some errors SQLite has rolled back by itself
            db.execute("ROLLBACK")


def check_file(path: Path, name: str) -> None:
    """Raise StoreError if the file is not a store, before anything is written to it."""
    if path.is_file() and _has_our_id(path):
        return
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise StoreError(f"{name} is a folder, but a store is a file: name a file in it")
        if not stat.S_ISREG(mode):  # opening a FIFO would wait for a writer
            raise StoreError(f"{name} is {_special_file(mode)}, but a store is a regular file: name another")
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
    except FileNotFoundError:
        raise StoreError(f"there is no store {name}: index a crawl into it first, or check the name") from None
    except OSError as error:
        raise StoreError(f"{name} cannot be read: {error.strerror}") from None
    if not header:
        raise StoreError(f"{name} is an empty file, not a store: remove it, or name another file")
    if header[68:72] != APPLICATION_ID.to_bytes(4, "big") or not header.startswith(b"SQLite format 3\0"):
        kind = "another SQLite database" if header.startswith(b"SQLite format 3\0") else "another kind of file"
        raise StoreError(f"{name} is {kind}, not a store: name another file")


def _has_our_id(path: Path) -> bool:
    """Return whether SQLite finds our application id in the file, or cannot tell, because it is being written.

    Only SQLite may open a store. On POSIX, closing a file drops all locks of this process on it, even those of other
    connections; only SQLite avoids that. Another process would then take the store for unused and remove its log: the
    connections would read old pages, and their commits would be lost.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            found: tuple[int] = db.execute("PRAGMA application_id").fetchone()
            return found == (APPLICATION_ID,)
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT


def _special_file(mode: int) -> str:
    kinds = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
    return kinds.get(stat.S_IFMT(mode), "a special file")


def address(path: Path) -> str:
    """Return the URI with which SQLite opens a file: for writing if the permissions of file and folder allow that."""
    effective = os.access in os.supports_effective_ids
    uri = path.absolute().as_uri()
    folder_writable = os.access(path.parent, os.W_OK, effective_ids=effective)
    if folder_writable and os.access(path, os.W_OK, effective_ids=effective):
        return f"{uri}?mode=rw"
    # A log has to be read too, for which SQLite needs a further file. Without one, the file is complete.
    log = path.with_name(f"{path.name}-wal")
    return f"{uri}?mode=ro" if folder_writable or log.exists() else f"{uri}?mode=ro&immutable=1"


@contextmanager
def reporting_sqlite_errors(name: str, *, writing: bool = False) -> Iterator[None]:
    """Convert errors of SQLite in this context into a StoreError about the store `name`."""
    try:
        yield
    except sqlite3.Error as error:
        raise _store_error(name, error, writing=writing) from None
    except UnicodeDecodeError:  # raised for a message of SQLite that contains a damaged name
        raise damaged(name, "a name is not UTF-8") from None
    except MemoryError:
        raise StoreError(f"{name} needs more memory than there is, or is damaged") from None


def damaged(name: str, reason: str) -> StoreError:
    """Return the error for a damaged file."""
    return StoreError(f"{name} is damaged ({' '.join(reason.split())}): index the crawl again, or use a copy")


def _store_error(name: str, error: sqlite3.Error, *, writing: bool) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0)
    primary = code & 0xFF
    # While reading, SQLITE_FULL means that a damaged number asks for a page beyond the largest.
    if (primary == sqlite3.SQLITE_FULL and writing) or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return StoreError(f"there is no space left for {name}; what was stored before is intact")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"another process has been writing to {name} for {WRITE_WAIT_SECONDS:.0f} s: try again when it is done"
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        doing = "written" if writing else "read"
        return StoreError(f"{name} cannot be {doing} here ({error}): check the permissions of the file and its folder")
    if isinstance(error, sqlite3.ProgrammingError):
        return StoreError(f"{name} cannot be used: {error}")
    if primary == sqlite3.SQLITE_IOERR:
        reason = f"{error}, {error.sqlite_errorname}"
        if writing:
            return StoreError(f"{name} cannot be written ({reason}); what was stored before is intact")
        return StoreError(f"{name} cannot be read ({reason})")
    return damaged(name, str(error))
