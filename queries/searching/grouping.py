"""Groups the hits of a search page by page, for a store, an engine's client or the gateway.

This module has no input or output: a source reads the hits and compares them. Sources are generators that yield
requests. The caller sends these, synchronously or asynchronously. A store yields none.

Hits are known by their rank: their index among all hits of the search, from 0.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.searching.representatives import GroupingBatch, Join, Representatives

MAX_EXAMINED_PER_RESULT_PAGE = 10_000  # hits; the limit is reached only if nearly all are copies of each other
MAX_BATCH_SIZE = 1_000  # hits examined at once

T = TypeVar("T")


class Call(NamedTuple):
    """A method of an engine's client to call, with its arguments."""

    method: str
    arguments: dict[str, Any]


Steps = Generator[Call, Any, T]


class Examined(NamedTuple):
    """The sketches and sites of some hits, which decide their groups."""

    sketched: Sequence[Sketches]
    sites: Sequence[str] = ()  # needed with exclusions


class HitSource(Protocol):
    """Reads the hits of one search in order, and compares them."""

    @property
    def exhausted(self) -> bool:
        """True if the search has no more hits."""

    def read(self, wanted: int) -> Steps[Examined]:
        """Read the next `wanted` hits; fewer at the end, or if some of them were read before."""

    def compare(self, batch: GroupingBatch, groups: int) -> Steps[Sequence[float | None]]:
        """Return the exact resemblance of the batch's undecided pairs; None where a text is missing.

        The representatives of the first `groups` groups are to be shown next.
        """

    def short_copies(self, ranks: range) -> Steps[Mapping[int, Join]]:
        """Return the joins of these hits that are too short to compare: to an earlier hit with the same words."""


class GroupCount(NamedTuple):
    """The number of groups, as far as it is known."""

    groups: int | None = None  # the exact number; None if it is not known, or nothing was grouped
    at_least: int = 0
    at_most: int | None = 0  # None if the number of hits is unknown
    about: int | None = None  # an engine's estimate; None if it did not estimate


class GroupsOfPage(NamedTuple):
    """The groups on one page of results, by rank."""

    members: dict[int, list[int]]  # the members of each group by its representative, best first
    folded: list[int]  # members of groups on earlier pages that were examined since


class Grouping:
    """The groups among the hits of one search, as far as these were examined.

    How the hits are divided into batches makes no difference to the groups. Later hits never change the groups of
    earlier ones, which is why results can be paged: over all pages, each hit is a representative, a member or `folded`
    once. Without `decides`, each hit is a group.
    """

    def __init__(self, source: HitSource, decides: Representatives | None, *, examine: int) -> None:
        self.representatives: list[int] = []
        self.joins: dict[int, Join] = {}  # by the rank of the member
        self.examined = 0  # hits
        self._source = source
        self._decides = decides
        self._examine = examine  # the least number of hits to examine

    @property
    def exhausted(self) -> bool:
        """True if the search has no more hits to examine."""
        return self._source.exhausted

    def page(self, start: int, size: int, *, examined_before: int, max_examined: int = 0) -> Steps[GroupsOfPage]:
        """Examine hits until there is a page of `size` groups after the first `start`, and return its groups.

        `examined_before` hits were examined for the pages before it. The page has fewer groups at the end,
        or if `max_examined` hits in all are not enough.
        """
        max_examined = max_examined or examined_before + MAX_EXAMINED_PER_RESULT_PAGE
        yield from self.find_groups(start + size, max_examined)
        members: dict[int, list[int]] = {rank: [] for rank in self.representatives[start : start + size]}
        shown_before = set(self.representatives[:start])
        folded: list[int] = []
        for rank, join in self.joins.items():
            if join.representative in members:
                members[join.representative].append(rank)
            elif rank >= examined_before and join.representative in shown_before:
                folded.append(rank)
        return GroupsOfPage(members, folded)

    def has_more_than(self, shown: int) -> bool:
        """Return whether there are, or may be, groups after the first `shown`."""
        return not self.exhausted or shown < len(self.representatives)

    def count(self, total: int | None) -> GroupCount:
        """Return the number of groups among `total` hits, which is None if unknown."""
        groups = len(self.representatives)
        if self.exhausted:
            return GroupCount(groups, groups, groups)
        return GroupCount(None, groups, None if total is None else groups + total - self.examined)

    def find_groups(self, wanted: int, max_examined: int) -> Steps[None]:
        """Examine hits until there are `wanted` groups, or `max_examined` hits are examined, or there are no more."""
        while not self.exhausted and (
            self.examined < self._examine or (len(self.representatives) < wanted and self.examined < max_examined)
        ):
            first = self._examine - self.examined
            more = first if first > 0 else min(self.examined, max_examined - self.examined)
            yield from self._examine_more(min(more, MAX_BATCH_SIZE), wanted)

    def _examine_more(self, hits: int, groups: int) -> Steps[None]:
        found = yield from self._source.read(hits)
        ranks = range(self.examined, self.examined + len(found.sketched))
        self.examined = ranks.stop
        if self._decides is None:
            self.representatives += ranks
            return
        batch = self._decides.begin(found.sketched, found.sites)
        while batch.undecided:
            batch.settle((yield from self._source.compare(batch, groups)))
        copies = yield from self._source.short_copies(ranks)
        for rank, decided in zip(ranks, self._decides.commit(batch), strict=True):
            join = decided or copies.get(rank)
            if join is None:
                self.representatives.append(rank)
            else:
                self.joins[rank] = join
