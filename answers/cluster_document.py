"""One cluster, as JSON values: its pages, how alike they are, and what all of them have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypedDict

from opensearch_winnow.answers.card_document import CardDocument, card_document
from opensearch_winnow.answers.clustering_document import ClusteringDocument, clustering_document
from opensearch_winnow.answers.compared_pages import ComparedPages, Likeness, Pair, lowest
from opensearch_winnow.answers.shared_text import Run, shared_runs
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.compare import Side

COUNTED = 2_000  # pages of a cluster: of a larger one it is said that there are more
COMPARED = 60  # each with each other: 1,770 pairs
SHOWN = 40  # of them in a matrix, and in the shared text
CHARACTERS = 200_000  # of the representative's text
HELD_TOGETHER = 10_000_000  # canonical characters of all pairs of texts in which passages are looked for


class LikenessDocument(TypedDict):
    """`containment` is how much of the first is in the second, `contained` how much of the second is in the first."""

    resemblance: float
    containment: float
    contained: float
    kind: Literal["exact", "estimate"]
    error: float


class MemberDocument(CardDocument):
    """`number` is its place in the cluster; `likeness` compares the representative with it. `same_text` says whether
    the two have the same words in the same order."""

    number: int
    same_text: bool
    likeness: LikenessDocument


class PairDocument(TypedDict):
    a: CardDocument
    b: CardDocument
    likeness: LikenessDocument


class SharedTextDocument(TypedDict):
    """The text of the representative in runs (start, end, pages): how many of so many other `pages` have each."""

    pages: int
    characters: int
    cut: bool
    in_all: float
    runs: list[tuple[int, int, int]]


class ClusterDocument(TypedDict):
    """`pages` and `sites` are counted up to a limit: with `more` there are more. Of the first `compared` pages each was
    compared with each: `lowest` is the pair that is least alike, and `below` counts the pairs below the `threshold`
    that was asked for. `matrix` has for each of the first pages its resemblance to those before it."""

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
    """`cards` are the first pages of the cluster, one more than COUNTED if there are more."""
    cluster = cards[0].cluster
    own = next((card for card in cards if card.id == cluster), cards[0])
    clustering = clustering_document(index.clustering())
    if threshold is None:
        threshold = clustering["threshold"] if clustering else 0.5
    members = index.cluster_members(cluster, limit=limit + 1, offset=offset)
    compared = ComparedPages(index)
    compared.add([own, *cards[:COMPARED], *members[:limit]])
    pairs = list(compared.pairs(cards[:COMPARED]))
    least = lowest(pairs)
    counted = cards[:COUNTED]
    return {
        "id": cluster,
        "representative": card_document(own),
        "clustering": clustering,
        "pages": len(counted),
        "sites": len({card.site for card in counted}),
        "more": len(cards) > COUNTED,
        "texts": len({card.text_digest or card.id for card in counted}),
        "threshold": threshold,
        "compared": len(cards[:COMPARED]),
        "pairs": len(pairs),
        "below": sum(pair.likeness.resemblance < threshold for pair in pairs),
        "lowest": least and _pair(least),
        "matrix": _matrix(cards[:SHOWN], pairs),
        "shared": _shared(index, compared, own, cards[:SHOWN]),
        "members": [
            {
                **card_document(card),
                "number": number,
                "same_text": bool(card.text_digest) and card.text_digest == own.text_digest,
                "likeness": _likeness(compared.likeness(own, card)),
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


def _shared(index: Index, compared: ComparedPages, own: Card, cards: Sequence[Card]) -> SharedTextDocument | None:
    """None where there is nothing to compare, or no text."""
    side = compared.side(own)
    if side is None:
        return None
    sides: dict[str, Side] = {}
    times: Counter[str] = Counter()  # pages that have each text
    left = HELD_TOGETHER
    for card in cards:
        theirs = compared.side(card)
        if card.id == own.id or theirs is None:
            continue
        if card.text_digest not in sides:
            left -= len(side.chars) + len(theirs.chars)
            if left < 0:
                break
            sides[card.text_digest] = theirs
        times[card.text_digest] += 1
    if not sides:
        return None
    others = [(theirs, times[digest]) for digest, theirs in sides.items()]
    length = len(side.canonical.text)
    runs = shared_runs(length, side, others, index.scheme, compared.exclusions)
    runs = [Run(start, min(end, CHARACTERS), pages) for start, end, pages in runs if start < CHARACTERS]
    shown = min(length, CHARACTERS)
    in_all = sum(end - start for start, end, pages in runs if pages == times.total())
    return {
        "pages": times.total(),
        "characters": length,
        "cut": length > CHARACTERS,
        "in_all": in_all / max(shown, 1),
        "runs": [(run.start, run.end, run.pages) for run in runs],
    }
