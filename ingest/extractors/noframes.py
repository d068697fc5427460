"""What stands in `noframes`, which parsers leave as it is: the only text of old pages that are made of frames."""

from __future__ import annotations

from collections.abc import Callable

from opensearch_winnow.ingest.extractors import Extracted

Read = Callable[[bytes], tuple[str, str, str]]
"""From HTML to its text, its title, and the markup in its `noframes`."""


def with_noframes(read: Read, html: bytes) -> Extracted:
    """What is read from the page, then from its `noframes`; not from those in there, or a page could take for ever."""
    text, title, noframes = read(html)
    if noframes:
        text = "\n".join(filter(None, (text, read(noframes.encode())[0])))
    return Extracted(text, title or None)
