"""Where a clustering keeps what it works with."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opensearch_winnow.clusters.asked import ClusterError


@contextmanager
def work_folder(work: str | None, output: str | None) -> Iterator[Path]:
    """A new folder in the one that is named, else beside the output, else where the system has such things."""
    beside = output if output and "://" not in output else None  # Spark's may be on another machine
    place = Path(work) if work else Path(beside).parent if beside else Path(tempfile.gettempdir())
    folder = None
    try:
        try:
            folder = Path(tempfile.mkdtemp(prefix=".winnow-clusters-", dir=place.resolve()))
        except OSError as error:
            raise ClusterError(f"the folder {place} cannot be used to work in: {error.strerror}") from None
        yield folder
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
