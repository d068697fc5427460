"""Where each passage is in the one text and in the other, as in a map: the whole texts are as high as the panes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opensearch_winnow.queries.compare import Passage
from opensearch_winnow.queries.numbered_passages import NumberedPassage

DRAWN = 150  # the longest; more would be one grey block
HEIGHT = 1000  # of the map; it is 100 wide
THIN = 2


class Ribbon(NamedTuple):
    number: int
    size: str
    path: str  # as SVG draws it


def ribbons(passages: Sequence[NumberedPassage], length: int, other_length: int) -> list[Ribbon]:
    """The longest first, so that the short ones lie above them."""
    longest = sorted(passages, key=lambda each: each.passage.start - each.passage.end)[:DRAWN]
    return [Ribbon(each.number, each.size, _path(each.passage, length, other_length)) for each in longest]


def _path(passage: Passage, length: int, other_length: int) -> str:
    top, bottom = _heights(passage.start, passage.end, length)
    right, right_bottom = _heights(passage.other_start, passage.other_end, other_length)
    return (
        f"M0 {top:.1f}H15C50 {top:.1f} 50 {right:.1f} 85 {right:.1f}H100V{right_bottom:.1f}"
        f"H85C50 {right_bottom:.1f} 50 {bottom:.1f} 15 {bottom:.1f}H0Z"
    )


def _heights(start: int, end: int, length: int) -> tuple[float, float]:
    top = HEIGHT * start / length
    return top, max(HEIGHT * end / length, top + THIN)
