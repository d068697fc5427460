"""The few words that tell two texts apart: the most telling runs that only one of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from heapq import nlargest
from itertools import accumulate, pairwise
from typing import Annotated, NamedTuple

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.answers import Answer, Listing, answer, inlined, key, listed
from opensearch_winnow.queries.spans import Span

CONTEXT_WORDS = 3  # a word is in both texts if both have it within the same run of this many words
MAX_RUNS_NAMED = 3  # of each text
SHORT_WORD_CHARS = 3  # words up to this length are mostly "the" and "of"
# A name weighs more than another word, a bare number less, and a word of only one text more than a word of both.
NAME_WEIGHT, SHORT_WORD_WEIGHT, ONLY_HERE_WEIGHT = 3.0, 0.3, 4.0
ELLIPSIS, BETWEEN = "…", " … "

Trigram = tuple[str, str, str]


class FewWords(NamedTuple):
    """Words that only one of two texts has; either is empty if the text has nothing of its own."""

    removed: Annotated[str, "Words that only A has."]
    added: Annotated[str, "Words that only B has."]


@answer
class PageDifference(Answer):
    """The words that tell a page from another one."""

    id: str = key("The id of the other page.")
    words: FewWords = inlined()


@answer
class PageDifferences(Listing[PageDifference]):
    """The words that tell a page from others, in a few words each."""

    differences: list[PageDifference] = listed("One for each page whose text is stored.")


def few_words(a: str, b: str, *, limit: int = 60) -> FewWords:
    """Return the most telling runs of words that only A has, and that only B has, in up to `limit` characters each.

    Text that has only moved is in both. Takes time in proportion to the length of the texts.
    """
    ours, theirs = _Words(a), _Words(b)
    frequency = Counter(ours.words)
    frequency.update(theirs.words)
    return FewWords(_most_telling(ours, theirs, frequency, limit), _most_telling(theirs, ours, frequency, limit))


class _Words:
    """The words of a text, folded, and where they are in it."""

    def __init__(self, text: str) -> None:
        canonical = canonical_text(text)
        chars = canonical.chars
        edges = list(pairwise([*canonical.words, len(chars)]))
        self.text = text
        self.words = [chars[start:end] for start, end in edges]
        self.spans = [canonical.span(start, end) for start, end in edges]
        padded = ["", "", *self.words, "", ""]
        self.contexts: list[Trigram] = list(zip(padded, padded[1:], padded[2:], strict=False))

    def runs_missing_in(self, contexts: Collection[Trigram]) -> Iterator[Span]:
        """Yield the runs of words without a context in the other text, as pairs of first word and end."""
        first = None
        for at in range(len(self.words)):
            shared = any(each in contexts for each in self.contexts[at : at + CONTEXT_WORDS])
            if not shared and first is None:
                first = at
            elif shared and first is not None:
                yield first, at
                first = None
        if first is not None:
            yield first, len(self.words)


class _Excerpt(NamedTuple):
    """A part of a run that fits the limit, in words."""

    weight: float
    first: int
    end: int
    run: Span


def _most_telling(ours: _Words, theirs: _Words, frequency: Counter[str], limit: int) -> str:
    known = set(theirs.words)
    weights = [_weight(ours.text[slice(*span)], word, word in known) / frequency[word] for word, span in _pairs(ours)]
    total = [0.0, *accumulate(weights)]
    runs = ours.runs_missing_in(set(theirs.contexts))
    best = nlargest(MAX_RUNS_NAMED, (_best_part(ours.spans, total, run, limit) for run in runs))
    named: list[tuple[int, str]] = []
    room = limit
    for each in best:
        shown = _shown(ours, each, limit)
        if len(shown) <= room and shown.lower() not in (other.lower() for _, other in named):
            named.append((each.first, shown))
            room -= len(shown) + len(BETWEEN)
    return BETWEEN.join(shown for _, shown in sorted(named))


def _pairs(ours: _Words) -> Iterator[tuple[str, Span]]:
    return zip(ours.words, ours.spans, strict=True)


def _weight(written: str, word: str, is_known: bool) -> float:
    weight = 1.0 if is_known else ONLY_HERE_WEIGHT
    if written != written.lower():
        return weight * NAME_WEIGHT
    tells_little = word.isascii() and (word.isdigit() or (word.isalpha() and len(word) <= SHORT_WORD_CHARS))
    return weight * SHORT_WORD_WEIGHT if tells_little else weight


def _best_part(spans: Sequence[Span], total: Sequence[float], run: Span, limit: int) -> _Excerpt:
    """Return the heaviest part of a run that fits, with room for an ellipsis at either end; at least one word."""
    first, last = run
    whole = spans[last - 1][1] - spans[first][0] <= limit
    room = limit if whole else limit - 2 * len(ELLIPSIS)
    best = _Excerpt(-1.0, first, first + 1, run)
    for end in range(first + 1, last + 1):
        while first < end - 1 and spans[end - 1][1] - spans[first][0] > room:
            first += 1
        if (weight := total[end] - total[first]) > best.weight:
            best = _Excerpt(weight, first, end, run)
    return best


def _shown(ours: _Words, part: _Excerpt, limit: int) -> str:
    text = one_line(ours.text[ours.spans[part.first][0] : ours.spans[part.end - 1][1]])
    before = ELLIPSIS * (part.first > part.run[0])
    after = ELLIPSIS * (part.end < part.run[1])
    if len(before + text + after) > limit:  # a single word that exceeds the limit
        text, after = text[: max(limit - len(before + ELLIPSIS), 0)], ELLIPSIS
    return before + text + after
