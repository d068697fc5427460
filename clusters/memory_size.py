"""Sizes of memory as people write them: 2GB, 512 MB."""

from __future__ import annotations

import re

from opensearch_winnow.clusters.asked import ClusterError

UNITS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?", re.IGNORECASE)


def memory_size(written: str) -> int:
    """In bytes."""
    found = SIZE.fullmatch(written.strip())
    if not found:
        raise ClusterError(f"{written!r} is no size of memory: give megabytes or gigabytes, as in 512MB or 2GB")
    number, unit, binary = found.groups()
    exponent = "KMGT".find(unit.upper()) + 1
    return int(float(number) * (1024**exponent if binary else UNITS[unit.upper()]))
