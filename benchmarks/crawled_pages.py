"""HTML as it came over the wire: real pages where they are at hand, else what pydoc renders of the standard library."""

from __future__ import annotations

import pydoc
import tarfile
from functools import cache
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING

from benchmarks.corpus import DATA

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS = ("article-extraction-benchmark", "trafilatura-eval", "wcxb-dev350", "postgresql-doc-13-15-17")
MODULES = ("argparse", "ast", "asyncio", "collections", "decimal", "email.message", "http.client", "json", "pathlib")


def source() -> str:
    """One sentence for under a table."""
    real = all((DATA / name).is_dir() for name in SETS)
    return "Pages: real ones of 2005 to 2026, and a manual." if real else "Pages: of pydoc."


@cache
def crawled_pages(size: int) -> list[bytes]:
    """Pages with so many bytes in all, or a page more: from each set in turn."""
    sets = [_packed(name) for name in SETS if (DATA / name).is_dir()] or [_rendered()]
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


def _rendered() -> Iterator[bytes]:
    for number in count():
        for name in MODULES:
            yield pydoc.HTMLDoc().document(import_module(name)).encode() + b"%d" % number
