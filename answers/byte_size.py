"""A number of bytes, as people read it."""

from __future__ import annotations

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def byte_size(count: float) -> str:
    """1,000 bytes are a kilobyte."""
    for unit in UNITS[:-1]:
        if count < 999.5:
            return f"{count:,.0f} {unit}" if unit == "bytes" or count >= 99.95 else f"{count:,.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} {UNITS[-1]}"
