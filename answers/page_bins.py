"""What is on so many pages, put together: there are many numbers of pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping


def bins(counts: Mapping[int, int]) -> list[tuple[str, int]]:
    """Tokens by the pages they are on: 1, 2, 3–10, 11–30, 31–100 and so on, up to the last that has any."""
    edges = [1, 2]
    most = max(counts, default=0)
    while edges[-1] < most:
        edges.append(10 if edges[-1] == 2 else edges[-1] * 3 if str(edges[-1])[0] == "1" else edges[-1] // 3 * 10)
    ends = edges if most else []
    found: Counter[int] = Counter()
    for on, tokens in counts.items():
        found[next(end for end in ends if on <= end)] += tokens
    starts = [1, *(end + 1 for end in ends)]
    shown = [
        (f"{start:,}" if start == end else f"{start:,}–{end:,}", end) for start, end in zip(starts, ends, strict=False)
    ]
    while shown and not found[shown[-1][1]]:
        shown.pop()
    return [(label, found[end]) for label, end in shown]
