"""Spans of a text: pairs of start and end, in code points."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]


def merged_spans(spans: Iterable[Span]) -> list[Span]:
    """Merge spans that overlap or touch, and sort them."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
