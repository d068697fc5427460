"""Pages as raw HTML: real pages of many kinds if WINNOW_DATA has them, otherwise Javadoc and licences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from benchmarks.corpus import DATA, MANUAL, packed
from tests.quality.corpora import public_pages

SETS = ("article-extraction-benchmark", "trafilatura-eval", "wcxb-dev350", MANUAL)


def source() -> str:
    """Return a sentence on the pages, for the note below a table."""
    real = all((DATA / name).is_dir() for name in SETS)
    return f"Pages: {'real ones of 2005 to 2026, and a manual' if real else 'Javadoc of three sites, and licences'}."


@cache
def crawled_pages(size: int) -> list[bytes]:
    """Return pages from each set in turn until they have at least `size` bytes, or all."""
    sets = [packed(name) for name in SETS if (DATA / name).is_dir()] or [public_html()]
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


def public_html() -> Iterator[bytes]:
    for page in public_pages(one_in=1):
        yield page.html.encode() if isinstance(page.html, str) else page.html or b""
