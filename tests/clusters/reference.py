"""Clusters records by the definition, all at once: slow, obvious, and without code of an engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import HISTOGRAM_BARS, Candidates, ClusteringResult, LargestCluster
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.compare import side
from opensearch_winnow.queries.estimates import CLEAR_ERRORS
from tests.cython_core.reference import Pair, labels, pair_representatives, pair_verdict, skipped_pairs, token_pairs

UNKNOWN_TIME = datetime.max.replace(tzinfo=UTC)
Row = dict[str, Any]


class Edge(NamedTuple):
    resemblance: float
    error: float
    rule: str


class Expected(NamedTuple):
    """The rows of the tables, and the result in numbers."""

    clusters: list[Row]
    edges: list[Row]
    changes: list[Row]
    result: ClusteringResult


def expected_clusters(records: Iterable[Record], scheme: Scheme, options: ClusteringOptions) -> Expected:
    """Cluster records in the order of their files. If an id occurs twice, the last record counts."""
    pages = in_order({record.id: record for record in records}.values())
    contents = contents_of(pages)
    tokens = tokens_of(pages, contents, options)
    pairs = sorted({pair for numbers in tokens.values() for pair in token_pairs(numbers, options.compared)})
    judged = {(a, b): verified(pages[a], pages[b], scheme, options) for a, b in pairs}
    alike = {pair: edge for pair, edge in judged.items() if edge.resemblance >= options.threshold}
    representatives = (
        pair_representatives(len(pages), alike) if options.linkage == "representatives" else labels(len(pages), alike)
    )
    joined = chosen(pages, [representatives[content] for content in contents], options)
    copies = {
        (content, number): Edge(1.0, 0.0, how_equal(pages[content], pages[number]))
        for number, content in enumerate(contents)
        if content != number
    }
    clusters: list[Row] = []
    for page, content, number in zip(pages, contents, joined, strict=True):
        shown, other = pages[number], contents[number]
        edge = Edge(1.0, 0.0, "") if content == other else alike.get((min(other, content), max(other, content)))
        value, error, _ = edge or verdict_on(shown, page, scheme, options)
        row = {"url": page.url, "fetched_at": page.fetched_at, "capture": page.id, "cluster": shown.id}
        clusters.append({**row, "representative": shown.url, "resemblance": value, "error": error})
    edges: list[Row] = []
    for (a, b), edge in (alike | copies).items():
        row = {"url": pages[a].url, "other_url": pages[b].url, "capture": pages[a].id, "other_capture": pages[b].id}
        edges.append({**row, **edge._asdict(), "scheme": scheme.id})
    both = zip(pages, clusters, strict=True)
    changes = [{"capture": page.id, "cluster": to["cluster"]} for page, to in both if page.cluster != to["cluster"]]
    sizes = sizes_of(pages, contents, joined)
    looked_at = candidates(tokens, judged, len(alike), options)
    result = ClusteringResult(engine="", scheme=scheme.id, edges=len(edges), candidates=looked_at, **sizes)
    return Expected(clusters, edges, changes, result)


def chosen(pages: Sequence[Record], representatives: Sequence[int], options: ClusteringOptions) -> list[int]:
    """Return the page that the rule chooses, for each page, instead of its representative."""
    rule, _, sites = options.representative.partition(":")

    def rank(number: int) -> tuple[float, int]:
        page = pages[number]
        if rule == "site":
            return ([*sites.split(","), page.site].index(page.site), number)
        if rule == "longest":
            return -page.hashes.shingle_count, number
        if rule == "canonical":
            mine = representatives[number]
            cluster = [other for other, its in zip(pages, representatives, strict=True) if its == mine]
            return -sum(other.canonical == page.url for other in cluster), number
        if rule == "newest":
            return -(page.fetched_at or datetime.min.replace(tzinfo=UTC)).timestamp(), number
        return 0, number

    clusters = set(representatives)
    best = {each: min((n for n in range(len(pages)) if representatives[n] == each), key=rank) for each in clusters}
    return [best[each] for each in representatives]


def in_order(records: Iterable[Record]) -> list[Record]:
    """Sort by time, unknown times last, then by length of the URL, then by URL."""
    return sorted(records, key=lambda its: (its.fetched_at or UNKNOWN_TIME, len(its.url), its.url.encode(), its.id))


def contents_of(pages: Sequence[Record]) -> list[int]:
    """Return for each page the first one with the same shingles or, if it has none, with the same bytes.

    If there is only one shingle, the title has to be the same, too. A page without both a title and bytes is alone.
    """
    first: dict[tuple[str, ...], int] = {}

    def key(page: Record) -> tuple[str, ...]:
        if page.hashes.shingle_count > 1:
            return "shingles", page.hashes.shingle_digest
        if page.hashes.shingle_count and (page.title or page.content_digest):
            return "shingle and title", page.hashes.shingle_digest, page.title or ""
        return ("bytes", page.content_digest) if page.content_digest else ("id", page.id)

    return [first.setdefault(key(page), number) for number, page in enumerate(pages)]


def tokens_of(pages: Sequence[Record], contents: Sequence[int], options: ClusteringOptions) -> Mapping[int, list[int]]:
    """Return for each token the first pages of contents that have it, in order."""
    tokens: dict[int, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        if contents[number] == number and page.hashes.shingle_count > 1:
            for token in {*page.hashes.bands, *(() if options.fast else page.hashes.sketch)}:
                tokens[token].append(number)
    return tokens


def verified(a: Record, b: Record, scheme: Scheme, options: ClusteringOptions) -> Edge:
    """Return the estimate or, if that is uncertain and both texts are known, the exact resemblance."""
    value, error, verdict = verdict_on(a, b, scheme, options)
    if verdict != "uncertain" or not (a.text and b.text):
        return Edge(value, error, "estimate")
    ours, theirs = (set(side(page.text, scheme, name=page.url).shingles) for page in (a, b))
    return Edge(len(ours & theirs) / max(len(ours | theirs), 1), 0.0, "exact")


def verdict_on(a: Record, b: Record, scheme: Scheme, options: ClusteringOptions) -> tuple[float, float, str]:
    counts = a.hashes.shingle_count, b.hashes.shingle_count
    return pair_verdict((a.hashes.minhash, b.hashes.minhash), counts, options.threshold, scheme.bits, CLEAR_ERRORS)


def how_equal(first: Record, page: Record) -> str:
    """Return the rule by which two pages of one content are equal."""
    if first.content_digest == page.content_digest != "":
        return "content"
    return "text" if first.hashes.text_digest == page.hashes.text_digest != "" else "shingles"


def candidates(
    tokens: Mapping[int, list[int]], judged: Mapping[Pair, Edge], edges: int, options: ClusteringOptions
) -> Candidates:
    lengths = [len(numbers) for numbers in tokens.values()]
    bars = Counter(min(int(edge.resemblance * HISTOGRAM_BARS), HISTOGRAM_BARS - 1) for edge in judged.values())
    return Candidates(
        compared=len(judged),
        exact=sum(edge.rule == "exact" for edge in judged.values()),
        edges=edges,
        common=sum(length > options.compared + 1 for length in lengths),
        longest=max(lengths, default=0),
        left_out=sum(skipped_pairs(length, options.compared) for length in lengths),
        histogram=[bars[bar] for bar in range(HISTOGRAM_BARS)],
    )


def sizes_of(pages: Sequence[Record], contents: Sequence[int], joined: Sequence[int]) -> dict[str, Any]:
    """Return the counts of clusters of two pages or more."""
    members: dict[int, list[int]] = defaultdict(list)
    for number, representative in enumerate(joined):
        members[representative].append(number)
    clusters = {representative: numbers for representative, numbers in members.items() if len(numbers) > 1}
    identical = [numbers for numbers in clusters.values() if len({contents[number] for number in numbers}) == 1]
    shown = [(len(numbers), pages[number]) for number, numbers in clusters.items()]
    largest = [LargestCluster(size, page.id, page.url, page.title) for size, page in shown]
    largest.sort(key=lambda each: (-each.pages, each.cluster))
    return {
        "pages": len(pages),
        "contents": len(set(contents)),
        "sizes": dict(Counter(map(len, clusters.values()))),
        "identical_sizes": dict(Counter(map(len, identical))),
        "largest_clusters": largest[:10],
    }


def rounded(row: Row) -> Row:
    """Return a row without the last bits of its numbers: those of a square root differ in Python."""
    return {name: round(value, 12) if isinstance(value, float) else value for name, value in row.items()}
