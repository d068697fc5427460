"""Defines the card of a capture, which lists show, and its entry, which indexes of web archives are made from."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from opensearch_winnow.foundation.answer_keys import with_keys
from opensearch_winnow.mappings.archive_location import ArchiveLocation


@with_keys("id", "url", "title", "site", "fetched_at")
class Card(NamedTuple):
    """The metadata of a capture, without its text and hashes."""

    id: Annotated[str, "The id of the capture."]
    url: Annotated[str, "The URL of the page."]
    site: Annotated[str, "The host of the URL."]
    crawl: Annotated[str, "The name of the crawl."]
    title: Annotated[str | None, "The title of the page."]
    fetched_at: Annotated[datetime | None, "The time of the capture; null if it is unknown."]
    latest: bool  # whether it is the latest capture of its URL
    text_digest: str
    fingerprint_count: int
    shingle_count: int
    sketch_count: int
    duplicate: Annotated[
        Literal["revisit", "content", "text", "shingles"] | None,
        "How it equals an earlier page: the archive says so (revisit), or its bytes (content), its text or its shingles"
        " are equal; null if it equals none.",
    ]
    duplicate_of: str | None
    cluster: str
    canonical: str | None = None  # the URL that the page names with `<link rel="canonical">`


class CaptureEntry(NamedTuple):
    """A card with the digests of the capture and its location in a web archive."""

    card: Card
    payload_digest: str | None
    content_digest: str
    source: ArchiveLocation | None
