"""Groups ranked pages: each page joins the first representative it resembles, or becomes a representative itself.

The pages come in the order of their rank, so a representative is the best page of its group. Every member resembles
its representative, and no two representatives resemble each other: a group is never a chain.

Pages are known by their rank among all pages of all batches, from 0.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import nan
from typing import NamedTuple, Protocol

from opensearch_winnow.cython_core.representatives import REPRESENTATIVE, UNDECIDED, RepresentativeAssignment
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.estimates import CLEAR_ERRORS, MIN_SHINGLES
from opensearch_winnow.queries.scores import NO_SKETCHES, Sketches
from opensearch_winnow.queries.searching.sketch_joins import SketchJoins
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Exclusions

Pair = tuple[int, int]  # the ranks of a representative and of a later page

# The number of pairs per page in the first round. All of them are compared exactly in one request, although the first
# may settle the page: in most searches a page has no more. The number doubles each round, so that even a thousand
# pages that are all near the threshold take a few requests.
FIRST_PAIRS_PER_PAGE = 4


class Similarity(NamedTuple):
    """The resemblance of two pages, with its standard error."""

    resemblance: float
    error: float  # 0: exact, computed from the texts


class Join(NamedTuple):
    """The representative that a page joins."""

    representative: int  # its rank
    similarity: Similarity


class JoinDecider(Protocol):
    """Decides which representative each page joins: the core's `RepresentativeAssignment`, or `SketchJoins`."""

    @property
    def representatives(self) -> Sequence[int]: ...
    @property
    def resemblances(self) -> Sequence[float]: ...
    @property
    def errors(self) -> Sequence[float]: ...
    def decide(self, known: array[int], exact: array[float], at_most: int) -> array[int]: ...


class RankedSketches(NamedTuple):
    rank: int  # of the page
    sketched: Sketches
    site: str | None


class GroupingBatch:
    """The next pages to group.

    Estimates decide where they are clear. For the pairs in `undecided` they are not: compute the exact resemblances,
    hand them to `settle`, and repeat until no pair is left.
    """

    def __init__(self, decider: JoinDecider, pages: Sequence[RankedSketches], start: int) -> None:
        self._decider = decider
        self._pages = pages  # the representatives found before, then the pages of this batch
        self._start = start  # the index of the first page of this batch
        self._exact: dict[int, float] = {}  # by pair, as the decider encodes it; NaN where a text is missing
        self._pairs_per_page = FIRST_PAIRS_PER_PAGE
        self._uncertain = array("Q")
        self._decide()

    @property
    def pages(self) -> Sequence[RankedSketches]:
        """The pages of this batch."""
        return self._pages[self._start :]

    @property
    def undecided(self) -> list[Pair]:
        """The pairs to compare exactly next; empty when every page of the batch is decided. No pair comes twice."""
        return [(self._pages[pair & 0xFFFFFFFF].rank, self._pages[pair >> 32].rank) for pair in self._uncertain]

    @property
    def joins(self) -> list[Join | None]:
        """The representative that each page of a decided batch joins; None for a page that is one itself."""
        if self._uncertain:
            raise ValueError(f"{len(self._uncertain)} pairs of this batch are undecided")
        start, decider = self._start, self._decider
        decisions = zip(
            decider.representatives[start:], decider.resemblances[start:], decider.errors[start:], strict=True
        )
        return [
            None if joined == REPRESENTATIVE else Join(self._pages[joined].rank, Similarity(resemblance, error))
            for joined, resemblance, error in decisions
        ]

    def possible_representatives(self, count: int) -> list[int]:
        """Return the ranks of the first `count` representatives, and of pages before them that may become one."""
        ranks: list[int] = []
        for page, joined in zip(self._pages, self._decider.representatives, strict=True):
            if joined in (REPRESENTATIVE, UNDECIDED):
                ranks.append(page.rank)
                count -= joined == REPRESENTATIVE
            if not count:
                break
        return ranks

    def settle(self, resemblances: Sequence[float | None]) -> None:
        """Decide with the exact resemblances of the `undecided` pairs, in their order.

        Pass None where a text is missing: the estimate decides then.
        """
        for pair, exact in zip(self._uncertain, resemblances, strict=True):
            self._exact[pair] = nan if exact is None else exact
        self._pairs_per_page *= 2
        self._decide()

    def _decide(self) -> None:
        pairs = array("Q", sorted(self._exact))
        exact = array("d", [self._exact[pair] for pair in pairs])
        self._uncertain = self._decider.decide(pairs, exact, self._pairs_per_page)


class Representatives:
    """Keeps the representatives found so far, and groups batches of further pages with them.

        batch = representatives.begin(pages)
        while pairs := batch.undecided:
            batch.settle([exact_resemblance(one, other) for one, other in pairs])
        joins = representatives.commit(batch)

    How pages are divided into batches makes no difference to the groups. A page with fewer than MIN_SHINGLES shingles,
    or without a MinHash of the scheme, resembles no other. With `exclusions`, boilerplate does not count, and estimates
    come from MOD_m sketches.
    """

    def __init__(self, scheme: Scheme, min_resemblance: float, exclusions: Exclusions = NO_EXCLUSIONS) -> None:
        if not 0 < min_resemblance <= 1:
            raise QuestionError(f"min_resemblance is a share above 0 and at most 1, not {min_resemblance:g}")
        self._scheme = scheme
        self._min_resemblance = min_resemblance
        self._exclusions = exclusions
        self._pages: list[RankedSketches] = []  # the representatives
        self._count = 0  # pages of all batches that were committed

    def begin(self, pages: Sequence[Sketches], sites: Sequence[str] = ()) -> GroupingBatch:
        """Return a batch of the next pages. `sites` are needed with exclusions, which hold templates of sites."""
        ranks = range(self._count, self._count + len(pages))
        page_sites: Sequence[str | None] = sites or [None] * len(pages)
        compared = [page if page.shingle_count >= MIN_SHINGLES else NO_SKETCHES for page in pages]
        every = [*self._pages, *map(RankedSketches, ranks, compared, page_sites)]
        return GroupingBatch(self._decider(every), every, len(self._pages))

    def commit(self, batch: GroupingBatch) -> list[Join | None]:
        """Keep the representatives of a decided batch, and return its `joins`."""
        joins, pages = batch.joins, batch.pages
        if pages and pages[0].rank != self._count:
            raise ValueError("another batch was committed since this one began")
        self._pages += [
            page for page, join in zip(pages, joins, strict=True) if join is None and page.sketched.shingle_count
        ]
        self._count += len(joins)
        return joins

    def _decider(self, pages: Sequence[RankedSketches]) -> JoinDecider:
        ready = len(self._pages)
        sketched = [page.sketched for page in pages]
        if self._exclusions:
            sites = [page.site for page in pages]
            return SketchJoins(sketched, sites, ready, self._scheme, self._min_resemblance, self._exclusions)
        size = self._scheme.bins * self._scheme.bits // 8
        unsigned = Sketches(0, array("Q"), bytes(size))
        signed = [page if len(page.minhash) == size else unsigned for page in sketched]
        return RepresentativeAssignment(
            b"".join([page.minhash for page in signed]),
            array("I", [page.shingle_count for page in signed]),
            ready,
            threshold=self._min_resemblance,
            bits=self._scheme.bits,
            clear=CLEAR_ERRORS,
        )
