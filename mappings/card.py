"""The card of a page: what a list shows of it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple


class Card(NamedTuple):
    """What is known of a capture without its text and hashes."""

    id: str
    url: str
    site: str
    crawl: str
    title: str | None
    fetched_at: datetime | None
    latest: bool  # of the captures of its URL
    text_digest: str
    fingerprint_count: int
    shingle_count: int
    sketch_count: int
    duplicate: Literal["revisit", "content", "text", "shingles"] | None
    duplicate_of: str | None
    cluster: str
