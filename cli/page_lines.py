"""The lines of a table of pages: any cells, then the URL and the title of each page, shortened to fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from opensearch_winnow.answers.display_text import Span, one_line, shorten, shorten_middle, width
from opensearch_winnow.cli.short_urls import ShortUrls, short_urls
from opensearch_winnow.cli.text_columns import GAP

MIN_TITLE_COLUMNS = 20  # fewer show too little of a title or URL to be useful
MIN_CUT_URL_COLUMNS = 40  # a URL that would be cut to fewer gets a line of its own


class HasTitle(Protocol):
    """Anything with the URL and title of a page: a card, or a finding of a watch."""

    @property
    def url(self) -> str: ...
    @property
    def title(self) -> str | None: ...


def page_lines(
    head: str, cells: Sequence[str], pages: Sequence[HasTitle], columns: int, *, name: str = "page", full: bool = False
) -> Iterator[list[Span]]:
    """Yield the heading and a line for each page: its cells, URL and title.

    `head` and `cells` are padded to the same width. `name` is the heading of the URLs, which are not shortened if
    `full`. If there is too little room for the URLs, each gets a line of its own.
    """
    room = columns - width(head) - len(GAP)
    urls = [page.url for page in pages]
    shown = _urls(urls, max(room, MIN_TITLE_COLUMNS), full=full)
    cut = shown.cut or width(_page_head(name, shown.folder)) > room
    below = room < MIN_TITLE_COLUMNS or (cut and room < MIN_CUT_URL_COLUMNS)
    if below:
        shown = _urls(urls, columns - len(GAP), full=full)
    url_columns = 0 if below else max(map(width, shown.shown), default=0) + len(GAP)
    titles = _titles(pages, room - url_columns)
    page_head = "" if room < MIN_TITLE_COLUMNS else shorten_middle(_page_head(name, shown.folder), room)
    yield [(GAP.join([head, page_head]).rstrip(), "bold")]
    for cell, url, title in zip(cells, shown.shown, titles, strict=True):
        line = cell + GAP
        if not below:
            line += url + " " * (url_columns - width(url) if title else 0)
        yield [(line, "plain"), (title, "dim")] if title else [(line.rstrip(), "plain")]
        if below:
            yield [(GAP + url, "plain")]


def _urls(urls: Sequence[str], columns: int, *, full: bool) -> ShortUrls:
    return ShortUrls([one_line(url).strip() for url in urls]) if full else short_urls(urls, columns)


def _page_head(name: str, folder: str) -> str:
    return f"{name}, … is {folder}" if folder else name


def _titles(pages: Sequence[HasTitle], room: int) -> Sequence[str]:
    if room < MIN_TITLE_COLUMNS:
        return [""] * len(pages)
    return [shorten(one_line(page.title or "").strip(), room) for page in pages]
