"""Search results in groups. Pages are looked at in their order, and each joins the first group whose best page it
resembles; else it is the best page of a group of its own.

So every page of a group resembles the one that is shown for it, and no two that are shown resemble each other. What is
found among the first pages does not depend on those behind them: that is why results can be paged.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from opensearch_winnow.cython_core.estimates import minhash_resemblance
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.compare import Side, scores, side
from opensearch_winnow.queries.cursors import SearchRequest
from opensearch_winnow.queries.estimated import Sketched
from opensearch_winnow.queries.groups import Leaders, Likeness
from opensearch_winnow.queries.results import (
    FacetCount,
    FacetName,
    Folded,
    GroupCount,
    Member,
    Result,
    SearchResults,
    Way,
)
from opensearch_winnow.stores.snippet import hit_of
from opensearch_winnow.stores.store import Ranked, View

PATIENCE = 10_000  # pages that are looked at for one page of results, if all are copies of each other
TOGETHER = 1_000  # pages that are looked at together at most
VALUES = 100  # of a facet, those with the most pages
NONE = array("Q")
CLUSTERS: tuple[Way, ...] = ("cluster", "both")  # ways in which clusters count
SIGNATURES: tuple[Way, ...] = ("signature", "both")

Likely = tuple[Ranked, Likeness]  # a page, and how it compares with the best of its group


class Join(NamedTuple):
    """That a page has joined a group: its place, and that of the best page."""

    place: int
    leader: int
    likeness: Likeness


class Groups:
    """The groups of a view, as far as its pages were looked at, and the pages of results that were made of them."""

    def __init__(self, view: View, asked: SearchRequest, scheme: Scheme, exclusions: Exclusions) -> None:
        self.view = view
        self.asked = asked
        self._by = asked.by if asked.group else None
        self._together = asked.examine if self._by in SIGNATURES else asked.limit
        self._scheme = scheme
        self._exclusions = exclusions
        self._words = asked.parsed
        self._leaders = Leaders(scheme, asked.threshold, self._resemblances, exclusions)
        self._pages: list[Ranked] = []  # that were looked at; with clusters, the first of each
        self._best: list[int] = []  # the places, among these, of the best page of each group
        self._joined: list[Join] = []
        self._ended = False  # there are no more pages
        self._made: list[SearchResults] = []
        self._shown = 0  # groups on them
        # What was read for the next page of results, by the page's place in the view.
        self._texts: dict[int, tuple[Card, str] | None] = {}
        self._sides: dict[int, Side | None] = {}

    def results(self, number: int) -> SearchResults:
        """A page of results, counted from 0. Those before it are made, too: which groups they have is part of it."""
        while len(self._made) <= number and self.has_more_than(len(self._made) - 1):
            self._made.append(self._next())
        return self._made[number] if number < len(self._made) else self._results([], [])

    def has_more_than(self, number: int) -> bool:
        """Whether there is a page of results after this one, or it is not known yet."""
        return number + 1 < len(self._made) or not (self._ended and self._shown == len(self._best))

    def _next(self) -> SearchResults:
        before, start, goal = self._shown, len(self._joined), self._shown + self.asked.limit
        patience = len(self._pages) + PATIENCE
        while not self._ended and (
            len(self._pages) < self._together or (len(self._best) < goal and len(self._pages) < patience)
        ):
            self._look_at_more()
        self._shown = min(goal, len(self._best))
        earlier = set(self._best[:before])
        late = [each for each in self._joined[start:] if each.leader in earlier]
        made = self._results(self._best[before : self._shown], late)
        self._texts.clear()
        self._sides.clear()
        return made

    def _look_at_more(self) -> None:
        start = len(self._pages)
        end = start + min(max(self._together - start, 0) or start, TOGETHER)
        pages = self.view.clustered(start, end) if self._by in CLUSTERS else self.view.ranked(start, end)
        self._ended = len(pages) < end - start or (self._by not in CLUSTERS and end >= self.view.total)
        self._pages += pages
        if self._by not in SIGNATURES:
            self._best += range(start, len(self._pages))
            return
        sketches = self.view.sketches(pages) if self._exclusions else [NONE] * len(pages)
        signed = [
            Sketched(page.shingle_count, sketch, page.minhash) for page, sketch in zip(pages, sketches, strict=True)
        ]
        for place, joined in enumerate(self._leaders.add(signed, [page.site for page in pages]), start):
            if joined is None:
                self._best.append(place)
            else:
                self._joined.append(Join(place, *joined))

    def _results(self, best: Sequence[int], late: Sequence[Join]) -> SearchResults:
        shown = set(best)
        members = self._members([each for each in self._joined if each.leader in shown], best)
        folded = self._members(late)
        pages = [self._pages[place] for place in best]
        hits = [
            Result(*hit_of(read[0], page.score, read[1], self._words), members=members.get(place, []))
            for place, page, read in zip(best, pages, self._read(pages), strict=True)
            if read is not None  # else somebody has just deleted it
        ]
        return SearchResults(
            total=self.view.total,
            hits=hits,
            **self._counts()._asdict(),
            examined=len(self._pages),
            folded=[Folded(self._pages[place].url, each) for place, some in folded.items() for each in some],
            facets={name: self._facet(name) for name in self.asked.facets},
            threshold=self.asked.threshold if self._by else None,
            by=self._by,
        )

    def _members(self, joined: Sequence[Join], best: Sequence[int] = ()) -> dict[int, list[Member]]:
        """By the places of the best pages of their groups: the pages that have joined, in their order; with clusters,
        all pages of theirs, and of those of the best."""
        likeness = {self._pages[each.place].place: each.likeness for each in joined}
        members: dict[int, list[Likely]] = {}
        if self._by not in CLUSTERS:
            for each in joined:
                members.setdefault(each.leader, []).append((self._pages[each.place], each.likeness))
        else:
            leaders = {self._pages[place].cluster: place for place in best}
            leaders |= {self._pages[each.place].cluster: each.leader for each in joined}
            leaders.pop("", None)  # no cluster: such a page is alone
            shown = {self._pages[place].place for place in best}
            for page in self.view.of_clusters(leaders) if leaders else ():
                if page.place not in shown:
                    leader = leaders[page.cluster]
                    known = likeness.get(page.place) or self._estimate(self._pages[leader], page)
                    members.setdefault(leader, []).append((page, known))
        exactly = self.asked.exact or (self._exclusions and self._by in CLUSTERS)
        return {
            leader: [_member(*each) for each in (self._exactly(self._pages[leader], some) if exactly else some)]
            for leader, some in members.items()
        }

    def _estimate(self, one: Ranked, other: Ranked) -> Likeness:
        if not (one.minhash and other.minhash):
            return Likeness(0.0, 1.0)
        value, error = minhash_resemblance(one.minhash, other.minhash, self._scheme.bits)
        return Likeness(min(max(value, 0.0), 1.0), error)

    def _exactly(self, best: Ranked, members: Sequence[Likely]) -> Iterator[Likely]:
        self._read([best, *(page for page, _ in members)])
        for page, likeness in members:
            known = self._resemblance(best, page)
            yield page, likeness if known is None else Likeness(known, 0.0)

    def _resemblances(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Of pages by their places."""
        compared = [(self._pages[one], self._pages[other]) for one, other in pairs]
        # With those that will be shown, most probably: a request for both is quicker than two.
        shown = set(self._best[: self._shown])
        next_shown = [place for place in self._leaders.leading if place not in shown][: self.asked.limit]
        wanted = [*(page for pair in compared for page in pair), *(self._pages[place] for place in next_shown)]
        self._read(list(dict.fromkeys(wanted)))
        return [self._resemblance(*pair) for pair in compared]

    def _resemblance(self, one: Ranked, other: Ranked) -> float | None:
        """Of pages that were read, from their texts; None where one is not stored."""
        a, b = self._side(one), self._side(other)
        return None if a is None or b is None else scores(a, b, self._exclusions).resemblance

    def _side(self, page: Ranked) -> Side | None:
        if page.place not in self._sides:
            _, text = self._texts.get(page.place) or (None, "")
            made = side(text, self._scheme, name=page.url, site=page.site) if text else None
            self._sides[page.place] = made
        return self._sides[page.place]

    def _read(self, pages: Sequence[Ranked]) -> list[tuple[Card, str] | None]:
        unread = [page for page in pages if page.place not in self._texts]
        if unread:
            self._texts.update(zip([page.place for page in unread], self.view.read(unread), strict=True))
        return [self._texts[page.place] for page in pages]

    def _counts(self) -> GroupCount:
        """How many groups there are, as far as that is known."""
        found = len(self._best)
        if self._by is None:
            return GroupCount()
        if self._ended:
            return GroupCount(found, found, found)
        if self._by == "signature":
            return GroupCount(None, found, found + self.view.total - len(self._pages))
        clusters, exact = self.view.cluster_count()
        if self._by == "cluster" and exact:
            return GroupCount(clusters, clusters, clusters)
        most = (clusters if exact else self.view.total) - len(self._joined)
        return GroupCount(None, found, most, None if exact else clusters - len(self._joined))

    def _facet(self, name: FacetName) -> list[FacetCount]:
        by_cluster = self._by in CLUSTERS
        pages = self.view.facets(name, limit=VALUES, clusters=by_cluster)
        if by_cluster:
            return [FacetCount(*each) for each in pages]
        leaders = dict(enumerate(range(len(self._pages)))) | {each.place: each.leader for each in self._joined}
        if self._by is None:
            return [FacetCount(each.value, each.pages, None) for each in pages]
        groups = Counter(
            value for value, _ in {(facet_of(self._pages[one], name), best) for one, best in leaders.items()}
        )
        return [FacetCount(each.value, each.pages, groups[each.value]) for each in pages]


def facet_of(page: Ranked, name: FacetName) -> str:
    if name == "site":
        return page.site
    if name == "crawl":
        return page.crawl
    return "" if page.fetched_at is None else page.fetched_at.strftime("%Y-%m" if name == "month" else "%Y")


def _member(page: Ranked, likeness: Likeness) -> Member:
    kind: Literal["exact", "estimate"] = "estimate" if likeness.error else "exact"
    return Member(
        page.id,
        page.url,
        page.site,
        page.crawl,
        page.fetched_at,
        page.score,
        likeness.resemblance,
        kind,
        likeness.error,
    )
