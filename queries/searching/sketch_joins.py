"""Decides which representative each page joins, by MOD_m sketches without boilerplate."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import isnan, log, nan

from opensearch_winnow.cython_core.estimates import Estimate, mod_share
from opensearch_winnow.cython_core.representatives import REPRESENTATIVE, UNDECIDED
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparer
from opensearch_winnow.queries.estimates import CLEAR_ERRORS
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions


class SketchJoins:
    """A `RepresentativeAssignment` by MOD_m sketches, from which boilerplate can be removed."""

    def __init__(
        self,
        pages: Sequence[Sketches],
        sites: Sequence[str | None],
        ready: int,
        scheme: Scheme,
        min_resemblance: float,
        exclusions: Exclusions,
    ) -> None:
        self._pages = pages
        self._sites = sites
        self._modulus = scheme.modulus
        self._min_resemblance = min_resemblance
        self._comparer = Comparer(scheme, exclusions)
        self.representatives = [
            REPRESENTATIVE if number < ready or not page.shingle_count else UNDECIDED
            for number, page in enumerate(pages)
        ]
        self.resemblances = [nan] * len(pages)
        self.errors = [nan] * len(pages)

    def decide(self, known: array[int], exact: array[float], at_most: int) -> array[int]:
        """Decide as many pages as possible, and return the uncertain pairs, at most `at_most` of each page.

        `exact` are the resemblances of the pairs `known`; NaN: the estimate decides.
        """
        decisions = dict(zip(known, exact, strict=True))
        uncertain = array("Q")
        may_represent: list[int] = []
        for number, page in enumerate(self._pages):
            if not page.shingle_count:
                continue
            if self.representatives[number] == UNDECIDED:
                undecided: list[int] = []
                is_one = self._decide_page(number, may_represent, decisions, undecided)
                uncertain.extend(undecided[:at_most])
            else:
                is_one = self.representatives[number] == REPRESENTATIVE
            if is_one:
                may_represent.append(number)
        return uncertain

    def _decide_page(
        self, page: int, may_represent: Sequence[int], decisions: Mapping[int, float], undecided: list[int]
    ) -> bool:
        """Return whether the page is, or may be, a representative; add its uncertain pairs to `undecided`."""
        waits = False
        for earlier in may_represent:
            (value, error), clear = self._estimate(earlier, page)
            if not clear:
                pair = page << 32 | earlier
                if pair not in decisions:
                    undecided.append(pair)
                    waits = True
                    continue
                if not isnan(decisions[pair]):
                    value, error = decisions[pair], 0.0
            if value < self._min_resemblance:
                continue
            if self.representatives[earlier] == UNDECIDED:
                waits = True
                continue
            if not waits:
                self.representatives[page], self.resemblances[page], self.errors[page] = earlier, value, error
            return False  # it joins `earlier`, or a page before it that is still undecided
        if not waits:
            self.representatives[page] = REPRESENTATIVE
        return True

    def _estimate(self, earlier: int, page: int) -> tuple[Estimate, bool]:
        """Return the estimated resemblance, and whether it is clear."""
        sites = self._sites[earlier], self._sites[page]
        shared = self._comparer.overlap(self._pages[earlier].sketch, self._pages[page].sketch, sites)
        estimate = mod_share(shared.both, shared.either, self._modulus)
        return estimate, estimate.error == 0 or _clear(estimate.value, shared.either, self._min_resemblance)


def _clear(share: float, n: int, threshold: float) -> bool:
    """Return whether a `share` of `n` is too unlikely to be observed if the true share is `threshold`.

    Chernoff's bound, exp(-n D(share || threshold)), must not exceed exp(-CLEAR_ERRORS² / 2), that of a normal
    distribution at CLEAR_ERRORS standard errors. Small samples are not normal: 7 of 7 look clear, but have a
    probability of 1 in 128 if the true share is .5.
    """
    parts = [(q, p) for q, p in ((share, threshold), (1 - share, 1 - threshold)) if q]
    if not all(p for _, p in parts):
        return n > 0
    divergence = sum(q * log(q / p) for q, p in parts)  # Kullback-Leibler
    return n * divergence >= CLEAR_ERRORS**2 / 2
