"""The lenient extractor, with BeautifulSoup: 25 times slower than lxml's events.

It uses html.parser, because BeautifulSoup with lxml silently drops elements nested deeper than libxml2's limit.
"""

from __future__ import annotations

import warnings
from functools import partial

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, Tag, XMLParsedAsHTMLWarning
from bs4.element import PreformattedString

from opensearch_winnow.cython_core.visible_text import VisibleText
from opensearch_winnow.ingest.extractors import Extractor
from opensearch_winnow.ingest.extractors.raw_markup import read_page


def beautifulsoup_extractor(alt: bool) -> Extractor:
    return partial(read_page, partial(_read, alt))


def _read(alt: bool, html: bytes) -> tuple[str, str, str, str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        # Every attribute is a text: otherwise `rel` would be a list.
        soup = BeautifulSoup(html.decode("utf-8", "replace"), "html.parser", multi_valued_attributes=None)
    page = VisibleText(alt=alt)
    _tell(soup, page)
    return page.close()


def _tell(soup: BeautifulSoup, page: VisibleText) -> None:
    """Report the elements as a parser does. With a stack of our own: pages nest deeper than Python can recurse."""
    open_elements = [("", iter(soup.contents))]
    while open_elements:
        tag, children = open_elements[-1]
        for child in children:
            if isinstance(child, Tag):
                name = _name(child)
                page.start(name, child.attrs)  # type: ignore[arg-type]  # its type allows for lists
                open_elements.append((name, iter(child.contents)))
                break
            if not isinstance(child, PreformattedString):  # comments, declarations and the like
                page.data(str(child))
        else:
            open_elements.pop()
            if tag:
                page.end(tag)


def _name(tag: Tag) -> str:
    """Return the name of a tag. A `noframes` whose markup has been parsed already is a block like others."""
    parsed = tag.name == "noframes" and any(isinstance(child, Tag) for child in tag.contents)
    return "div" if parsed else tag.name
