"""The temporary folder that a clustering run works in."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from opensearch_winnow.clusters.options import ClusterError, RunSettings

PREFIX = ".winnow-clusters-"
MIN_AGE_SECONDS = 60  # of an unlocked folder to remove: a younger one may be about to be locked


@contextmanager
def work_folder(settings: RunSettings) -> Iterator[Path]:
    """Create a folder, and remove it at the end, with the folders that killed runs have left beside it.

    It is created in `settings.work`, else beside `settings.output`, else in the system's temporary folder.
    """
    output = settings.output
    is_local = output is not None and "://" not in output  # Spark may write to another machine
    if settings.work:
        parent = Path(settings.work)
    else:
        parent = Path(output).parent if output and is_local else Path(tempfile.gettempdir())
    folder, descriptor = None, -1
    try:
        try:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent.resolve()))
            descriptor = os.open(folder, os.O_RDONLY)
        except OSError as error:
            raise ClusterError(f"cannot work in the folder {parent}: {error.strerror}") from None
        with suppress(OSError):  # some network file systems do not support locks; then nothing is removed there
            flock(descriptor, LOCK_EX | LOCK_NB)  # until the process ends, in whatever way
        _remove_abandoned(folder.parent)
        yield folder
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if descriptor >= 0:
            os.close(descriptor)


def full(folder: Path) -> ClusterError:
    """Return the error for a disk that is full. It names the folder that the user chose, not those within it."""
    while folder.name.startswith(PREFIX):
        folder = folder.parent
    return ClusterError(f"the disk of the work folder {folder} is full: free some space, or name another with --work")


def _remove_abandoned(parent: Path) -> None:
    """Remove the work folders of runs that were killed, which no process has locked."""
    for folder in [each for each in parent.iterdir() if each.name.startswith(PREFIX)]:
        with suppress(OSError), ExitStack() as stack:  # it is locked, or another user's
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            stack.callback(os.close, descriptor)
            flock(descriptor, LOCK_EX | LOCK_NB)
            if time.time() - os.fstat(descriptor).st_mtime > MIN_AGE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
