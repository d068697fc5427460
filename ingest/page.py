"""A page: one captured document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(slots=True)
class Page:
    """One captured document, as HTML or as text. A URL that is fetched twice is two captures, by their `fetched_at`.

    HTML in bytes is decoded as a browser would, with the help of `content_type`, which is what the server said.
    """

    url: str
    html: str | bytes | None = None
    text: str | None = None
    fetched_at: datetime | None = None  # without a time zone: UTC
    title: str | None = None  # else the one in the HTML
    content_type: str | None = None
    codings: tuple[str, ...] = ()  # that the bytes still are in, in the order they were applied: ("gzip", "chunked")
    payload_digest: str | None = None  # of the bytes as they came, in the form of WARC: "sha1:…"
    revisit_of: str | None = None  # a capture that only says: the same as that URL held before

    def __post_init__(self) -> None:
        if not self.url:
            raise ValueError("a page has a URL")
        given = [name for name in ("html", "text", "revisit_of") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a page has html or text, one of them: {self.url} has {' and '.join(given) or 'neither'}")

    @property
    def size(self) -> int:
        """Bytes, or characters where it came as these."""
        return len(self.html or self.text or "")
