"""Which passages, and what of the two texts, one page shows: thousands of passages are on several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from opensearch_winnow.answers.compared import Span, merged_spans
from opensearch_winnow.queries.numbered_passages import NumberedPassage

PASSAGES = 300  # on a page, at most
CHARACTERS = 300_000  # of them in one text, unless a single one has more
LONGEST = 50_000  # characters of a stretch of text, shared or not: of a longer one the middle is left out
WHOLE = 500_000  # a longer text is shown around its passages only,
AROUND = 500  # so many characters of it


class Window(NamedTuple):
    """The passages of one page, and the numbers of the first ones before and after it."""

    passages: Sequence[NumberedPassage]
    previous: int | None = None
    following: int | None = None
    first: int = 0  # that the windows begin with
    last: int = 0  # the first number of the last window

    @property
    def alone(self) -> bool:
        return self.previous is None and self.following is None


def window(passages: Sequence[NumberedPassage], number: int) -> Window:
    """The one that has the passage of this number, or else the next one; after the last, the last."""
    pages = list(_pages(passages))
    if not pages:
        return Window(())
    place = next((at for at, page in enumerate(pages) if page[-1].number >= number), len(pages) - 1)
    starts = [page[0].number for page in pages]
    return Window(
        pages[place],
        previous=starts[place - 1] if place else None,
        following=starts[place + 1] if place + 1 < len(pages) else None,
        first=starts[0],
        last=starts[-1],
    )


def shown(text: str, spans: Sequence[Span], *, alone: bool) -> list[Span]:
    """What of a text is shown, of which these passages are on the page."""
    if not spans or (alone and len(text) <= WHOLE):
        return [(0, len(text))]
    return merged_spans((max(start - AROUND, 0), min(end + AROUND, len(text))) for start, end in spans)


def _pages(passages: Sequence[NumberedPassage]) -> Iterator[Sequence[NumberedPassage]]:
    begin, characters = 0, 0
    for at, each in enumerate(passages):
        size = min(each.passage.end - each.passage.start, LONGEST)
        if at > begin and (at - begin == PASSAGES or characters + size > CHARACTERS):
            yield passages[begin:at]
            begin, characters = at, 0
        characters += size
    if passages:
        yield passages[begin:]
