"""One cluster as JSON values: its pages, how alike they are, and the text they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypedDict

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

MAX_PAGES_COUNTED = 2_000  # of a cluster; `more` says that there are more
MAX_PAGES_COMPARED = 60  # each with each other: 1,770 pairs
MAX_PAGES_SHOWN = 40  # in the matrix, and counted in the shared text
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
    """A page of the cluster. `number` is its position, and `likeness` compares the representative with it. `same_text`
    says whether both have the same words in the same order."""

    number: int
    same_text: bool
    likeness: LikenessDocument


class PairDocument(TypedDict):
    a: CardDocument
    b: CardDocument
    likeness: LikenessDocument


class SharedTextDocument(TypedDict):
    """The representative's text in runs of (start, end, pages): how many of the other `pages` have each run.
    `in_all` is the share of the text that every page has."""

    pages: int
    characters: int
    cut: bool
    in_all: float
    runs: list[tuple[int, int, int]]


class ClusterDocument(TypedDict):
    """`pages` and `sites` are counted up to a limit; `more` says whether there are more.

    The first `compared` pages were each compared with each other: `lowest` is the pair that is least alike, and `below`
    counts the pairs under the requested `threshold`. `matrix` has one row per page: its resemblance to each page before
    it. `following` says whether there is a next page of members.
    """

    id: str
    representative: CardDocument
    clustering: ClusteringDocument | None
    pages: int
    sites: int
    more: bool
    texts: int
    threshold: float
    compared: int
    pairs: int
    below: int
    lowest: PairDocument | None
    matrix: list[list[float]]
    shared: SharedTextDocument | None
    members: list[MemberDocument]
    following: bool


def cluster_document(
    index: Index, cards: Sequence[Card], *, threshold: float | None, limit: int, offset: int
) -> ClusterDocument:
    """Describe the cluster of `cards`: its first pages, one more than MAX_PAGES_COUNTED if it is larger."""
    cluster = cards[0].cluster
    representative = next((card for card in cards if card.id == cluster), cards[0])
    clustering = clustering_document(index.clustering())
    if threshold is None:
        threshold = clustering["threshold"] if clustering else 0.5
    members = index.cluster_members(cluster, limit=limit + 1, offset=offset)
    compared = ComparedPages(index)
    compared.add([representative, *cards[:MAX_PAGES_COMPARED], *members[:limit]])
    pairs = list(compared.pairs(cards[:MAX_PAGES_COMPARED]))
    least = lowest(pairs)
    counted = cards[:MAX_PAGES_COUNTED]
    return {
        "id": cluster,
        "representative": card_document(representative),
        "clustering": clustering,
        "pages": len(counted),
        "sites": len({card.site for card in counted}),
        "more": len(cards) > MAX_PAGES_COUNTED,
        "texts": len({card.text_digest or card.id for card in counted}),
        "threshold": threshold,
        "compared": len(cards[:MAX_PAGES_COMPARED]),
        "pairs": len(pairs),
        "below": sum(pair.likeness.resemblance < threshold for pair in pairs),
        "lowest": least and _pair(least),
        "matrix": _matrix(cards[:MAX_PAGES_SHOWN], pairs),
        "shared": _shared(index, compared, representative, cards[:MAX_PAGES_SHOWN]),
        "members": [
            {
                **card_document(card),
                "number": number,
                "same_text": bool(card.text_digest) and card.text_digest == representative.text_digest,
                "likeness": _likeness(compared.likeness(representative, card)),
            }
            for number, card in enumerate(members[:limit], offset + 1)
        ],
        "following": len(members) > limit,
    }


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
