"""Tells a change of a site's template from a change of a page's own text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import ceil

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme

MIN_PAGES = 5  # that changed; of fewer, what they have in common may be chance
MIN_SHARE = 0.5  # of these pages


class TemplateChange:
    """The lines that at least half of the changed pages of a site lost, and those that at least half of them gained.

    A page changed by the template alone if nothing else differs: without these lines, both captures have the same lines
    in the same order. Lines are compared by their letters and digits.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], scheme: Scheme = Scheme()) -> None:
        """Learn from `pairs` of texts, before and after, of pages of one site that have changed."""
        self._scheme = scheme
        lost: Counter[str] = Counter()
        gained: Counter[str] = Counter()
        pages = 0
        for before, after in pairs:
            ours, theirs = set(self._lines(before)), set(self._lines(after))
            lost.update(ours - theirs)
            gained.update(theirs - ours)
            pages += 1
        least = ceil(MIN_SHARE * max(pages, MIN_PAGES))
        self._lost = {line for line, count in lost.items() if count >= least}
        self._gained = {line for line, count in gained.items() if count >= least}

    def __bool__(self) -> bool:
        return bool(self._lost or self._gained)

    def explains(self, before: str, after: str) -> bool:
        """Return whether the two texts differ by the template alone."""
        ours = [line for line in self._lines(before) if line not in self._lost]
        return bool(self) and ours == [line for line in self._lines(after) if line not in self._gained]

    def _lines(self, text: str) -> list[str]:
        lines = (canonical(line, self._scheme).chars for line in text.splitlines())
        return [line for line in lines if line]
