"""Makes pages of results on a store: the hits of a search, or the groups among them.

A page that resembles the representative of an earlier group joins the first such group. The representative, or the page
that a rule chooses, is shown for the group.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from opensearch_winnow.cython_core.estimates import minhash_resemblance
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.compare import Comparer, Side, side
from opensearch_winnow.queries.estimates import MIN_SHINGLES
from opensearch_winnow.queries.scores import NO_SKETCHES, Sketches
from opensearch_winnow.queries.searching.grouping import Examined, GroupCount, Grouping, Steps, T
from opensearch_winnow.queries.searching.representatives import GroupingBatch, Join, Representatives, Similarity
from opensearch_winnow.queries.searching.results import (
    FacetCount,
    FacetName,
    Folded,
    GroupBy,
    Member,
    Result,
    SearchResults,
)
from opensearch_winnow.queries.searching.search_request import SearchRequest
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.snippet import hit_of
from opensearch_winnow.stores.store import View, ViewHit

MAX_FACET_VALUES = 100  # the values with the most pages
NO_SKETCH = array("Q")
BY_CLUSTER: tuple[GroupBy, ...] = ("cluster", "both")
BY_SIGNATURE: tuple[GroupBy, ...] = ("signature", "both")

SimilarPage = tuple[ViewHit, Similarity]  # a page, and how it compares with the representative of its group


class ViewPages:
    """The pages of a view, as far as they were read: a source for `Grouping` that sends its requests itself.

    With clusters, these are the best page of each.
    """

    def __init__(self, view: View, scheme: Scheme, exclusions: Exclusions, *, by_cluster: bool, grouped: bool) -> None:
        self.view = view
        self.ranked: list[ViewHit] = []
        self.exhausted = False  # the view has no more pages
        self._scheme = scheme
        self._comparer = Comparer(scheme, exclusions)
        self._exclusions = exclusions
        self._by_cluster = by_cluster
        self._grouped = grouped  # by signature: so signatures are read
        self._groups_shown: set[int] = set()  # by rank of the representative, whose text is not needed again
        self._short: dict[bytes, list[int]] = {}  # ranks of pages with few words, by their signatures
        # Texts read for the next result page, by the page's key in the view.
        self._texts: dict[int, tuple[Card, str] | None] = {}
        self._sides: dict[int, Side | None] = {}

    def read(self, wanted: int) -> Steps[Examined]:
        """Read the next pages of the view."""
        yield from ()
        check_cancelled()
        start = len(self.ranked)
        end = start + wanted
        pages = self.view.clustered(start, end) if self._by_cluster else self.view.ranked(start, end)
        self.exhausted = len(pages) < wanted or (not self._by_cluster and end >= self.view.total)
        self.ranked += pages
        if not self._grouped:
            return Examined([NO_SKETCHES] * len(pages))
        sketches = self.view.sketches(pages) if self._exclusions else [NO_SKETCH] * len(pages)
        sketched = [
            Sketches(page.shingle_count, sketch, page.minhash) for page, sketch in zip(pages, sketches, strict=True)
        ]
        return Examined(sketched, [page.site for page in pages])

    def compare(self, batch: GroupingBatch, groups: int) -> Steps[Sequence[float | None]]:
        """Compare pages by their texts."""
        yield from ()
        pairs = batch.undecided
        # Also read the pages that may be shown next: one request is quicker than two.
        shown_next = [rank for rank in batch.possible_representatives(groups) if rank not in self._groups_shown]
        self._read_ranks([*(rank for pair in pairs for rank in pair), *shown_next])
        return [self.resemblance(self.ranked[one], self.ranked[other]) for one, other in pairs]

    def short_copies(self, ranks: range) -> Steps[Mapping[int, Join]]:
        """Return the joins of short pages: to an earlier page with the same words and title.

        In an attached index, a page without a title may have one that winnow does not know: it is alone.
        """
        yield from ()
        equal: set[bytes] = set()
        for rank in ranks:
            page = self.ranked[rank]
            if page.minhash and 0 < page.shingle_count < MIN_SHINGLES:
                self._short.setdefault(page.minhash, []).append(rank)
                equal.add(page.minhash)
        alike = [self._short[signature] for signature in equal if len(self._short[signature]) > 1]
        self._read_ranks(sorted(rank for some in alike for rank in some))
        copies: dict[int, Join] = {}
        for some in alike:
            first: dict[str, int] = {}
            for rank in some:
                read = self._texts[self.ranked[rank].view_key]
                title = read[0].title if read else None
                if read and not self.ranked[rank].attached_id:
                    title = title or ""
                representative = rank if title is None else first.setdefault(title, rank)
                if representative != rank:
                    copies[rank] = Join(representative, Similarity(1.0, 0.0))
        return copies

    def end_page(self, representatives: Sequence[int]) -> None:
        """Forget the texts that were read for a result page, which shows these groups."""
        self._groups_shown.update(representatives)
        self._texts.clear()
        self._sides.clear()

    def estimate(self, one: ViewHit, other: ViewHit) -> Similarity:
        if not (one.minhash and other.minhash):
            return Similarity(0.0, 1.0)
        value, error = minhash_resemblance(one.minhash, other.minhash, self._scheme.bits)
        return Similarity(min(max(value, 0.0), 1.0), error)

    def resemblance(self, one: ViewHit, other: ViewHit) -> float | None:
        """Return the exact resemblance of two pages that were read; None where a text is not stored."""
        a, b = self._side(one), self._side(other)
        return None if a is None or b is None else self._comparer.scores(a, b).resemblance

    def _side(self, page: ViewHit) -> Side | None:
        if page.view_key not in self._sides:
            _, text = self._texts.get(page.view_key) or (None, "")
            made = side(text, self._scheme, name=page.url, site=page.site) if text else None
            self._sides[page.view_key] = made
        return self._sides[page.view_key]

    def _read_ranks(self, ranks: Sequence[int]) -> None:
        self.texts([self.ranked[rank] for rank in dict.fromkeys(ranks)])

    def texts(self, pages: Sequence[ViewHit]) -> list[tuple[Card, str] | None]:
        unread = [page for page in pages if page.view_key not in self._texts]
        if unread:
            self._texts.update(zip([page.view_key for page in unread], self.view.read(unread), strict=True))
        return [self._texts[page.view_key] for page in pages]


class ResultPages:
    """The pages of results of one search, made one after the other."""

    def __init__(self, view: View, request: SearchRequest, scheme: Scheme, exclusions: Exclusions) -> None:
        self.view = view
        self.request = request
        self._by = request.by if request.group else None
        self._by_cluster = self._by in BY_CLUSTER
        by_signature = self._by in BY_SIGNATURE
        self._exclusions = exclusions
        self._words = request.parsed
        self._source = ViewPages(view, scheme, exclusions, by_cluster=self._by_cluster, grouped=by_signature)
        self._grouping = Grouping(
            self._source,
            Representatives(scheme, request.min_resemblance, exclusions) if by_signature else None,
            examine=request.examine if by_signature else request.limit,
        )
        self._made: list[SearchResults] = []
        self._groups_shown = 0  # on these
        self._shown: dict[int, ViewHit] = {}  # the page shown for a group, by the rank of its representative

    def results(self, number: int) -> SearchResults:
        """Return a result page, counted from 0. The ones before it are made first: they decide where it starts."""
        while len(self._made) <= number and self.has_more_than(len(self._made) - 1):
            self._made.append(self._next())
        return self._made[number] if number < len(self._made) else self._results({}, [])

    def has_more_than(self, number: int) -> bool:
        """Return whether there is, or may be, a result page after this one."""
        return number + 1 < len(self._made) or self._grouping.has_more_than(self._groups_shown)

    def _next(self) -> SearchResults:
        before = self._grouping.examined
        page = _result_of(self._grouping.page(self._groups_shown, self.request.limit, examined_before=before))
        self._groups_shown += len(page.members)
        results = self._results(page.members, page.folded)
        self._source.end_page(list(page.members))
        return results

    def _results(self, groups: Mapping[int, Sequence[int]], folded: Sequence[int]) -> SearchResults:
        """Make a result page of some groups, and of members of groups on earlier pages, by rank."""
        representatives = list(groups)
        joined = self._members([rank for members in groups.values() for rank in members], representatives)
        for rank in representatives:
            self._shown[rank], joined[rank] = self._choose(self._source.ranked[rank], joined.get(rank, []))
        members, late = self._scored(joined), self._scored(self._members(folded))
        pages = [self._shown[rank] for rank in representatives]
        hits = [
            Result(*hit_of(read[0], page.score, read[1], self._words), members=members[rank])
            for rank, page, read in zip(representatives, pages, self._source.texts(pages), strict=True)
            if read is not None  # None: the page has just been deleted
        ]
        return SearchResults(
            total=self.view.total,
            hits=hits,
            **self._count()._asdict(),
            examined=self._grouping.examined,
            folded=[Folded(self._shown[rank].url, each) for rank, some in late.items() for each in some],
            facets=self._facets(),
            min_resemblance=self.request.min_resemblance if self._by else None,
            by=self._by,
        )

    def _members(self, ranks: Sequence[int], representatives: Sequence[int] = ()) -> dict[int, list[SimilarPage]]:
        """Return the members of each group by the rank of its representative, in the order of their rank.

        With clusters, these are all pages in the clusters of the given members (`ranks`) and `representatives`.
        """
        if self._by_cluster:
            return self._cluster_members(ranks, representatives)
        members: dict[int, list[SimilarPage]] = {}
        for rank in ranks:
            join = self._grouping.joins[rank]
            members.setdefault(join.representative, []).append((self._source.ranked[rank], join.similarity))
        return members

    def _choose(self, best: ViewHit, members: Sequence[SimilarPage]) -> tuple[ViewHit, list[SimilarPage]]:
        """Return the page to show for a group, and the others, the best first."""
        rule = self.request.rule
        group = [(best, Similarity(1.0, 0.0)), *members]
        chosen = rule.first([page for page, _ in group]) if rule else 0
        return group[chosen][0], [*group[:chosen], *group[chosen + 1 :]]

    def _scored(self, members: Mapping[int, Sequence[SimilarPage]]) -> dict[int, list[Member]]:
        """Return the members of each group, compared with the page that is shown for it."""
        exactly = self.request.exact or (self._exclusions and self._by_cluster)
        scored: dict[int, list[Member]] = {}
        for rank, some in members.items():
            shown = self._shown[rank]
            others = shown is not self._source.ranked[rank]  # the similarities are to another page
            if others:
                some = [(page, self._source.estimate(shown, page)) for page, _ in some]
            compared = self._compared(shown, some) if exactly or (others and self._exclusions) else some
            scored[rank] = [_member(*each) for each in compared]
        return scored

    def _cluster_members(self, ranks: Sequence[int], representatives: Sequence[int]) -> dict[int, list[SimilarPage]]:
        ranked, joins = self._source.ranked, self._grouping.joins
        known = {ranked[rank].view_key: joins[rank].similarity for rank in ranks}
        groups = {ranked[rank].cluster: rank for rank in representatives}
        groups |= {ranked[rank].cluster: joins[rank].representative for rank in ranks}
        groups.pop("", None)  # a page without a cluster is alone
        shown = {ranked[rank].view_key for rank in representatives}
        members: dict[int, list[SimilarPage]] = {}
        for page in self.view.of_clusters(groups) if groups else ():
            if page.view_key not in shown:
                representative = groups[page.cluster]
                similarity = known.get(page.view_key) or self._source.estimate(ranked[representative], page)
                members.setdefault(representative, []).append((page, similarity))
        return members

    def _compared(self, representative: ViewHit, members: Sequence[SimilarPage]) -> Iterator[SimilarPage]:
        """Yield the members with their exact similarity; with the estimate where a text is not stored."""
        self._source.texts([representative, *(page for page, _ in members)])
        for page, similarity in members:
            exact = self._source.resemblance(representative, page)
            yield page, similarity if exact is None else Similarity(exact, 0.0)

    def _count(self) -> GroupCount:
        if self._by is None:
            return GroupCount()
        if self._by == "signature" or self._grouping.exhausted:
            return self._grouping.count(self.view.total)
        clusters, exact = self.view.cluster_count()
        if self._by == "cluster" and exact:
            return GroupCount(clusters, clusters, clusters)
        joined = len(self._grouping.joins)
        at_most = (clusters if exact else self.view.total) - joined
        return GroupCount(None, len(self._grouping.representatives), at_most, None if exact else clusters - joined)

    def _facets(self) -> dict[str, list[FacetCount]]:
        found = self.view.facets(self.request.facets, limit=MAX_FACET_VALUES, clusters=self._by_cluster)
        if self._by_cluster:
            return {name: [FacetCount(*each) for each in values] for name, values in found.items()}
        groups = {name: self._groups_by_value(name) for name in found} if self._by else {}
        return {
            name: [FacetCount(each.value, each.pages, groups[name][each.value] if groups else None) for each in values]
            for name, values in found.items()
        }

    def _groups_by_value(self, name: FacetName) -> Counter[str]:
        """Count the groups with a page that has a value."""
        group_of = {rank: rank for rank in self._grouping.representatives}
        group_of |= {rank: join.representative for rank, join in self._grouping.joins.items()}
        values = {(_facet_value(self._source.ranked[rank], name), group) for rank, group in group_of.items()}
        return Counter(value for value, _ in values)


def _result_of(steps: Steps[T]) -> T:
    """Run steps that yield no requests, such as those of a view, and return their result."""
    try:
        call = next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError(f"a store sends its requests itself, not {call.method}")


def _facet_value(page: ViewHit, name: FacetName) -> str:
    if name == "site":
        return page.site
    if name == "crawl":
        return page.crawl
    return "" if page.fetched_at is None else page.fetched_at.strftime("%Y-%m" if name == "month" else "%Y")


def _member(page: ViewHit, similarity: Similarity) -> Member:
    return Member(
        resemblance=similarity.resemblance,
        kind="estimate" if similarity.error else "exact",
        error=similarity.error,
        score=page.score,
        fetched_at=page.fetched_at,
        site=page.site,
        crawl=page.crawl,
        url=page.url,
        title=None,  # a view has none: they are read for the pages of results that are wanted
        id=page.id,
    )
