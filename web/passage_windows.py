"""Splits thousands of passages into windows, one for each page of results, and says which text each shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from opensearch_winnow.queries.numbered_passages import NumberedPassage
from opensearch_winnow.queries.spans import Span, merged_spans

MAX_PASSAGES = 300  # in a window
MAX_PASSAGE_CHARS = 300_000  # of a window's passages in one text, unless a single passage is longer
MAX_STRETCH_CHARS = 50_000  # of text, shared or not; the middle of a longer stretch is left out
MAX_WHOLE_TEXT_CHARS = 500_000  # of a longer text only the surroundings of its passages are shown:
CONTEXT_CHARS = 500  # on either side of a passage


class PassageWindow(NamedTuple):
    """The passages shown on one page, and the numbers of the passages that the other windows begin with."""

    passages: Sequence[NumberedPassage]
    previous: int | None = None  # None: this window is the first
    following: int | None = None  # None: this window is the last
    first: int = 0
    last: int = 0

    @property
    def is_only(self) -> bool:
        return self.previous is None and self.following is None


def passage_window(passages: Sequence[NumberedPassage], number: int) -> PassageWindow:
    """Return the window with the passage of this number, or the first window after it, or else the last window."""
    windows = list(_split(passages))
    if not windows:
        return PassageWindow(())
    index = next((at for at, window in enumerate(windows) if window[-1].number >= number), len(windows) - 1)
    starts = [window[0].number for window in windows]
    return PassageWindow(
        windows[index],
        previous=starts[index - 1] if index else None,
        following=starts[index + 1] if index + 1 < len(windows) else None,
        first=starts[0],
        last=starts[-1],
    )


def visible_spans(text: str, spans: Sequence[Span], *, is_only: bool) -> list[Span]:
    """Return which parts of a text a window shows that has the passages `spans`; `is_only`: there is one window."""
    if not spans or (is_only and len(text) <= MAX_WHOLE_TEXT_CHARS):
        return [(0, len(text))]
    return merged_spans((max(start - CONTEXT_CHARS, 0), min(end + CONTEXT_CHARS, len(text))) for start, end in spans)


def _split(passages: Sequence[NumberedPassage]) -> Iterator[Sequence[NumberedPassage]]:
    begin, characters = 0, 0
    for at, each in enumerate(passages):
        size = min(each.passage.end - each.passage.start, MAX_STRETCH_CHARS)
        if at > begin and (at - begin == MAX_PASSAGES or characters + size > MAX_PASSAGE_CHARS):
            yield passages[begin:at]
            begin, characters = at, 0
        characters += size
    if passages:
        yield passages[begin:]
