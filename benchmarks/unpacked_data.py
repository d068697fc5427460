"""Sets of real pages, unpacked for the time of a benchmark."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus import DATA
from opensearch_winnow.mappings.record import Record
from tests.quality.corpora import manuals, public_pages, records


@contextmanager
def unpacked_data() -> Iterator[Callable[[str], Path]]:
    """A function from the name of a set to its folder, which is there until the end."""
    if not DATA.is_dir():
        raise SystemExit("this benchmark needs pages with labels, and WINNOW_DATA names no folder of them")
    with TemporaryDirectory(prefix="winnow-bench-") as place:

        def unpacked(name: str) -> Path:
            folder = Path(place, name)
            if not folder.exists():
                (archive,) = (DATA / name).glob("*.tar.xz")
                with tarfile.open(archive) as tar:
                    tar.extractall(folder, filter="data")
            return folder

        yield unpacked


def real_records() -> list[Record]:
    """Records of manuals and licences: those of WINNOW_DATA, or else those that every clone can fetch."""
    if not DATA.is_dir():
        return records(public_pages(one_in=1))
    with unpacked_data() as unpacked:
        return records(manuals(unpacked))
