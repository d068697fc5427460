"""Groups among pages in the order of their rank: each joins the best of the representatives that it resembles.

A page that resembles none of them is a representative itself. No group is a chain: every member resembles its
representative, and no two representatives resemble each other.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from math import nan
from typing import NamedTuple, Protocol

from opensearch_winnow.cython_core.leaders import LEADER, UNDECIDED, LeaderAssignment
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.asked import QuestionError
from opensearch_winnow.queries.boilerplate import NOTHING, Exclusions
from opensearch_winnow.queries.estimated import CLEAR, Sketched
from opensearch_winnow.queries.sketch_joins import SketchJoins

# Exact resemblances of pairs of places, the representative's and the page's; None where a text is missing.
Verify = Callable[[Sequence[tuple[int, int]]], Sequence[float | None]]

# Pairs of a page that are verified at once, though the first of them may settle it: in most results a page has no
# more. Twice as many each time, so that even a thousand pages that are all near the threshold are a few requests.
FIRST_PAIRS = 4


class Likeness(NamedTuple):
    resemblance: float
    error: float  # the standard error of an estimate; 0: exact, from the texts


class Joined(NamedTuple):
    leader: int  # the place of the representative among all pages that were added
    likeness: Likeness


class Deciding(Protocol):
    """As cython_core.leaders has it."""

    @property
    def leaders(self) -> Sequence[int]: ...
    @property
    def resemblances(self) -> Sequence[float]: ...
    @property
    def errors(self) -> Sequence[float]: ...
    def decide(self, known: array[int], exact: array[float], at_most: int) -> array[int]: ...


class Leaders:
    """The representatives of all pages that were added; only they are kept.

    Estimates decide where they are clear, `verify` where they are not. A page without shingles, or without a MinHash of
    the scheme, resembles no other. With exclusions boilerplate does not count, and estimates are from MOD_m sketches.
    """

    def __init__(self, scheme: Scheme, threshold: float, verify: Verify, exclusions: Exclusions = NOTHING) -> None:
        if not 0 < threshold <= 1:
            raise QuestionError(
                f"pages of a group resemble each other by a share above 0 and up to 1, not {threshold:g}"
            )
        self._scheme = scheme
        self._threshold = threshold
        self._verify = verify
        self._exclusions = exclusions
        self.leading: list[int] = []  # the places of all that may be representatives, while `verify` is asked
        self._added = 0
        self._places: list[int] = []  # of the representatives
        self._pages: list[Sketched] = []
        self._sites: list[str | None] = []

    def add(self, pages: Sequence[Sketched], sites: Sequence[str] = ()) -> list[Joined | None]:
        """What the next pages join; None: it is a representative. In which portions pages come makes no difference.

        `sites` tell whose templates are in the pages, for exclusions.
        """
        ready = len(self._places)
        places = [*self._places, *range(self._added, self._added + len(pages))]
        every = [*self._pages, *pages]
        theirs: Sequence[str | None] = sites or [None] * len(pages)
        of_sites = [*self._sites, *theirs]
        joins = self._joins(every, of_sites, ready)
        self._settle(joins, places)
        for place in range(ready, len(every)):
            if joins.leaders[place] == LEADER and every[place].shingle_count:
                self._places.append(places[place])
                self._pages.append(every[place])
                self._sites.append(of_sites[place])
        self._added += len(pages)
        return [
            None if leader == LEADER else Joined(places[leader], Likeness(resemblance, error))
            for leader, resemblance, error in zip(
                joins.leaders[ready:], joins.resemblances[ready:], joins.errors[ready:], strict=True
            )
        ]

    def _joins(self, pages: Sequence[Sketched], sites: Sequence[str | None], ready: int) -> Deciding:
        if self._exclusions:
            return SketchJoins(pages, sites, ready, self._scheme, self._threshold, self._exclusions)
        size = self._scheme.bins * self._scheme.bits // 8
        nothing = Sketched(0, array("Q"), bytes(size))
        signed = [page if len(page.minhash) == size else nothing for page in pages]
        return LeaderAssignment(
            b"".join([page.minhash for page in signed]),
            array("I", [page.shingle_count for page in signed]),
            ready,
            threshold=self._threshold,
            bits=self._scheme.bits,
            clear=CLEAR,
        )

    def _settle(self, joins: Deciding, places: Sequence[int]) -> None:
        """Decide about all pages, with as few calls of `verify` as can be, and no pair twice."""
        known: dict[int, float] = {}
        at_most = FIRST_PAIRS
        while True:
            pairs = array("Q", sorted(known))
            uncertain = joins.decide(pairs, array("d", [known[pair] for pair in pairs]), at_most)
            if not uncertain:
                return
            self.leading = [places[at] for at, leader in enumerate(joins.leaders) if leader in (LEADER, UNDECIDED)]
            found = self._verify([(places[pair & 0xFFFFFFFF], places[pair >> 32]) for pair in uncertain])
            for pair, exact in zip(uncertain, found, strict=True):
                known[pair] = nan if exact is None else exact
            at_most *= 2
