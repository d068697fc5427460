"""The names of the fields that hold the id, the text and the rest of a row.

A field has several usual names. The first that is present and not null counts:

- the id of a row, which is the address of its page: url, uri, link, or else id, _id, doc_id, docid, document_id, docno,
  qid, uuid
- HTML: html, raw_html; html_base64 for bytes, with content_type and codings, as in the file of failed pages
- text: text, raw_content, plain_text; content, contents, body and page_content, unless they begin like HTML
  (a field that the caller names as text is text, whatever it begins like)
- the time of the capture: fetched_at, crawled_at, warc_date, timestamp, date
- title

If there is both HTML and text, the HTML counts. Fields with other names are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from opensearch_winnow.foundation.option_kinds import text as text_kind
from opensearch_winnow.foundation.options import Options, option

URL = ("url", "uri", "link")
ID = ("id", "_id", "doc_id", "docid", "document_id", "docno", "qid", "uuid")
HTML = ("html", "raw_html")
TEXT = ("text", "raw_content", "plain_text")
HTML_OR_TEXT = ("content", "contents", "body", "page_content")
BASE64 = "html_base64"
DATE = ("fetched_at", "crawled_at", "warc_date", "timestamp", "date")
TITLE = ("title",)
ADDRESS = (*URL, *ID)
CONTENT = (*HTML, BASE64, *TEXT, *HTML_OR_TEXT)
FIELDS = (*ADDRESS, *CONTENT, *DATE, *TITLE, "content_type", "codings")
NAME = text_kind("NAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNames(Options):
    """The fields that hold the id, text, title, URL and HTML of a row. One that is None is found by its usual names.

    `a.b` is the field b within the field a. The id is the address of the row; with `url`, that of rows without an id.
    The field `text` holds text, even if it begins like HTML; with `html` too, it is that of rows without HTML.
    """

    id: str | None = option(
        None,
        NAME,
        "The field with the id of a row.",
        name="id_field",
        unset="url, id or another usual name; else its file and line",
    )
    text: str | None = option(
        None,
        NAME,
        "The field with the text of a row.",
        name="text_field",
        unset="text, content or another usual name",
    )
    html: str | None = option(
        None, NAME, "The field with the HTML of a row.", name="html_field", unset="html or another usual name"
    )
    title: str | None = option(None, NAME, "The field with the title of a row.", name="title_field", unset="title")
    url: str | None = option(
        None, NAME, "The field with the URL of a row, which is its id if it has no other.", name="url_field"
    )

    @property
    def addresses(self) -> tuple[str, ...]:
        """The fields that may hold the address of a row, in the order in which they count."""
        return tuple(name for name in (self.id, self.url) if name) or ADDRESS

    @property
    def contents(self) -> tuple[str, ...]:
        """The fields that were named for the HTML or text of a row, in the order in which they count."""
        return tuple(name for name in (self.html, self.text) if name)

    @property
    def titles(self) -> tuple[str, ...]:
        """The fields that may hold the title of a row, in the order in which they count."""
        return (self.title,) if self.title else TITLE

    def columns(self, present: Collection[str], *more: str) -> list[str]:
        """Return the columns that are read of those `present`, with the columns of the fields `more`."""
        chosen = [name for name in (self.id, self.title, self.url, *self.contents, *more) if name]
        wanted = {*FIELDS, *chosen, *(name.partition(".")[0] for name in chosen if name not in present)}
        return [name for name in dict.fromkeys(present) if name in wanted]

    def missing(self, seen: Collection[str]) -> str:
        """Say what rows with the fields `seen` lack; an empty string if they can be read."""
        for kind in ("id", "text", "title", "url", "html"):
            name = getattr(self, kind)
            if name and name not in seen and name.partition(".")[0] not in seen:
                return f"no field {name}, which --{kind}-field or FieldNames({kind}=…) names"
        return "" if self.contents or self.has_content(seen) else "no field with a text"

    def has_content(self, seen: Collection[str]) -> bool:
        """Tell whether one of the fields `seen` can hold the HTML or text of a row."""
        return not set(seen).isdisjoint(self.contents or CONTENT)


class ValueNames(FieldNames):
    """The fields of rows that need neither HTML nor text: their pages are empty, and the caller reads another value."""

    __slots__ = ()

    def has_content(self, seen: Collection[str]) -> bool:  # noqa: ARG002 (any field can hold the value)
        return True


USUAL = FieldNames()


def value_at(fields: Mapping[str, object], name: str) -> object:
    """Return the value of the field `name`, or that within another if `name` has dots; None if there is none."""
    value = fields.get(name)
    if value is None and "." in name:
        first, _, rest = name.partition(".")
        inner = fields.get(first)
        return value_at(inner, rest) if isinstance(inner, Mapping) else None
    return value
