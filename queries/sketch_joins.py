"""Which representative each page joins, where boilerplate does not count: by MOD_m sketches."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import isnan, log, nan

from opensearch_winnow.cython_core.estimates import Estimate, mod_resemblance
from opensearch_winnow.cython_core.leaders import LEADER, UNDECIDED
from opensearch_winnow.cython_core.overlap import overlap
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.estimated import CLEAR, Sketched


class SketchJoins:
    """As LeaderAssignment of the core, which compares MinHashes; but boilerplate cannot be taken out of these."""

    def __init__(
        self,
        pages: Sequence[Sketched],
        sites: Sequence[str | None],
        ready: int,
        scheme: Scheme,
        threshold: float,
        exclusions: Exclusions,
    ) -> None:
        self._pages = pages
        self._sites = sites
        self._modulus = scheme.modulus
        self._threshold = threshold
        self._exclusions = exclusions
        self.leaders = [
            LEADER if place < ready or not page.shingle_count else UNDECIDED for place, page in enumerate(pages)
        ]
        self.resemblances = [nan] * len(pages)
        self.errors = [nan] * len(pages)

    def decide(self, known: array[int], exact: array[float], at_most: int) -> array[int]:
        decisions = dict(zip(known, exact, strict=True))
        uncertain = array("Q")
        may_lead: list[int] = []
        for place, page in enumerate(self._pages):
            if not page.shingle_count:
                continue
            if self.leaders[place] == UNDECIDED:
                asked: list[int] = []
                leads = self._decide_page(place, may_lead, decisions, asked)
                uncertain.extend(asked[:at_most])
            else:
                leads = self.leaders[place] == LEADER
            if leads:
                may_lead.append(place)
        return uncertain

    def _decide_page(
        self, page: int, may_lead: Sequence[int], decisions: Mapping[int, float], asked: list[int]
    ) -> bool:
        """Whether the page leads, or may."""
        waits = False
        for earlier in may_lead:
            (value, error), clear = self._estimate(earlier, page)
            if not clear:
                pair = page << 32 | earlier
                if pair not in decisions:
                    asked.append(pair)
                    waits = True
                    continue
                if not isnan(decisions[pair]):
                    value, error = decisions[pair], 0.0
            if value < self._threshold:
                continue
            if self.leaders[earlier] == UNDECIDED:
                waits = True
                continue
            if not waits:
                self.leaders[page], self.resemblances[page], self.errors[page] = earlier, value, error
            return False  # whichever it joins
        if not waits:
            self.leaders[page] = LEADER
        return True

    def _estimate(self, earlier: int, page: int) -> tuple[Estimate, bool]:
        """The estimate, and whether it is clear."""
        sites = self._sites[earlier], self._sites[page]
        ours, theirs = self._exclusions.counted(self._pages[earlier].sketch, self._pages[page].sketch, sites)
        estimate = mod_resemblance(ours, theirs, self._modulus)
        sample = len(ours) + len(theirs) - overlap(ours, theirs)
        return estimate, estimate.error == 0 or _clear(estimate.value, sample, self._threshold)


def _clear(share: float, sample: int, threshold: float) -> bool:
    """Whether such a sample is as unlikely as one that is so many standard errors away, if the threshold is the truth.

    By Chernoff's bound, since small samples are not normal: 7 of 7 look clear, and are one in 128 for a truth of .5.
    """
    parts = [(part, expected) for part, expected in ((share, threshold), (1 - share, 1 - threshold)) if part]
    if not all(expected for _, expected in parts):
        return sample > 0
    return sample * sum(part * log(part / expected) for part, expected in parts) >= CLEAR**2 / 2
