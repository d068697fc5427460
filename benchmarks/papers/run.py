"""A run of a paper's experiments: its size, and the real pages that they use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from benchmarks.corpus import DATA
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from tests.public_pages import LUCENE, javadoc
from tests.quality.corpora import MANUALS, Unpacked, digest, html_pages, manuals, public_pages, records


class PageSource(NamedTuple):
    """Pages by name. Every clone can download the public ones; the others are in the folder of WINNOW_DATA."""

    words: str
    pages: Callable[[Unpacked], Iterator[Page]]
    public: bool


def _unused(name: str) -> Iterator[Page]:
    raise AssertionError(name)


SOURCES = {
    "public": PageSource(
        "the pages of `whole`, but one in four of Lucene", lambda _: public_pages(one_in=4), public=True
    ),
    "whole": PageSource(
        "Javadoc in English, Chinese and Japanese, in two or three releases; licences",
        lambda _: public_pages(one_in=1),
        public=True,
    ),
    "lucene": PageSource("Javadoc of Lucene in three releases", lambda _: javadoc(*LUCENE), public=True),
    "manuals": PageSource("three manuals: PostgreSQL, SPDX, Debian", manuals, public=False),
    "postgresql": PageSource(
        "the manual of PostgreSQL in three versions",
        lambda unpacked: html_pages(unpacked(MANUALS[0][0]), MANUALS[0][1]),
        public=False,
    ),
}


@dataclass(slots=True)
class PaperRun:
    """The size of a run and its pages. A quick run uses public pages only, so it is the same on every machine."""

    quick: bool = False
    used: list[str] = field(default_factory=list)  # names of the corpora, in the order of their first use

    def has(self, name: str) -> bool:
        """Return whether a corpus can be used: a public one always, another in a full run with WINNOW_DATA."""
        return SOURCES[name].public or (not self.quick and DATA.is_dir())

    def pages(self, name: str) -> list[Page]:
        """Return the pages of a corpus, and remember that it was used. Do not change the list."""
        self._remember(name)
        return _pages(name)

    def records(self, name: str) -> list[Record]:
        """Return the records of the pages that have text, made with the default scheme. Do not change the list."""
        self._remember(name)
        return _records(name)

    def progress(self, words: str) -> None:
        """Say on standard error what is running."""
        print(f"    {words}", file=sys.stderr, flush=True)

    def corpora(self) -> Iterator[tuple[str, ...]]:
        """Yield a row for each corpus used: name, what it is, pages with text, bytes of all pages, digest."""
        for name in self.used:
            made, size = _records(name), sum(page.size for page in _pages(name))
            yield f"`{name}`", SOURCES[name].words, f"{len(made):,}", f"{size:,}", f"`{digest(made)}`"

    def _remember(self, name: str) -> None:
        if name not in self.used:
            self.used.append(name)


@cache
def _pages(name: str) -> list[Page]:
    source = SOURCES[name]
    if source.public:
        return list(source.pages(_unused))  # type: ignore[arg-type]
    with unpacked_data() as unpacked:
        return list(source.pages(unpacked))


@cache
def _records(name: str) -> list[Record]:
    return records(_pages(name))
