"""Clusters by definition, over all records at once: slow, obvious, and with nothing of an engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from opensearch_winnow.clusters.asked import Clustering
from opensearch_winnow.clusters.found import BARS, Candidates, Found, Largest
from opensearch_winnow.cython_core.reference import labels
from opensearch_winnow.cython_core.reference_pairs import Pair, left_out, pair_leaders, pair_verdict, token_pairs
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.compare import side
from opensearch_winnow.queries.estimated import CLEAR_ERRORS

LAST = datetime.max.replace(tzinfo=UTC)
Row = dict[str, Any]


class Edge(NamedTuple):
    resemblance: float
    error: float
    rule: str


class Expected(NamedTuple):
    """The rows of the tables, and the numbers."""

    clusters: list[Row]
    edges: list[Row]
    changes: list[Row]
    found: Found


def expected_clusters(records: Iterable[Record], scheme: Scheme, asked: Clustering) -> Expected:
    """Of records as they are written, file by file: of those with one id the last counts."""
    pages = in_order({record.id: record for record in records}.values())
    contents = contents_of(pages)
    tokens = tokens_of(pages, contents, asked)
    pairs = sorted({pair for numbers in tokens.values() for pair in token_pairs(numbers, asked.compared)})
    judged = {(a, b): verified(pages[a], pages[b], scheme, asked) for a, b in pairs}
    alike = {pair: edge for pair, edge in judged.items() if edge.resemblance >= asked.threshold}
    leaders = pair_leaders(len(pages), alike) if asked.linkage == "representatives" else labels(len(pages), alike)
    joined = [leaders[content] for content in contents]
    copies = {
        (content, number): Edge(1.0, 0.0, how_equal(pages[content], pages[number]))
        for number, content in enumerate(contents)
        if content != number
    }
    clusters = [
        {
            "url": page.url,
            "fetched_at": page.fetched_at,
            "capture": page.id,
            "cluster": pages[leader].id,
            "representative": pages[leader].url,
            "resemblance": edge.resemblance,
            "error": edge.error,
        }
        for page, content, leader in zip(pages, contents, joined, strict=True)
        for edge in [
            Edge(1.0, 0.0, "")
            if content == leader
            else alike.get((leader, content)) or estimated(pages[leader], pages[content], scheme, asked)
        ]
    ]
    edges = [
        {
            "url": pages[a].url,
            "other_url": pages[b].url,
            "capture": pages[a].id,
            "other_capture": pages[b].id,
            **edge._asdict(),
            "scheme": scheme.id,
        }
        for (a, b), edge in (alike | copies).items()
    ]
    changes = [
        {"capture": page.id, "cluster": row["cluster"]}
        for page, row in zip(pages, clusters, strict=True)
        if page.cluster != row["cluster"]
    ]
    sizes = sizes_of(pages, contents, joined)
    looked_at = candidates(tokens, judged, len(alike), asked)
    return Expected(
        clusters, edges, changes, Found(engine="", scheme=scheme.id, edges=len(edges), candidates=looked_at, **sizes)
    )


def in_order(records: Iterable[Record]) -> list[Record]:
    """By time, unknown last; then the shortest URL; then by URL."""
    return sorted(records, key=lambda page: (page.fetched_at or LAST, len(page.url), page.url.encode(), page.id))


def contents_of(pages: Sequence[Record]) -> list[int]:
    """For each page the first with the same shingles; of pages without any, with the same bytes."""
    first: dict[tuple[str, str], int] = {}

    def key(page: Record) -> tuple[str, str]:
        if page.shingle_count:
            return "shingles", page.shingle_digest
        return ("bytes", page.content_digest) if page.content_digest else ("id", page.id)

    return [first.setdefault(key(page), number) for number, page in enumerate(pages)]


def tokens_of(pages: Sequence[Record], contents: Sequence[int], asked: Clustering) -> Mapping[int, list[int]]:
    """The first pages of contents that have a token, in their order."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        if contents[number] == number and page.shingle_count:
            for token in {*page.bands, *(() if asked.fast else page.sketch)}:
                found[token].append(number)
    return found


def verified(a: Record, b: Record, scheme: Scheme, asked: Clustering) -> Edge:
    """The estimate; if it is not clear, and there are both texts, the truth."""
    value, error, verdict = verdict_on(a, b, scheme, asked)
    if verdict != "uncertain" or not (a.text and b.text):
        return Edge(value, error, "estimate")
    ours, theirs = (set(side(page.text, scheme, name=page.url).shingles) for page in (a, b))
    return Edge(len(ours & theirs) / max(len(ours | theirs), 1), 0.0, "exact")


def estimated(a: Record, b: Record, scheme: Scheme, asked: Clustering) -> Edge:
    value, error, _ = verdict_on(a, b, scheme, asked)
    return Edge(value, error, "estimate")


def verdict_on(a: Record, b: Record, scheme: Scheme, asked: Clustering) -> tuple[float, float, str]:
    counts = a.shingle_count, b.shingle_count
    return pair_verdict((a.minhash, b.minhash), counts, asked.threshold, scheme.bits, CLEAR_ERRORS)


def how_equal(first: Record, page: Record) -> str:
    """Two pages of one content."""
    if first.content_digest == page.content_digest != "":
        return "content"
    return "text" if first.text_digest == page.text_digest != "" else "shingles"


def candidates(
    tokens: Mapping[int, list[int]], judged: Mapping[Pair, Edge], edges: int, asked: Clustering
) -> Candidates:
    lengths = [len(numbers) for numbers in tokens.values()]
    bars = Counter(min(int(edge.resemblance * BARS), BARS - 1) for edge in judged.values())
    return Candidates(
        compared=len(judged),
        exact=sum(edge.rule == "exact" for edge in judged.values()),
        edges=edges,
        common=sum(length > asked.compared + 1 for length in lengths),
        longest=max(lengths, default=0),
        left_out=sum(left_out(length, asked.compared) for length in lengths),
        histogram=[bars[bar] for bar in range(BARS)],
    )


def sizes_of(pages: Sequence[Record], contents: Sequence[int], joined: Sequence[int]) -> dict[str, Any]:
    """What is said of clusters of two pages or more."""
    members: dict[int, list[int]] = defaultdict(list)
    for number, leader in enumerate(joined):
        members[leader].append(number)
    clusters = {leader: numbers for leader, numbers in members.items() if len(numbers) > 1}
    identical = [numbers for numbers in clusters.values() if len({contents[number] for number in numbers}) == 1]
    largest = sorted(
        (
            Largest(len(numbers), pages[leader].id, pages[leader].url, pages[leader].title)
            for leader, numbers in clusters.items()
        ),
        key=lambda each: (-each.pages, each.cluster),
    )
    return {
        "pages": len(pages),
        "contents": len(set(contents)),
        "sizes": dict(Counter(map(len, clusters.values()))),
        "identical_sizes": dict(Counter(map(len, identical))),
        "largest": largest[:10],
    }
