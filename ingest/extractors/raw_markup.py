"""Handles markup that is not parsed with the page: in `template` and in `noframes`."""

from __future__ import annotations

import re
from collections.abc import Callable

from opensearch_winnow.ingest.canonical_link import MAX_URL_CHARS
from opensearch_winnow.ingest.extractors import Extracted

Read = Callable[[bytes], tuple[str, str, str, str, str]]
"""Takes HTML; returns its text, its title, the markup in its `noframes`, its canonical link, and its base."""

# A template with a shadow root is rendered where it stands. All others are for scripts.
TEMPLATE = re.compile(rb"<(?:template(?=[\s/>])(?![^<>]*\bshadowrootmode\b)|(/)template(?=[\s/>]))", re.IGNORECASE)


def read_page(read: Read, html: bytes) -> Extracted:
    """Extract the text of a page, then of its `noframes`, which is the only text of old pages with frames.

    A `noframes` within a `noframes` is ignored, or a page could take for ever.
    """
    text, title, noframes, *links = read(without_templates(html))
    if noframes:
        text = "\n".join(filter(None, (text, read(noframes.encode())[0])))
    # Contents are kept in memory by the size of their texts: they must not have links of any length.
    canonical, base = (link if len(link) <= MAX_URL_CHARS else "" for link in links)
    return Extracted(text, title or None, canonical, base)


def without_templates(html: bytes) -> bytes:
    """Rename the templates of a page to an element that no parser looks into. If one is not closed, change nothing.

    Parsers look into `template`, and libxml2 does not see its end while a `div` is open in it: skipping it by name
    would skip the rest of the page.
    """
    if b"<template" not in html and b"<TEMPLATE" not in html:
        return html
    depth = 0

    def renamed(tag: re.Match[bytes]) -> bytes:
        nonlocal depth
        if not tag[1]:
            depth += 1
            return b"<noembed" if depth == 1 else b"<inner"
        if depth == 0:
            return tag[0]
        depth -= 1
        return b"</inner" if depth else b"</noembed"

    without = TEMPLATE.sub(renamed, html)
    return html if depth else without
