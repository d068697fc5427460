"""Groups the pages that a search finds, and makes pages of results from the groups.

The pages are examined in the order of their rank. A page that resembles the representative of an earlier group joins
the first such group; any other page becomes the representative of a new group. So every member of a group resembles
the page shown for it, and no two of the shown pages resemble each other. Later pages never change the groups of earlier
ones, which is why results can be paged.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from opensearch_winnow.cython_core.estimates import minhash_resemblance
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.compare import Side, scores, side
from opensearch_winnow.queries.estimates import Sketches
from opensearch_winnow.queries.representatives import Representatives, Similarity
from opensearch_winnow.queries.results import (
    FacetCount,
    FacetName,
    Folded,
    GroupBy,
    GroupCount,
    Member,
    Result,
    SearchResults,
)
from opensearch_winnow.queries.search_request import MAX_BATCH_SIZE, MAX_EXAMINED_PER_RESULT_PAGE, SearchRequest
from opensearch_winnow.stores.snippet import hit_of
from opensearch_winnow.stores.store import RankedPage, View

MAX_FACET_VALUES = 100  # the values with the most pages
NO_SKETCH = array("Q")
BY_CLUSTER: tuple[GroupBy, ...] = ("cluster", "both")
BY_SIGNATURE: tuple[GroupBy, ...] = ("signature", "both")

SimilarPage = tuple[RankedPage, Similarity]  # a page, and how it compares with the representative of its group


class Membership(NamedTuple):
    """A page that has joined a group. Places are those among the examined pages."""

    place: int
    representative: int
    similarity: Similarity


class SearchGroups:
    """The groups among the pages of a view that were examined so far, and the result pages made from them."""

    def __init__(self, view: View, request: SearchRequest, scheme: Scheme, exclusions: Exclusions) -> None:
        self.view = view
        self.request = request
        self._by = request.by if request.group else None
        self._first_batch = request.examine if self._by in BY_SIGNATURE else request.limit
        self._scheme = scheme
        self._exclusions = exclusions
        self._words = request.parsed
        self._grouping = Representatives(scheme, request.threshold, exclusions)
        self._examined: list[RankedPage] = []  # with clusters, the first page of each
        self._representatives: list[int] = []  # their places among the examined pages
        self._memberships: list[Membership] = []
        self._exhausted = False  # the view has no more pages
        self._result_pages: list[SearchResults] = []
        self._shown_groups = 0  # on the result pages
        self._shown: dict[int, RankedPage] = {}  # the page shown for a group, by the place of its representative
        # What was read for the next result page, by the page's place in the view.
        self._texts: dict[int, tuple[Card, str] | None] = {}
        self._sides: dict[int, Side | None] = {}

    def results(self, number: int) -> SearchResults:
        """Return a result page, counted from 0. The ones before it are made first: they decide where it starts."""
        while len(self._result_pages) <= number and self.has_more_than(len(self._result_pages) - 1):
            self._result_pages.append(self._next_result_page())
        return self._result_pages[number] if number < len(self._result_pages) else self._results([], [])

    def has_more_than(self, number: int) -> bool:
        """Return whether there is, or may be, a result page after this one."""
        return number + 1 < len(self._result_pages) or not (
            self._exhausted and self._shown_groups == len(self._representatives)
        )

    def _next_result_page(self) -> SearchResults:
        start, first_membership = self._shown_groups, len(self._memberships)
        end = start + self.request.limit
        max_examined = len(self._examined) + MAX_EXAMINED_PER_RESULT_PAGE
        while not self._exhausted and (
            len(self._examined) < self._first_batch
            or (len(self._representatives) < end and len(self._examined) < max_examined)
        ):
            self._examine_more()
        self._shown_groups = min(end, len(self._representatives))
        shown_before = set(self._representatives[:start])
        late = [each for each in self._memberships[first_membership:] if each.representative in shown_before]
        results = self._results(self._representatives[start : self._shown_groups], late)
        self._texts.clear()
        self._sides.clear()
        return results

    def _examine_more(self) -> None:
        check_cancelled()
        start = len(self._examined)
        end = start + min(max(self._first_batch - start, 0) or start, MAX_BATCH_SIZE)
        pages = self.view.clustered(start, end) if self._by in BY_CLUSTER else self.view.ranked(start, end)
        self._exhausted = len(pages) < end - start or (self._by not in BY_CLUSTER and end >= self.view.total)
        self._examined += pages
        if self._by in BY_SIGNATURE:
            self._group(pages, start)
        else:
            self._representatives += range(start, len(self._examined))

    def _group(self, pages: Sequence[RankedPage], start: int) -> None:
        """Group the examined pages from the place `start` on."""
        sketches = self.view.sketches(pages) if self._exclusions else [NO_SKETCH] * len(pages)
        sketched = [
            Sketches(page.shingle_count, sketch, page.minhash) for page, sketch in zip(pages, sketches, strict=True)
        ]
        batch = self._grouping.begin(sketched, [page.site for page in pages])
        shown = set(self._representatives[: self._shown_groups])
        while pairs := batch.undecided:
            # Also read the pages that may be shown next: one request is quicker than two.
            first = batch.possible_representatives(self._shown_groups + self.request.limit)
            shown_next = [place for place in first if place not in shown]
            self._read_places([*(place for pair in pairs for place in pair), *shown_next])
            batch.settle([self._resemblance(self._examined[one], self._examined[other]) for one, other in pairs])
        for place, join in enumerate(self._grouping.commit(batch), start):
            if join is None:
                self._representatives.append(place)
            else:
                self._memberships.append(Membership(place, *join))

    def _results(self, representatives: Sequence[int], late: Sequence[Membership]) -> SearchResults:
        """Make a result page of some groups. `late` are new members of groups on earlier result pages."""
        in_groups = set(representatives)
        joined = self._members(
            [each for each in self._memberships if each.representative in in_groups], representatives
        )
        for place in representatives:
            self._shown[place], joined[place] = self._choose(self._examined[place], joined.get(place, []))
        members, folded = self._scored(joined), self._scored(self._members(late))
        pages = [self._shown[place] for place in representatives]
        hits = [
            Result(*hit_of(read[0], page.score, read[1], self._words), members=members[place])
            for place, page, read in zip(representatives, pages, self._read(pages), strict=True)
            if read is not None  # None: the page has just been deleted
        ]
        return SearchResults(
            total=self.view.total,
            hits=hits,
            **self._counts()._asdict(),
            examined=len(self._examined),
            folded=[Folded(self._shown[place].url, each) for place, some in folded.items() for each in some],
            facets=self._facets(),
            threshold=self.request.threshold if self._by else None,
            by=self._by,
        )

    def _members(
        self, memberships: Sequence[Membership], representatives: Sequence[int] = ()
    ) -> dict[int, list[SimilarPage]]:
        """Return the members of each group by the place of its representative, in the order of their rank.

        With clusters, these are all pages in the clusters of the given `memberships` and `representatives`.
        """
        if self._by in BY_CLUSTER:
            return self._cluster_members(memberships, representatives)
        members: dict[int, list[SimilarPage]] = {}
        for each in memberships:
            members.setdefault(each.representative, []).append((self._examined[each.place], each.similarity))
        return members

    def _choose(self, best: RankedPage, members: Sequence[SimilarPage]) -> tuple[RankedPage, list[SimilarPage]]:
        """Return the page to show for a group, and the others, the best first."""
        rule = self.request.rule
        group = [(best, Similarity(1.0, 0.0)), *members]
        chosen = rule.first([page for page, _ in group]) if rule else 0
        return group[chosen][0], [*group[:chosen], *group[chosen + 1 :]]

    def _scored(self, members: Mapping[int, Sequence[SimilarPage]]) -> dict[int, list[Member]]:
        """Return the members of each group, compared with the page that is shown for it."""
        exactly = self.request.exact or (self._exclusions and self._by in BY_CLUSTER)
        scored: dict[int, list[Member]] = {}
        for place, some in members.items():
            shown = self._shown[place]
            others = shown is not self._examined[place]  # the similarities are those to another page
            if others:
                some = [(page, self._estimate(shown, page)) for page, _ in some]
            compared = self._compared(shown, some) if exactly or (others and self._exclusions) else some
            scored[place] = [_member(*each) for each in compared]
        return scored

    def _cluster_members(
        self, memberships: Sequence[Membership], representatives: Sequence[int]
    ) -> dict[int, list[SimilarPage]]:
        known = {self._examined[each.place].view_key: each.similarity for each in memberships}
        groups = {self._examined[place].cluster: place for place in representatives}
        groups |= {self._examined[each.place].cluster: each.representative for each in memberships}
        groups.pop("", None)  # a page without a cluster is alone
        shown = {self._examined[place].view_key for place in representatives}
        members: dict[int, list[SimilarPage]] = {}
        for page in self.view.of_clusters(groups) if groups else ():
            if page.view_key not in shown:
                place = groups[page.cluster]
                similarity = known.get(page.view_key) or self._estimate(self._examined[place], page)
                members.setdefault(place, []).append((page, similarity))
        return members

    def _estimate(self, one: RankedPage, other: RankedPage) -> Similarity:
        if not (one.minhash and other.minhash):
            return Similarity(0.0, 1.0)
        value, error = minhash_resemblance(one.minhash, other.minhash, self._scheme.bits)
        return Similarity(min(max(value, 0.0), 1.0), error)

    def _compared(self, representative: RankedPage, members: Sequence[SimilarPage]) -> Iterator[SimilarPage]:
        """Yield the members with their exact similarity; with the estimate where a text is not stored."""
        self._read([representative, *(page for page, _ in members)])
        for page, similarity in members:
            exact = self._resemblance(representative, page)
            yield page, similarity if exact is None else Similarity(exact, 0.0)

    def _resemblance(self, one: RankedPage, other: RankedPage) -> float | None:
        """Return the exact resemblance of two pages that were read; None where a text is not stored."""
        a, b = self._side(one), self._side(other)
        return None if a is None or b is None else scores(a, b, self._exclusions).resemblance

    def _side(self, page: RankedPage) -> Side | None:
        if page.view_key not in self._sides:
            _, text = self._texts.get(page.view_key) or (None, "")
            made = side(text, self._scheme, name=page.url, site=page.site) if text else None
            self._sides[page.view_key] = made
        return self._sides[page.view_key]

    def _read_places(self, places: Sequence[int]) -> None:
        self._read([self._examined[place] for place in dict.fromkeys(places)])

    def _read(self, pages: Sequence[RankedPage]) -> list[tuple[Card, str] | None]:
        unread = [page for page in pages if page.view_key not in self._texts]
        if unread:
            self._texts.update(zip([page.view_key for page in unread], self.view.read(unread), strict=True))
        return [self._texts[page.view_key] for page in pages]

    def _counts(self) -> GroupCount:
        groups = len(self._representatives)
        if self._by is None:
            return GroupCount()
        if self._exhausted:
            return GroupCount(groups, groups, groups)
        if self._by == "signature":
            return GroupCount(None, groups, groups + self.view.total - len(self._examined))
        clusters, exact = self.view.cluster_count()
        if self._by == "cluster" and exact:
            return GroupCount(clusters, clusters, clusters)
        joined = len(self._memberships)
        at_most = (clusters if exact else self.view.total) - joined
        return GroupCount(None, groups, at_most, None if exact else clusters - joined)

    def _facets(self) -> dict[str, list[FacetCount]]:
        by_cluster = self._by in BY_CLUSTER
        found = self.view.facets(self.request.facets, limit=MAX_FACET_VALUES, clusters=by_cluster)
        if by_cluster:
            return {name: [FacetCount(*each) for each in values] for name, values in found.items()}
        groups = {name: self._groups_by_value(name) for name in found} if self._by else {}
        return {
            name: [FacetCount(each.value, each.pages, groups[name][each.value] if groups else None) for each in values]
            for name, values in found.items()
        }

    def _groups_by_value(self, name: FacetName) -> Counter[str]:
        """Count the groups with a page that has a value."""
        group_of = {place: place for place in self._representatives}
        group_of |= {each.place: each.representative for each in self._memberships}
        values = {(_facet_value(self._examined[place], name), group) for place, group in group_of.items()}
        return Counter(value for value, _ in values)


def _facet_value(page: RankedPage, name: FacetName) -> str:
    if name == "site":
        return page.site
    if name == "crawl":
        return page.crawl
    return "" if page.fetched_at is None else page.fetched_at.strftime("%Y-%m" if name == "month" else "%Y")


def _member(page: RankedPage, similarity: Similarity) -> Member:
    kind: Literal["exact", "estimate"] = "estimate" if similarity.error else "exact"
    return Member(
        page.id,
        page.url,
        page.site,
        page.crawl,
        page.fetched_at,
        page.score,
        similarity.resemblance,
        kind,
        similarity.error,
    )
