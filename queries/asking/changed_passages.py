"""The passages removed from a text, and the passages added to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparer, TextRun, side
from opensearch_winnow.queries.spans import Span, merged_spans

WORDS = re.compile(r"\w(?:.*\w)?", re.DOTALL)  # from the first letter or digit to the last
WORD_START, WORD_END = re.compile(r"\w*\Z"), re.compile(r"\w*")  # the part of a word before, and after, an offset in it
MAX_WORD_CHARS = 100  # of either part; a longer word is cut
SHORTEST_RUNS = 1  # the window that finds every shared run of k characters


def changed_passages(
    before: str, after: str, scheme: Scheme, *, name: str | None = None
) -> tuple[list[TextRun], list[TextRun]]:
    """Return the runs of words that are only in `before`, and only in `after`. Text that moved is in neither list."""
    one, other = (side(text, scheme, name=name) for text in (before, after))
    passages, _ = Comparer(scheme).passages(one, other, window=SHORTEST_RUNS)
    removed = _between(before, ((each.start, each.end) for each in passages))
    added = _between(after, ((each.other_start, each.other_end) for each in passages))
    return list(removed), list(added)


def _between(text: str, shared: Iterable[Span]) -> Iterator[TextRun]:
    """Yield the runs of whole words that are not, or not entirely, within these spans."""
    edges = [0, *(edge for span in merged_spans(shared) for edge in span), len(text)]
    runs = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if words := WORDS.search(text, start, end):
            runs.append(_whole_words(text, words.start(), words.end()))
    for start, end in merged_spans(runs):
        yield TextRun(start, end, text[start:end])


def _whole_words(text: str, start: int, end: int) -> Span:
    before = WORD_START.search(text, max(start - MAX_WORD_CHARS, 0), start)
    after = WORD_END.match(text, end, end + MAX_WORD_CHARS)
    return before.start() if before else start, after.end() if after else end
