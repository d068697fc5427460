"""Which words of two short stretches of text stand in one of them only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from opensearch_winnow.answers.compared import Span

WORD = re.compile(r"\w+")
WORK = 2_000_000  # pairs of words that are compared for one page: about a second
LARGEST = 250_000  # for one row


class WordChanges:
    """Finds them, until it has done its work: then all words are in one of them only."""

    def __init__(self) -> None:
        self._left = WORK

    def of(self, a: str, ours: Sequence[Span], b: str, theirs: Sequence[Span]) -> tuple[list[Span], list[Span]]:
        """Where they are in these spans of A, and of B."""
        one, other = _words(a, ours), _words(b, theirs)
        work = len(one) * len(other)
        if not 0 < work <= min(LARGEST, self._left):
            return list(ours), list(theirs)
        self._left -= work
        matcher = SequenceMatcher(
            None, [a[slice(*word)].casefold() for word in one], [b[slice(*word)].casefold() for word in other], False
        )
        changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
        return (
            [(one[first][0], one[last - 1][1]) for _, first, last, _, _ in changes if first < last],
            [(other[first][0], other[last - 1][1]) for *_, first, last in changes if first < last],
        )


def _words(text: str, spans: Sequence[Span]) -> list[Span]:
    return [word.span() for start, end in spans for word in WORD.finditer(text, start, end)]
