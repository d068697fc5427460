"""Writes a file that appears only when it is complete, and checks before the work that it can be written."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from opensearch_winnow.foundation.errors import FileError

WAIT_SECONDS = 0.02  # between two looks at whether another process is done


class BeingWrittenError(FileError):
    """A file that another process is writing."""


class Unfinished:
    """A file or folder that is being written under a hidden name, `path`, and is locked until it is at its target.

    If it is neither committed nor discarded, it is removed when it is garbage-collected: Ctrl-C may come before the
    caller has it, while a function returns it, say.
    """

    path: Path
    target: Path
    _unfinished = False
    _descriptor = -1

    def discard(self) -> None:
        """Remove what was written, unless another process is writing it. Does nothing when it is committed."""
        if self._unfinished:
            with suppress(BeingWrittenError, FileNotFoundError):
                if self._descriptor < 0:  # Ctrl-C came when it had just been made
                    self._descriptor = os.open(self.path, os.O_RDONLY)
                self._lock()
                shutil.rmtree(self.path, ignore_errors=True) if self.path.is_dir() else self.path.unlink()
        self._release()

    def __del__(self) -> None:
        if self._unfinished:
            self.discard()

    def _lock(self) -> None:
        lock(self._descriptor, self.target)
        # Between our open and our lock, another process may have committed this very file.
        if not self.path.exists() or os.fstat(self._descriptor).st_ino != self.path.stat().st_ino:
            raise being_written(self.target)

    def _release(self) -> None:
        # The descriptor is forgotten before it is closed: Ctrl-C in between must not let it be closed twice.
        descriptor, self._descriptor, self._unfinished = self._descriptor, -1, False
        if descriptor >= 0:
            os.close(descriptor)


class AtomicFile(Unfinished):
    """A file that is written under a hidden name, `path`, beside its target and then replaces the target at once.

    The hidden name is always the same for a target, so the next process overwrites what a killed one has left. While
    one process writes, a second one is refused; with `alone`, the caller guarantees that there is none.
    """

    def __init__(self, target: Path, suffix: str = "new", *, alone: bool = False) -> None:
        check_target(target)
        self.target = target
        self.path = target.with_name(f".{target.name}.{suffix}")
        if alone:  # an earlier one that Ctrl-C interrupted may still be open, and written when it is garbage-collected
            self.path.unlink(missing_ok=True)
        try:
            self._unfinished = True
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            if not alone:
                self._lock()
            os.truncate(self._descriptor, 0)
        except BaseException:  # Ctrl-C, too
            self.discard()
            raise

    def commit(self) -> None:
        """Replace the target with the file, and sync it to disk. Calling this again does nothing."""
        if self.path.exists():
            os.fsync(self._descriptor)
            if self.target.exists():
                shutil.copymode(self.target, self.path)
            self.path.replace(self.target)
            sync_folder(self.target.parent)
        self._release()


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield the hidden path of a file that replaces `target` when the block ends without an error."""
    with reporting_os_errors(target):
        atomic = AtomicFile(target)
    try:
        yield atomic.path
        with reporting_os_errors(target):
            atomic.commit()
    finally:
        atomic.discard()


def lock(descriptor: int, target: Path) -> None:
    """Take the lock of `descriptor`, or raise if another process has it. It is released when the process ends."""
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise being_written(target) from None
    except OSError:
        pass  # some network file systems do not support locks


def wait_for_file(target: Path, seconds: float) -> AtomicFile:
    """Return the atomic file of `target`; wait up to `seconds` while other processes write it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return AtomicFile(target)
        except BeingWrittenError:
            if time.monotonic() > deadline:
                raise
        time.sleep(WAIT_SECONDS)


def check_output(target: Path, *, overwrite: bool) -> None:
    """Raise an error if no file can be written at `target`, or if a file is there that must not be replaced."""
    check_target(target)
    check_parent(target)
    if target.exists() and not overwrite:
        raise already_there(target)


def check_target(target: Path) -> None:
    """Raise an error if `target` is something that must not be replaced: /dev/null, say, is the whole machine's."""
    if target.is_dir():
        raise FileError(f"{target} is a folder; name a file in it")
    if target.exists() and not target.is_file():
        raise FileError(f"{target} is not a regular file; name another")


def check_parent(target: Path) -> None:
    """Raise an error if there is no folder for `target`."""
    if not target.absolute().parent.is_dir():
        raise FileError(f"{target} cannot be written: there is no folder {target.parent}")


def already_there(target: object) -> FileError:
    return FileError(f"{target} exists; name another, or add --overwrite (overwrite=True) to replace it")


def being_written(target: Path) -> FileError:
    return BeingWrittenError(f"{target} is being written by another process; wait for it, or name another file")


def sync_folder(folder: Path) -> None:
    """Sync a folder to disk: only then does the name of a new file survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def reporting_os_errors(target: Path) -> Iterator[None]:
    """Raise a FileError instead of an OSError about writing `target`."""
    try:
        yield
    except OSError as error:
        raise cannot_be_written(target, error) from None


def cannot_be_written(target: Path, error: Exception) -> FileError:
    errno = error.errno if isinstance(error, OSError) else None
    return FileError(f"{target} cannot be written: {os.strerror(errno) if errno else str(error).splitlines()[0]}")
