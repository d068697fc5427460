"""A card for tests of lists, and the control characters that no list may contain."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from opensearch_winnow.mappings.card import Card

MILL = "http://example.org/mill"
CONTROL_CHARACTERS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

card = Card(
    id="0" * 32,
    url=MILL,
    site="example.org",
    crawl="",
    title="The mill",
    fetched_at=datetime(2024, 3, 1, tzinfo=UTC),
    latest=True,
    text_digest="",
    fingerprint_count=3,
    shingle_count=100,
    sketch_count=4,
    duplicate=None,
    duplicate_of=None,
    cluster="0" * 32,
)
