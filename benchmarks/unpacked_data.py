"""Sets of real pages, unpacked for the time of a benchmark."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus import DATA


@contextmanager
def unpacked_data() -> Iterator[Callable[[str], Path]]:
    """A function from the name of a set to its folder, which is there until the end."""
    if not DATA.is_dir():
        raise SystemExit(f"this benchmark needs the real data at {DATA} (or WINNOW_DATA)")
    with TemporaryDirectory(prefix="winnow-bench-") as place:

        def unpacked(name: str) -> Path:
            folder = Path(place, name)
            if not folder.exists():
                (archive,) = (DATA / name).glob("*.tar.xz")
                with tarfile.open(archive) as tar:
                    tar.extractall(folder, filter="data")
            return folder

        yield unpacked
