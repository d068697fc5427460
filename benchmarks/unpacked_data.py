"""Unpacks sets of real pages for the time of a benchmark."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus import DATA
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from tests.quality.corpora import manuals, public_pages, records


@contextmanager
def unpacked_data() -> Iterator[Callable[[str], Path]]:
    """Yield a function that unpacks a set by name and returns its folder. The folders are removed at the end."""
    if not DATA.is_dir():
        raise SystemExit("this benchmark needs labelled pages: set WINNOW_DATA to their folder")
    with TemporaryDirectory(prefix="winnow-bench-") as top:

        def unpacked(name: str) -> Path:
            folder = Path(top, name)
            if not folder.exists():
                (archive,) = (DATA / name).glob("*.tar.xz")
                with tarfile.open(archive) as tar:
                    tar.extractall(folder, filter="data")
            return folder

        yield unpacked


def real_records(share: float = 1.0) -> list[Record]:
    """Return records of manuals and licences from WINNOW_DATA, or from public pages that are downloaded."""
    if DATA.is_dir():
        with unpacked_data() as unpacked:
            found = records(manuals(unpacked))
    else:
        found = records(public_pages(one_in=1))
    return found[:: max(1, min(500, round(1 / share)))]


def page_of(record: Record) -> Page:
    return Page(record.url, text=record.text, title=record.title)
