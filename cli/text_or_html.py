"""From a file that is text or HTML to the text that a reader sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opensearch_winnow.cli.text_file import STDIN, FileError, decoded, read_bytes

if TYPE_CHECKING:
    from opensearch_winnow.ingest.page_record import Recipe

ENDINGS = (".html", ".htm", ".xhtml")
# White space, byte order marks, and the zeros of UTF-16 between them.
BEFORE_MARKUP = b" \t\r\n\f\xef\xbb\xbf\xfe\xff\0"


def looks_like_html(content: bytes, name: str) -> bool:
    """By its name, or because it begins with a tag."""
    return name.lower().endswith(ENDINGS) or content.lstrip(BEFORE_MARKUP).startswith(b"<")


def read_text_or_html(name: str) -> tuple[str | None, bytes | None]:
    """The text of a UTF-8 file, or the bytes of an HTML file, whose encoding is for others to find."""
    content = read_bytes(name)
    if looks_like_html(content, name):
        return None, content
    return decoded(content, name), None


def visible_text(name: str, recipe: Recipe) -> str:
    """What a reader sees of the file: a text as it is, and HTML as a page that is indexed by this recipe."""
    text, html = read_text_or_html(name)
    if html is None:
        return text or ""
    # A tenth of a second, which a text need not wait for.
    from opensearch_winnow.ingest.page import Page  # noqa: PLC0415
    from opensearch_winnow.ingest.page_record import RecordMaker  # noqa: PLC0415
    from opensearch_winnow.mappings.record import Record  # noqa: PLC0415

    made = RecordMaker(recipe).make(Page(name, html=html))
    if isinstance(made, Record):
        return made.text
    shown = "what was piped in" if name == STDIN else name
    raise FileError(f"{shown} is HTML that has no text to compare: {made.reason}")
