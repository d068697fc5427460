"""The page: one captured document."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.written_time import can_be_date, written_time

if TYPE_CHECKING:
    from datetime import datetime

    from opensearch_winnow.mappings.archive_location import ArchiveLocation


@dataclass(slots=True)
class Page:
    """One captured document, as HTML or as text. A URL that is fetched at two times has two captures.

    HTML in bytes is decoded as a browser decodes it, with the help of `content_type`, the header that the server sent.
    """

    url: str
    html: str | bytes | None = None
    text: str | None = None
    fetched_at: datetime | None = None  # taken as UTC if it has no time zone
    title: str | None = None  # by default the title in the HTML
    content_type: str | None = None
    codings: tuple[str, ...] = ()  # HTTP codings of the bytes, in the order they were applied: ("gzip", "chunked")
    payload_digest: str | None = None  # of the bytes as received, in the form of WARC: "sha1:…"
    revisit_of: str | None = None  # URL of the earlier capture that this one, which has no content, repeats
    canonical: str | None = None  # in the server's header, `Link: <…>; rel="canonical"`; one in the HTML counts first
    source: ArchiveLocation | None = field(default=None, compare=False)  # the record of a web archive it was read from
    wrong_date: str = field(default="", compare=False)  # the time that its source gives, if that cannot be right

    def __post_init__(self) -> None:
        if not self.url:
            raise ValueError("a page needs a URL")
        given = [name for name in ("html", "text", "revisit_of") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a page needs either html or text: {self.url} has {' and '.join(given) or 'neither'}")

    def with_possible_date(self) -> Page:
        """Return this page, or a copy without its time if that cannot be right."""
        if self.fetched_at is None or can_be_date(self.fetched_at):
            return self
        return replace(self, fetched_at=None, wrong_date=written_time(self.fetched_at))

    @property
    def size(self) -> int:
        """The size of the content: bytes, or characters if it came as `str`."""
        return len(self.html or self.text or "")
