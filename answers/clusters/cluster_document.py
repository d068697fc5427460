"""One cluster as JSON values: its pages, how alike they are, and the text they share."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from opensearch_winnow.answers.clusters.clusters_document import (
    CardDocument,
    ClusteringDocument,
    card_document,
    clustering_document,
)
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.asking.page_comparer import ComparedPair, Likeness
from opensearch_winnow.operations.clusters.cluster_details import ClusterDetails, DividedText, ListedPage


class LikenessDocument(TypedDict):
    """`containment` is how much of the first page is in the second, `contained` how much of the second in the first."""

    resemblance: float
    containment: float
    contained: float
    kind: Literal["exact", "estimate"]
    error: float


class ListedPageDocument(CardDocument):
    """A page of the cluster: the capture that stands for its URL, and how many `captures` of it are in the cluster.

    `number` is its position, and `likeness` compares the representative with it. `same_text` says whether both have the
    same words in the same order.
    """

    number: int
    captures: int
    same_text: bool
    likeness: LikenessDocument


class ComparedPairDocument(TypedDict):
    a: CardDocument
    b: CardDocument
    likeness: LikenessDocument


class MatrixPageDocument(CardDocument):
    """A page that was compared with others, by its number in the list of all pages."""

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

    `listed_pages` has one capture for each URL: the representative first, then by resemblance to it. `following` says
    whether there are more to list.

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
    compared_pages: list[MatrixPageDocument]
    pairs: int
    below: int
    lowest: ComparedPairDocument | None
    matrix: list[list[float]]
    parts: list[int]
    joined_by: list[JoiningDocument]
    shared: SharedTextDocument | None
    listed_pages: list[ListedPageDocument]
    following: bool


def cluster_document(details: ClusterDetails, clustering: dict[str, Any] | None) -> ClusterDocument:
    """Describe a cluster; `clustering` is the result of `Index.clustering`."""
    representative, shared = details.representative, details.shared
    numbers = [number for number, _ in details.compared]
    parts, joined_by = details.parts
    return {
        "id": representative.cluster,
        "representative": card_document(representative),
        "clustering": clustering_document(clustering),
        "pages": details.captures,
        "urls": len(details.pages),
        "sites": len({page.card.site for page in details.pages}),
        "more": details.more,
        "texts": len({page.card.text_digest or page.card.id for page in details.pages}),
        "threshold": details.threshold,
        "compared": len(details.compared),
        "compared_pages": [{**card_document(card), "number": number} for number, card in details.compared],
        "pairs": details.pairs,
        "below": details.below,
        "lowest": details.lowest and _pair(details.lowest),
        "matrix": [list(row) for row in details.matrix],
        "parts": parts,
        "joined_by": [{"number": numbers[page], "parts": sizes} for page, sizes in joined_by],
        "shared": shared and _shared(shared),
        "listed_pages": [_listed(each, representative) for each in details.listed],
        "following": details.following,
    }


def _listed(listed: ListedPage, representative: Card) -> ListedPageDocument:
    card = listed.page.card
    return {
        **card_document(card),
        "number": listed.number,
        "captures": listed.page.captures,
        "same_text": bool(card.text_digest) and card.text_digest == representative.text_digest,
        "likeness": _likeness(listed.likeness),
    }


def _likeness(likeness: Likeness) -> LikenessDocument:
    return {
        "resemblance": likeness.resemblance,
        "containment": likeness.containment,
        "contained": likeness.contained,
        "kind": likeness.kind,
        "error": likeness.error,
    }


def _pair(pair: ComparedPair) -> ComparedPairDocument:
    return {"a": card_document(pair.a), "b": card_document(pair.b), "likeness": _likeness(pair.likeness)}


def _shared(shared: DividedText) -> SharedTextDocument:
    return {
        "pages": shared.pages,
        "characters": shared.characters,
        "cut": shared.cut,
        "in_all": shared.in_all,
        "runs": [(run.start, run.end, run.pages) for run in shared.runs],
    }
