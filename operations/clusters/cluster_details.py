"""Describes one cluster: the resemblance of its pages, the pages that hold it together, and the text they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import LastClustering
from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, inlined, key, listed
from opensearch_winnow.foundation.option_kinds import number, share
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.asking.page_comparer import ComparedPair, Likeness, PageComparer, lowest
from opensearch_winnow.queries.compare import Comparer, Side
from opensearch_winnow.queries.spans import merged_spans
from opensearch_winnow.stores.store import Store

MAX_CAPTURES_COUNTED = 2_000  # of a cluster; `more` says that there are more
MAX_PAGES_ORDERED = 100  # by their exact resemblance to the representative; more are ordered by estimates
MAX_PAGES_COMPARED = 40  # each with each other: 780 pairs
MAX_TEXT_CHARS = 200_000  # of the representative's text
MAX_CHARS_MATCHED = 10_000_000  # canonical characters, summed over all pairs of texts whose passages are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDetailsOptions(Options):
    """The details of a cluster that are wanted."""

    threshold: float | None = option(
        None,
        share(above_0=True),
        "Join pages that resemble each other by at least X.",
        unset="the threshold of the clustering",
    )
    limit: int = option(100, number(1, MAX_CAPTURES_COUNTED), "List N pages of the cluster.")
    offset: int = 0


class ClusterPage(NamedTuple):
    """A URL of a cluster."""

    card: Card  # the representative, or else the latest of its captures in the cluster
    captures: int  # in the cluster


@answer
class JoiningPage(Answer):
    """A page that holds a cluster together: without it, the pages that were compared fall into more parts."""

    number: int = key("Its position in the list of all pages.")
    parts: list[int] = key("The number of pages of each part without it, the largest first.")


class ClusterParts(NamedTuple):
    """The connections between the pages of a cluster. Parts are given by their numbers of pages, the largest first."""

    parts: list[int]
    joined_by: list[tuple[int, list[int]]]  # the index of a page, and the parts without it; most parts first


class SharedRun(NamedTuple):
    """A part of the text, with offsets in code points, and the number of other pages that have it."""

    start: int
    end: int
    pages: int


@answer
class ListedPage(Answer):
    """A page of a cluster: the capture that stands for its URL, and how the representative compares with it."""

    card: Card = inlined()
    number: int = key("Its position in the list of all pages.")
    captures: int = key("The number of its captures in the cluster.")
    same_text: bool = key("True if it has the same words in the same order as the representative.")
    likeness: Likeness = key("The scores of the representative compared with it.")


@answer
class ClusterPageRow(Answer):
    """A page of a cluster in a table; the scores compare the representative with it."""

    page: ListedPage = inlined()
    likeness: Likeness = inlined()


@answer
class ComparedPage(Answer):
    """A page that was compared with others."""

    card: Card = inlined()
    number: int = key("Its position in the list of all pages.")


@answer
class DividedText(Answer):
    """The representative's text, divided into runs by the number of other pages that have them."""

    pages: int = key("The number of other pages that were compared.")
    characters: int = key("The length of the text.")
    cut: bool = key("True if the runs end before the text does.")
    in_all: float = key("The share of the text that every page has.")
    runs: Sequence[tuple[int, int, int]] = key("The start and end of each run, and the number of pages that have it.")


@answer
class ClusterDetails(Listing[ListedPage]):
    """A cluster. All counts are up to a limit."""

    row = ClusterPageRow

    representative: Card = key("The representative, or the earliest page if it is gone.")
    clustering: LastClustering | None = key("The last clustering; null if there was none.")
    pages: int = key("The number of captures.")
    urls: int = key("The number of different URLs.")
    sites: int = key("The number of sites.")
    texts: int = key("The number of different texts of these URLs.")
    more: bool = key("True if there are more captures than were counted.")
    threshold: float = key("The resemblance from which on pages are joined.")
    compared_pages: list[ComparedPage] = key("The pages that were compared with each other: all, or some of them.")
    pairs: int = key("The number of pairs of these.")
    below: int = key("The number of these pairs that are under the threshold.")
    lowest: ComparedPair | None = key("The pair that is least alike; null if there is only one page.")
    matrix: list[list[float]] = key("The resemblance of each compared page to each one before it.")
    parts: list[int] = key("The number of pages of each part into which pairs at or above the threshold join them.")
    joined_by: list[JoiningPage] = key("The pages without which there would be more parts.")
    shared: DividedText | None = key("The text that the pages share; null without texts to compare.")
    listed_pages: list[ListedPage] = listed("The representative and the other pages by resemblance to it, or a part.")
    following: bool = key("True if further pages come after these.")

    @property
    @derived
    def id(self) -> str:
        """The id of the cluster."""
        return self.representative.cluster

    @property
    @derived
    def compared(self) -> int:
        """The number of pages that were compared with each other."""
        return len(self.compared_pages)

    def rows(self) -> Iterator[ClusterPageRow]:
        """Yield each page with its scores."""
        return (ClusterPageRow(each, each.likeness) for each in self)


def cluster_details(
    store: Store, captures: Sequence[Card], clustering: LastClustering | None, options: ClusterDetailsOptions
) -> ClusterDetails:
    """Describe the cluster of `captures`: its first ones, one more than MAX_CAPTURES_COUNTED if it is larger."""
    threshold = options.threshold or (clustering or ClusteringOptions()).threshold
    counted = captures[:MAX_CAPTURES_COUNTED]
    comparer = PageComparer.of(store)
    pages = _ordered(comparer, cluster_pages(counted))
    representative = pages[0].card
    numbers = _spread(len(pages))
    chosen = [pages[number - 1].card for number in numbers]
    end = options.offset + options.limit
    part = list(enumerate(pages, 1))[options.offset : end]
    comparer.prepare([representative, *chosen, *(page.card for _, page in part)])
    pairs = list(comparer.pairs(chosen))
    matrix = _matrix(chosen, pairs)
    parts, joined_by = cluster_parts(matrix, threshold)
    digest = representative.text_digest
    return ClusterDetails(
        representative=representative,
        clustering=clustering,
        pages=len(counted),
        urls=len(pages),
        sites=len({page.card.site for page in pages}),
        texts=len({page.card.text_digest or page.card.id for page in pages}),
        more=len(captures) > MAX_CAPTURES_COUNTED,
        threshold=threshold,
        compared_pages=list(map(ComparedPage, chosen, numbers)),
        pairs=len(pairs),
        below=sum(pair.likeness.resemblance < threshold for pair in pairs),
        lowest=lowest(pairs),
        matrix=matrix,
        parts=parts,
        joined_by=[JoiningPage(numbers[page], sizes) for page, sizes in joined_by],
        shared=_shared(comparer, representative, chosen),
        listed_pages=[
            ListedPage(
                card,
                number,
                count,
                bool(digest) and card.text_digest == digest,
                comparer.likeness(representative, card),
            )
            for number, (card, count) in part
        ],
        following=len(pages) > end,
    )


def cluster_pages(cards: Sequence[Card]) -> list[ClusterPage]:
    """Return a page for each URL of a cluster: the representative's first, the others in the order of `cards`.

    `cards` are the captures of the cluster, oldest first. If the representative is no longer in the store, the first
    one stands for it.
    """
    if not cards:
        return []
    representative = next((card for card in cards if card.id == card.cluster), cards[0])
    by_url: dict[str, list[Card]] = {representative.url: []}
    for card in cards:
        by_url.setdefault(card.url, []).append(card)
    return [
        ClusterPage(representative if url == representative.url else _latest(captures), len(captures))
        for url, captures in by_url.items()
    ]


def _latest(captures: Sequence[Card]) -> Card:
    """Return the latest of captures in the order of time, in which those without a time come last."""
    return next((card for card in reversed(captures) if card.fetched_at), captures[-1])


def _ordered(comparer: PageComparer, pages: Sequence[ClusterPage]) -> list[ClusterPage]:
    """Sort the pages after the first by their resemblance to it, which is estimated if there are many."""
    first, *others = pages
    if len(pages) <= MAX_PAGES_ORDERED:
        comparer.prepare(page.card for page in pages)
    comparer.prepare_sketches(page.card for page in pages)
    likeness = {page.card.id: comparer.likeness(first.card, page.card).resemblance for page in others}
    return [first, *sorted(others, key=lambda page: (-likeness[page.card.id], page.card.url))]


def _spread(pages: int) -> list[int]:
    """Return the numbers of the pages to compare with each other: from the first to the last, evenly spread."""
    if pages <= MAX_PAGES_COMPARED:
        return list(range(1, pages + 1))
    return [1 + i * (pages - 1) // (MAX_PAGES_COMPARED - 1) for i in range(MAX_PAGES_COMPARED)]


def _matrix(cards: Sequence[Card], pairs: Sequence[ComparedPair]) -> list[list[float]]:
    known = {(pair.a.id, pair.b.id): pair.likeness.resemblance for pair in pairs}
    return [[known[before.id, card.id] for before in cards[:row]] for row, card in enumerate(cards)]


def cluster_parts(matrix: Sequence[Sequence[float]], threshold: float) -> ClusterParts:
    """Find the parts into which pairs at or above `threshold` join pages.

    `matrix` has a row for each page: its resemblance to each page before it.
    """
    neighbours: list[set[int]] = [set() for _ in matrix]
    for page, shares in enumerate(matrix):
        for before, resemblance in enumerate(shares):
            if resemblance >= threshold:
                neighbours[page].add(before)
                neighbours[before].add(page)
    pages = set(range(len(matrix)))
    parts = _parts(neighbours, pages)
    without = [(page, _parts(neighbours, pages - {page})) for page in sorted(pages)]
    joined_by = [(page, left) for page, left in without if len(left) > len(parts)]
    return ClusterParts(parts, sorted(joined_by, key=lambda each: -len(each[1])))


def _parts(neighbours: Sequence[Collection[int]], pages: Collection[int]) -> list[int]:
    """Return the sizes of the connected parts of these pages."""
    unseen, sizes = set(pages), []
    while unseen:
        before = len(unseen)
        reached = {unseen.pop()}
        while reached:
            reached = {near for page in reached for near in neighbours[page]} & unseen
            unseen -= reached
        sizes.append(before - len(unseen))
    return sorted(sizes, reverse=True)


def _shared(comparer: PageComparer, representative: Card, cards: Sequence[Card]) -> DividedText | None:
    """Return the representative's text, divided by the other pages that have it; None without texts to compare."""
    side = comparer.side(representative)
    if side is None:
        return None
    sides: dict[str, Side] = {}
    pages_with: Counter[str] = Counter()  # number of pages, by the digest of their text
    budget = MAX_CHARS_MATCHED
    for card in cards:
        theirs = comparer.side(card)
        if card.id == representative.id or theirs is None:
            continue
        if card.text_digest not in sides:
            budget -= len(side.chars) + len(theirs.chars)
            if budget < 0:
                break
            sides[card.text_digest] = theirs
        pages_with[card.text_digest] += 1
    if not sides:
        return None
    others = [(theirs, pages_with[digest]) for digest, theirs in sides.items()]
    length = len(side.canonical.text)
    runs = shared_runs(length, side, others, comparer)
    runs = [SharedRun(start, min(end, MAX_TEXT_CHARS), pages) for start, end, pages in runs if start < MAX_TEXT_CHARS]
    shown = min(length, MAX_TEXT_CHARS)
    in_all = sum(end - start for start, end, pages in runs if pages == pages_with.total())
    return DividedText(
        pages=pages_with.total(),
        characters=length,
        cut=length > MAX_TEXT_CHARS,
        in_all=in_all / max(shown, 1),
        runs=runs,
    )


def shared_runs(length: int, one: Side, others: Sequence[tuple[Side, int]], comparer: Comparer) -> list[SharedRun]:
    """Divide a text of `length` code points into runs by the number of pages that have them.

    Each of `others` is a prepared text, and the number of pages with that text.
    """
    changes: Counter[int] = Counter()
    for side, pages in others:
        passages, _ = comparer.passages(one, side)
        for start, end in merged_spans(passage[:2] for passage in passages):
            changes[start] += pages
            changes[end] -= pages
    runs: list[SharedRun] = []
    pages = 0
    for start, end in pairwise(sorted({0, length, *(offset for offset in changes if offset < length)})):
        pages += changes[start]
        if runs and runs[-1].pages == pages:
            runs[-1] = runs[-1]._replace(end=end)
        else:
            runs.append(SharedRun(start, end, pages))
    return runs
