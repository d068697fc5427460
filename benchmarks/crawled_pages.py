"""Pages as raw HTML: real pages of many kinds if WINNOW_DATA has them, otherwise Javadoc and licences."""

from __future__ import annotations

import tarfile
from functools import cache
from typing import TYPE_CHECKING

from benchmarks.corpus import DATA
from tests.quality.corpora import public_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS = ("article-extraction-benchmark", "trafilatura-eval", "wcxb-dev350", "postgresql-doc-13-15-17")


def source() -> str:
    """Return a sentence on the pages, for the note below a table."""
    real = all((DATA / name).is_dir() for name in SETS)
    return f"Pages: {'real ones of 2005 to 2026, and a manual' if real else 'Javadoc of three sites, and licences'}."


@cache
def crawled_pages(size: int) -> list[bytes]:
    """Return pages from each set in turn until they have at least `size` bytes."""
    sets = [_packed(name) for name in SETS if (DATA / name).is_dir()] or [_public()]
    pages: list[bytes] = []
    while sets and size > 0:
        for each in sets[:]:
            page = next(each, None)
            if page is None:
                sets.remove(each)
            elif size > 0:
                pages.append(page)
                size -= len(page)
    return pages


def _packed(name: str) -> Iterator[bytes]:
    (archive,) = (DATA / name).glob("*.tar.xz")
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith(".html") else None
            if file:
                yield file.read()


def _public() -> Iterator[bytes]:
    while True:
        for page in public_pages(one_in=1):
            yield page.html.encode() if isinstance(page.html, str) else page.html or b""
