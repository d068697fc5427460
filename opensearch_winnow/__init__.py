"""Finds copies in a crawl: near-duplicate pages and quoted passages."""

from __future__ import annotations

from opensearch_winnow.errors import SchemeError, WinnowError
from opensearch_winnow.ingest.fingerprint import Fingerprints, fingerprint
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.queries.compare import Comparison, Passage, compare
from opensearch_winnow.scheme import Scheme

__version__ = "0.1.0.dev0"

__all__ = [
    "Comparison",
    "Fingerprints",
    "Page",
    "Passage",
    "Scheme",
    "SchemeError",
    "WinnowError",
    "compare",
    "fingerprint",
]
