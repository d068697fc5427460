"""One cluster as JSON values: its pages, how alike they are, and the text they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypedDict

from opensearch_winnow.answers.cluster_pages import ClusterPage, cluster_pages
from opensearch_winnow.answers.cluster_parts import cluster_parts
from opensearch_winnow.answers.clusters_document import (
    CardDocument,
    ClusteringDocument,
    card_document,
    clustering_document,
)
from opensearch_winnow.answers.compared_pages import ComparedPages, Likeness, Pair, lowest
from opensearch_winnow.answers.shared_text import SharedRun, shared_runs
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.compare import Side

MAX_CAPTURES_COUNTED = 2_000  # of a cluster; `more` says that there are more
MAX_PAGES_ORDERED = 100  # by their exact resemblance to the representative; more are ordered by estimates
MAX_PAGES_COMPARED = 40  # each with each other: 780 pairs
MAX_TEXT_CHARS = 200_000  # of the representative's text
MAX_CHARS_MATCHED = 10_000_000  # canonical characters, summed over all pairs of texts whose passages are looked for


class LikenessDocument(TypedDict):
    """`containment` is how much of the first page is in the second, `contained` how much of the second in the first."""

    resemblance: float
    containment: float
    contained: float
    kind: Literal["exact", "estimate"]
    error: float


class MemberDocument(CardDocument):
    """A page of the cluster: the capture that stands for its URL, and how many `captures` of it are in the cluster.

    `number` is its position, and `likeness` compares the representative with it. `same_text` says whether both have the
    same words in the same order.
    """

    number: int
    captures: int
    same_text: bool
    likeness: LikenessDocument


class PairDocument(TypedDict):
    a: CardDocument
    b: CardDocument
    likeness: LikenessDocument


class ComparedDocument(CardDocument):
    """A page that was compared with others, by its position among the members."""

    number: int


class JoiningDocument(TypedDict):
    """A page that holds a cluster together: without it, the pages compared would fall into more `parts` than now."""

    number: int
    parts: list[int]


class SharedTextDocument(TypedDict):
    """The representative's text in runs of (start, end, pages): how many of the other `pages` have each run.
    `in_all` is the share of the text that every page has."""

    pages: int
    characters: int
    cut: bool
    in_all: float
    runs: list[tuple[int, int, int]]


class ClusterDocument(TypedDict):
    """`pages` counts captures, `urls` the different URLs, `texts` the different texts of these, and `sites` their
    sites, all up to a limit; `more` says whether there are more.

    `members` has one capture for each URL: the representative first, then by resemblance to it. `following` says
    whether there is a next page of members.

    The `compared` pages were each compared with each other: all of them, or some from the first to the last. `lowest`
    is the pair that is least alike, and `below` counts the pairs under the requested `threshold`. `matrix` has one row
    for each of `compared_pages`: its resemblance to each page before it. `parts` has the sizes of the parts into which
    the pairs at or above the threshold join them, and `joined_by` has the pages without which there would be more.
    """

    id: str
    representative: CardDocument
    clustering: ClusteringDocument | None
    pages: int
    urls: int
    sites: int
    more: bool
    texts: int
    threshold: float
    compared: int
    compared_pages: list[ComparedDocument]
    pairs: int
    below: int
    lowest: PairDocument | None
    matrix: list[list[float]]
    parts: list[int]
    joined_by: list[JoiningDocument]
    shared: SharedTextDocument | None
    members: list[MemberDocument]
    following: bool


def cluster_document(
    index: Index, cards: Sequence[Card], *, threshold: float | None, limit: int, offset: int
) -> ClusterDocument:
    """Describe the cluster of `cards`: its first captures, one more than MAX_CAPTURES_COUNTED if it is larger."""
    counted = cards[:MAX_CAPTURES_COUNTED]
    clustering = clustering_document(index.clustering())
    if threshold is None:
        threshold = clustering["threshold"] if clustering else 0.5
    compared = ComparedPages(index)
    pages = _ordered(compared, cluster_pages(counted))
    representative = pages[0].card
    numbers = _spread(len(pages))
    chosen = [pages[number - 1].card for number in numbers]
    members = list(enumerate(pages, 1))[offset : offset + limit]
    compared.add([representative, *chosen, *(page.card for _, page in members)])
    pairs = list(compared.pairs(chosen))
    least = lowest(pairs)
    matrix = _matrix(chosen, pairs)
    parts, joined_by = cluster_parts(matrix, threshold)
    return {
        "id": representative.cluster,
        "representative": card_document(representative),
        "clustering": clustering,
        "pages": len(counted),
        "urls": len(pages),
        "sites": len({page.card.site for page in pages}),
        "more": len(cards) > MAX_CAPTURES_COUNTED,
        "texts": len({page.card.text_digest or page.card.id for page in pages}),
        "threshold": threshold,
        "compared": len(chosen),
        "compared_pages": [
            {**card_document(card), "number": number} for number, card in zip(numbers, chosen, strict=True)
        ],
        "pairs": len(pairs),
        "below": sum(pair.likeness.resemblance < threshold for pair in pairs),
        "lowest": least and _pair(least),
        "matrix": matrix,
        "parts": parts,
        "joined_by": [{"number": numbers[place], "parts": sizes} for place, sizes in joined_by],
        "shared": _shared(index, compared, representative, chosen),
        "members": [
            {
                **card_document(page.card),
                "number": number,
                "captures": page.captures,
                "same_text": bool(page.card.text_digest) and page.card.text_digest == representative.text_digest,
                "likeness": _likeness(compared.likeness(representative, page.card)),
            }
            for number, page in members
        ],
        "following": len(pages) > offset + limit,
    }


def _ordered(compared: ComparedPages, pages: Sequence[ClusterPage]) -> list[ClusterPage]:
    """Sort the pages after the first by their resemblance to it, which is estimated if there are many."""
    first, *others = pages
    if len(pages) <= MAX_PAGES_ORDERED:
        compared.add(page.card for page in pages)
    compared.add_sketches(page.card for page in pages)
    likeness = {page.card.id: compared.likeness(first.card, page.card).resemblance for page in others}
    return [first, *sorted(others, key=lambda page: (-likeness[page.card.id], page.card.url))]


def _spread(pages: int) -> list[int]:
    """Return the numbers of the pages to compare with each other: from the first to the last, evenly spread."""
    if pages <= MAX_PAGES_COMPARED:
        return list(range(1, pages + 1))
    return [1 + place * (pages - 1) // (MAX_PAGES_COMPARED - 1) for place in range(MAX_PAGES_COMPARED)]


def _likeness(likeness: Likeness) -> LikenessDocument:
    return {
        "resemblance": likeness.resemblance,
        "containment": likeness.containment,
        "contained": likeness.contained,
        "kind": likeness.kind,
        "error": likeness.error,
    }


def _pair(pair: Pair) -> PairDocument:
    return {"a": card_document(pair.a), "b": card_document(pair.b), "likeness": _likeness(pair.likeness)}


def _matrix(cards: Sequence[Card], pairs: Sequence[Pair]) -> list[list[float]]:
    known = {(pair.a.id, pair.b.id): pair.likeness.resemblance for pair in pairs}
    return [[known[before.id, card.id] for before in cards[:row]] for row, card in enumerate(cards)]


def _shared(
    index: Index, compared: ComparedPages, representative: Card, cards: Sequence[Card]
) -> SharedTextDocument | None:
    """Return which parts of the representative's text the other pages have, or None without texts to compare."""
    side = compared.side(representative)
    if side is None:
        return None
    sides: dict[str, Side] = {}
    pages_with: Counter[str] = Counter()  # number of pages, by the digest of their text
    budget = MAX_CHARS_MATCHED
    for card in cards:
        theirs = compared.side(card)
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
    runs = shared_runs(length, side, others, index.scheme, compared.exclusions)
    runs = [SharedRun(start, min(end, MAX_TEXT_CHARS), pages) for start, end, pages in runs if start < MAX_TEXT_CHARS]
    shown = min(length, MAX_TEXT_CHARS)
    in_all = sum(end - start for start, end, pages in runs if pages == pages_with.total())
    return {
        "pages": pages_with.total(),
        "characters": length,
        "cut": length > MAX_TEXT_CHARS,
        "in_all": in_all / max(shown, 1),
        "runs": [(run.start, run.end, run.pages) for run in runs],
    }
