"""Makes snippets: the part of a page's text that has the words of a search, with these words marked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from opensearch_winnow.cython_core.phrase_offsets import phrase_offsets
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.store import Hit

SNIPPET_CHARS = 200  # two lines of a terminal
LEADING_CHARS = 40  # of the snippet before the first marked word
PROSE_CHARS = 60  # a line at least this long is prose: headings and links of the navigation are shorter
MAX_SPANS = 200  # of a word that are considered
MAX_TEXT_CHARS = 1_000_000  # of a text that are searched
SNAP_CHARS = 20  # within which the start and end of a snippet move to the boundary of a word
SPACE = re.compile(r"\s")

Mark = tuple[int, int]  # start and end, in code points
PhraseSpan = tuple[int, int, int]  # start, end, index of the phrase


class Snippet(NamedTuple):
    """A part of a text, with the words marked."""

    text: str
    marks: list[Mark]  # positions in `text`, in order and without overlaps


def hit_of(card: Card, score: float, text: str, words: Words) -> Hit:
    """Return a page as a hit, with a snippet of its `text`."""
    extract = snippet(text, words)
    return Hit(card, score, extract.text, extract.marks, marks(card.title or "", words))


def snippet(text: str, words: Words) -> Snippet:
    """Return about SNIPPET_CHARS characters as one line, where the words are densest; the start if there are none."""
    text = text[:MAX_TEXT_CHARS]
    spans = _spans(text, words)
    densest = _densest(text, spans)
    start = max(densest - LEADING_CHARS, 0)
    if _is_prose(text, densest):
        start = max(start, _line(text, densest)[0])  # the lines above are seldom part of the sentence
    end = start + SNIPPET_CHARS
    if end >= len(text):
        start, end = max(len(text) - SNIPPET_CHARS, 0), len(text)
    start, end = _start_of_word(text, start), _end_of_word(text, end)
    before, after = "… " if start else "", " …" if end < len(text) else ""

    def line(until: int) -> str:
        return before + " ".join(text[start:until].split())

    marked = _without_overlaps(span for span in spans if start <= span[0] and span[1] <= end)
    return Snippet(
        line(end) + after,
        # Measured with the first character of the mark, then minus one: otherwise `split` drops the space before it.
        [(len(line(first + 1)) - 1, len(line(last))) for first, last in marked],
    )


def _start_of_word(text: str, offset: int) -> int:
    """Return the next start of a word, or the last before `offset`; `offset` itself if none is near."""
    starts = [space.end() for space in SPACE.finditer(text, max(offset - SNAP_CHARS, 0), offset + SNAP_CHARS)]
    if offset <= SNAP_CHARS:
        starts.insert(0, 0)
    return next((start for start in starts if start >= offset), starts[-1] if starts else offset)


def _end_of_word(text: str, offset: int) -> int:
    """Return the last end of a word before `offset`, or the next; `offset` itself if none is near."""
    ends = [space.start() for space in SPACE.finditer(text, max(offset - SNAP_CHARS, 0), offset + SNAP_CHARS)]
    if offset >= len(text) - SNAP_CHARS:
        ends.append(len(text))
    return next((end for end in reversed(ends) if end <= offset), ends[0] if ends else offset)


def marks(text: str, words: Words) -> list[Mark]:
    """Return the marks of the words in a whole text, such as a title: in order and without overlaps."""
    return _without_overlaps(_spans(text[:MAX_TEXT_CHARS], words))


def _spans(text: str, words: Words) -> list[PhraseSpan]:
    return phrase_offsets(text, _phrases_and_prefixes(words), max_per_phrase=MAX_SPANS)


@lru_cache(maxsize=8)  # the hits of a search have the same words
def _phrases_and_prefixes(words: Words) -> list[tuple[tuple[str, ...], bool]]:
    """Return the wanted phrases, and the wanted prefixes, which are marked with True."""
    wanted = [phrase for alternatives in phrases(words).wanted for phrase in alternatives]
    whole = {phrase.words: False for phrase in wanted if phrase.words}
    return [*whole.items(), *{(phrase.prefix,): True for phrase in wanted if phrase.prefix}.items()]


def _densest(text: str, spans: list[PhraseSpan]) -> int:
    """Return the first start from which a snippet has the most distinct phrases, in prose if it can be."""
    starts = [start for start, _, _ in spans]
    phrase_count = len({phrase for _, _, phrase in spans})
    best_start, best = 0, (0, False)
    for index, start in enumerate(starts):
        within = spans[index : bisect_right(starts, start + SNIPPET_CHARS - 2 * LEADING_CHARS)]
        count = len({phrase for _, _, phrase in within})
        if count < best[0] or (count == best[0] and best[1]):
            continue
        found = count, _is_prose(text, start)
        if found > best:
            best_start, best = start, found
        if best == (phrase_count, True):
            break
    return best_start


def _is_prose(text: str, offset: int) -> bool:
    """Return whether the line at `offset` is a sentence rather than a heading or a link of the navigation."""
    start, end = _line(text, offset)
    return end - start >= PROSE_CHARS


def _line(text: str, offset: int) -> tuple[int, int]:
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end


def _without_overlaps(spans: Iterable[PhraseSpan]) -> list[Mark]:
    """Drop spans that overlap an earlier one. Of spans with the same start, keep the longest."""
    result: list[Mark] = []
    for start, end in sorted(((start, end) for start, end, _ in spans), key=lambda mark: (mark[0], -mark[1])):
        if not result or start >= result[-1][1]:
            result.append((start, end))
    return result
