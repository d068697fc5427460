"""How large a record is."""

from __future__ import annotations

import sys

from opensearch_winnow.mappings.record import Record


def size_of(record: Record) -> int:
    """About as many bytes as it takes in memory."""
    numbers = len(record.fingerprints) * 12 + (len(record.sketch) + len(record.bands)) * 8
    return sys.getsizeof(record.text) + numbers + len(record.minhash) + 1_500
