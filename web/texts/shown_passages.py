"""Splits thousands of passages into batches, each for one page of results, and chooses the text to show there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage
from opensearch_winnow.queries.spans import Span, merged_spans

MAX_PASSAGES = 300  # in a batch
MAX_PASSAGE_CHARS = 300_000  # of a batch's passages in one text, unless a single passage is longer
MAX_STRETCH_CHARS = 50_000  # of text, shared or not; the middle of a longer stretch is left out
MAX_WHOLE_TEXT_CHARS = 500_000  # of a longer text only the surroundings of its passages are shown:
CONTEXT_CHARS = 500  # on either side of a passage


class ShownPassages(NamedTuple):
    """The batch of passages shown on one page, and the numbers of the passages that the other batches begin with."""

    passages: Sequence[NumberedPassage]
    previous: int | None = None  # None: this batch is the first
    following: int | None = None  # None: this batch is the last
    first: int = 0
    last: int = 0

    @property
    def is_only(self) -> bool:
        return self.previous is None and self.following is None


def shown_passages(passages: Sequence[NumberedPassage], number: int) -> ShownPassages:
    """Return the batch with the passage of this number, or the first batch after it, or else the last batch."""
    batches = list(_split(passages))
    if not batches:
        return ShownPassages(())
    index = next((at for at, batch in enumerate(batches) if batch[-1].number >= number), len(batches) - 1)
    starts = [batch[0].number for batch in batches]
    return ShownPassages(
        batches[index],
        previous=starts[index - 1] if index else None,
        following=starts[index + 1] if index + 1 < len(batches) else None,
        first=starts[0],
        last=starts[-1],
    )


def visible_spans(text: str, spans: Sequence[Span], *, is_only: bool) -> list[Span]:
    """Return the parts of a text that a batch with the passages `spans` shows; `is_only`: there is one batch."""
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
