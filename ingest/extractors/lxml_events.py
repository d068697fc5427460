"""The default extractor, with the events of libxml2 and without a tree: fast, and for any depth and size."""

from __future__ import annotations

from functools import partial
from time import thread_time

from lxml import etree

from opensearch_winnow.cython_core.visible_text import VisibleText
from opensearch_winnow.ingest.extractors import ExtractError, Extractor
from opensearch_winnow.ingest.extractors.raw_markup import read_page

MAX_WHOLE_BYTES = 1 << 17  # a page up to this size is parsed in one go, which is 7 % faster
PIECE = 1 << 16  # bytes of a larger one that are fed at a time
# libxml2 looks for the start of each stray end tag among all open elements: 10 MB of both could take an hour. So pieces
# get smaller with depth, and a page is given up when it takes 25 times as long as 10 MB should. A page that is parsed
# in one go takes about a second at worst.
DEEP, SMALLEST_PIECE = 500, 256
MAX_SECONDS = 5.0


def lxml_extractor(alt: bool) -> Extractor:
    """Return an extractor, for one thread at a time."""
    return partial(read_page, _LxmlReader(alt))


class _LxmlReader:
    """Uses one parser for all pages, which is 4 % faster than one for each."""

    def __init__(self, alt: bool) -> None:
        self._alt = alt
        self._renew()

    def _renew(self) -> None:
        self._page = VisibleText(alt=self._alt)
        self._parser = etree.HTMLParser(target=self._page, encoding="utf-8", huge_tree=True)

    def __call__(self, html: bytes) -> tuple[str, str, str, str, str]:
        try:
            return self._read(html.replace(b"\0", b""))  # libxml2 would make it U+FFFD; browsers drop it
        except BaseException:
            self._renew()  # an unfinished page must not become the start of the next
            raise

    def _read(self, html: bytes) -> tuple[str, str, str, str, str]:
        result: tuple[str, str, str, str, str]
        if len(html) <= MAX_WHOLE_BYTES:
            result = etree.fromstring(html, self._parser)
            return result
        start, at, size = thread_time(), 0, PIECE
        while at < len(html):
            self._parser.feed(html[at : at + size])
            at += size
            if thread_time() - start > MAX_SECONDS:
                raise ExtractError(f"more than {MAX_SECONDS:g} s for a page")
            size = max(SMALLEST_PIECE, PIECE * DEEP // max(DEEP, self._page.depth))
        result = self._parser.close()
        return result
