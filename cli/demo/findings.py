"""What is found in the pages of the demo: by the index, as anybody would ask it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from opensearch_winnow.cli.demo import licence_pages, pydoc_pages
from opensearch_winnow.cli.demo.clock import Clock
from opensearch_winnow.cli.demo.crawl import THIS, Crawled
from opensearch_winnow.cli.demo.most_copied import Copied, most_copied
from opensearch_winnow.clusters.asked import Progress
from opensearch_winnow.clusters.found import Found
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import EPOCH, Record
from opensearch_winnow.queries.compare import Comparison, scores, side
from opensearch_winnow.queries.cursors import DEFAULT_THRESHOLD
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.numbered_passages import NumberedPassage, numbered_passages
from opensearch_winnow.queries.results import SearchResults

WORDS = '"permission notice"'  # that many licences have
SITES = (pydoc_pages.SITE, licence_pages.SITE)
LICENCES = Filters(site=licence_pages.SITE, latest=True)
# Of the pair that is shown side by side: alike enough to have much in common, and short enough to be looked through.
ALIKE = 0.2
READABLE = 40_000  # characters


class Cluster(NamedTuple):
    pages: list[Record]  # the representative first
    resemblances: list[float]  # to it, of the others

    @property
    def lowest(self) -> float:
        return min(self.resemblances)


class Contained(NamedTuple):
    """A licence all of which is in others, that are no near-copies of it."""

    page: Record
    inside: list[Record]  # one of each cluster, the shortest first
    shares: list[float]  # how much of each it is


class Pair(NamedTuple):
    a: Record
    b: Record
    comparison: Comparison
    passages: list[NumberedPassage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    crawled: Crawled
    scheme: Scheme
    threshold: float
    records: list[Record]  # the latest capture of each page
    found: Found
    clusters: list[Cluster]  # the largest first
    contained: list[Contained]  # the longest first
    copied: dict[str, Copied]  # by site
    search: SearchResults
    pair: Pair | None
    seconds: dict[str, float]  # that the parts took

    @property
    def characters(self) -> int:
        return sum(len(record.text) for record in self.records)

    @property
    def fingerprints(self) -> int:
        return sum(len(record.fingerprints) for record in self.records)


def find(index: Index, crawled: Crawled, clock: Clock, progress: Progress) -> Findings:
    with clock.part("cluster"):
        found = index.cluster(threshold=DEFAULT_THRESHOLD, progress=progress)
    with clock.part("read"):
        records = list(index.store.scan(Record, THIS))
        clusters = [_cluster(each, index.scheme) for each in _by_cluster(records) if len(each) > 1]
        clusters.sort(key=lambda each: (-len(each.pages), each.pages[0].url))
        copied = _copied(records, index.scheme)
    licences = [record for record in records if record.site == licence_pages.SITE]
    with clock.part("similar"):
        contained = _contained(index, licences, progress)
    with clock.part("compare"):
        pair = _pair(index, licences, progress)
    with clock.part("search"):
        search = index.search(WORDS, group=True, exact=True, examine=len(records) or 1)
    return Findings(
        crawled=crawled,
        scheme=index.scheme,
        threshold=DEFAULT_THRESHOLD,
        records=records,
        found=found,
        clusters=clusters,
        contained=contained,
        copied=copied,
        search=search,
        pair=pair,
        seconds=clock.seconds,
    )


def _by_cluster(records: Sequence[Record]) -> Iterator[list[Record]]:
    """The representative of each first, then by time and URL."""
    clusters = defaultdict(list)
    for record in records:
        clusters[record.cluster].append(record)
    for cluster, members in clusters.items():
        members.sort(key=lambda each: (each.id != cluster, each.fetched_at or EPOCH, each.url))
        yield members


def _cluster(members: list[Record], scheme: Scheme) -> Cluster:
    first, *others = (side(each.text, scheme) for each in members)
    return Cluster(members, [scores(first, other).resemblance for other in others])


def _contained(index: Index, licences: Sequence[Record], progress: Progress) -> list[Contained]:
    """Of each cluster the one that is in most others."""
    records = {record.url: record for record in licences}
    texts = {record.text_digest: record for record in sorted(licences, key=_longest_url_first)}  # the same asked once
    best: dict[str, Contained] = {}
    for done, page in enumerate(texts.values()):
        progress("asking which licence is in which", done, len(texts))
        inside: dict[str, tuple[Record, float]] = {}
        for match in index.similar(url=page.url, min_containment=1, where=LICENCES, limit=None):
            if match.card.cluster != page.cluster:
                inside.setdefault(match.card.cluster, (records[match.url], match.contained))
        if inside:
            them = sorted(inside.values(), key=lambda each: (-each[1], each[0].url))
            found = Contained(page, [other for other, _ in them], [share for _, share in them])
            best[page.cluster] = max(best.get(page.cluster, found), found, key=_interest)
    return sorted(best.values(), key=lambda each: (-each.page.shingle_count, each.page.url))


def _longest_url_first(record: Record) -> tuple[int, str]:
    return -len(record.url), record.url


def _interest(contained: Contained) -> tuple[int, int, int]:
    return len(contained.inside), contained.page.shingle_count, -len(contained.page.url)


def _copied(records: Sequence[Record], scheme: Scheme) -> dict[str, Copied]:
    found = {site: most_copied([each for each in records if each.site == site], scheme) for site in SITES}
    return {site: copied for site, copied in found.items() if copied}


def _pair(index: Index, licences: Sequence[Record], progress: Progress) -> Pair | None:
    """Two licences that are no near-copies, and share the most passages."""
    shown = {each[0].url: each[0] for each in _by_cluster(licences) if len(each[0].text) <= READABLE}
    pairs: list[tuple[int, str, str]] = []
    for done, a in enumerate(shown.values()):
        progress("comparing licences", done, len(shown))
        pairs += [
            (len(match.passages), a.url, match.url)
            for match in index.similar(url=a.url, min_resemblance=ALIKE, where=LICENCES, limit=None)
            if match.url in shown and a.url < match.url and match.card.cluster != a.cluster
        ]
    if not pairs:
        return None
    _, *urls = max(pairs)
    a, b = (shown[url] for url in urls)
    comparison = index.compare(a.url, b.url)
    return Pair(a, b, comparison, numbered_passages(a.text, comparison.passages))
