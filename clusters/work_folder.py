"""The temporary folder that a clustering run works in."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opensearch_winnow.clusters.options import ClusterError, RunSettings


@contextmanager
def work_folder(settings: RunSettings) -> Iterator[Path]:
    """Create a folder, and remove it at the end.

    It is created in `settings.work`, else beside `settings.output`, else in the system's temporary folder.
    """
    output = settings.output
    is_local = output is not None and "://" not in output  # Spark may write to another machine
    if settings.work:
        parent = Path(settings.work)
    else:
        parent = Path(output).parent if output and is_local else Path(tempfile.gettempdir())
    folder = None
    try:
        try:
            folder = Path(tempfile.mkdtemp(prefix=".winnow-clusters-", dir=parent.resolve()))
        except OSError as error:
            raise ClusterError(f"cannot work in the folder {parent}: {error.strerror}") from None
        yield folder
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
