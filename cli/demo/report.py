"""Makes the report of the demo, through the public methods of an index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.cli.demo import licence_pages, pydoc_pages
from opensearch_winnow.cli.demo.crawl import THIS_CRAWL, Clock, Crawled
from opensearch_winnow.cli.demo.most_copied import Copied, most_copied
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import EPOCH, Record
from opensearch_winnow.queries.compare import Comparer, side
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.searching.results import SearchResults
from opensearch_winnow.queries.searching.search_request import DEFAULT_THRESHOLD

QUERY = '"permission notice"'  # a phrase in many licences
SITES = (pydoc_pages.SITE, licence_pages.SITE)
LICENCES = Filters(site=licence_pages.SITE, latest=True)
# The two licences shown side by side share a lot, and are short enough to read.
MIN_PAIR_RESEMBLANCE = 0.2
MAX_PAIR_CHARS = 40_000  # of each text


class ScoredCluster(NamedTuple):
    pages: list[Record]  # the representative first
    resemblances: list[float]  # of the other pages, to the representative

    @property
    def lowest(self) -> float:
        return min(self.resemblances)


class Contained(NamedTuple):
    """A licence that is entirely contained in others, which are not near-copies of it."""

    page: Record
    inside: list[Record]  # one page of each cluster, the shortest first
    shares: list[float]  # the share of each such page that this licence makes up


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoReport:
    """Everything the demo shows."""

    crawled: Crawled
    scheme: Scheme
    threshold: float
    records: list[Record]  # the latest capture of each page
    clustering: ClusteringResult
    clusters: list[ScoredCluster]  # largest first
    contained: list[Contained]  # longest first
    copied: dict[str, Copied]  # the most copied passage, by site
    search: SearchResults
    pair: Compared | None
    seconds: dict[str, float]  # by part of the run

    @property
    def characters(self) -> int:
        return sum(len(record.text) for record in self.records)

    @property
    def fingerprints(self) -> int:
        return sum(len(record.fingerprints) for record in self.records)


def demo_report(index: Index, crawled: Crawled, clock: Clock, progress: Progress) -> DemoReport:
    """Cluster, search and compare the pages."""
    with clock.part("cluster"):
        clustering = index.cluster(threshold=DEFAULT_THRESHOLD, progress=progress)
    with clock.part("read"):
        records = list(index.records(THIS_CRAWL))
        clusters = [_cluster(each, index.scheme) for each in _by_cluster(records) if len(each) > 1]
        clusters.sort(key=lambda each: (-len(each.pages), each.pages[0].url))
        copied = _copied(records, index.scheme)
    licences = [record for record in records if record.site == licence_pages.SITE]
    with clock.part("similar"):
        contained = _contained(index, licences, progress)
    with clock.part("compare"):
        pair = _pair(index, licences, progress)
    with clock.part("search"):
        search = index.search(QUERY, group=True, exact=True, examine=len(records) or 1)
    return DemoReport(
        crawled=crawled,
        scheme=index.scheme,
        threshold=DEFAULT_THRESHOLD,
        records=records,
        clustering=clustering,
        clusters=clusters,
        contained=contained,
        copied=copied,
        search=search,
        pair=pair,
        seconds=clock.seconds,
    )


def _by_cluster(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Yield the pages of each cluster: the representative first, then by time and URL."""
    clusters = defaultdict(list)
    for record in records:
        clusters[record.cluster].append(record)
    for cluster, members in clusters.items():
        members.sort(key=lambda each: (each.id != cluster, each.fetched_at or EPOCH, each.url))
        yield members


def _cluster(members: list[Record], scheme: Scheme) -> ScoredCluster:
    comparer = Comparer(scheme)
    first, *others = (side(each.text, scheme) for each in members)
    return ScoredCluster(members, [comparer.scores(first, other).resemblance for other in others])


def _contained(index: Index, licences: Sequence[Record], progress: Progress) -> list[Contained]:
    """Return, for each cluster of licences, the licence contained in the most others, if any is."""
    records = {record.url: record for record in licences}
    texts = {
        record.text_digest: record for record in sorted(licences, key=_longest_url_first)
    }  # one page for each different text
    best: dict[str, Contained] = {}
    for done, page in enumerate(texts.values()):
        progress("looking for licences inside others", done, len(texts))
        inside: dict[str, tuple[Record, float]] = {}
        for match in index.similar(url=page.url, min_containment=1, where=LICENCES, limit=None):
            if match.card.cluster != page.cluster:
                inside.setdefault(match.card.cluster, (records[match.url], match.contained))
        if inside:
            others = sorted(inside.values(), key=lambda each: (-each[1], each[0].url))
            contained = Contained(page, [other for other, _ in others], [share for _, share in others])
            best[page.cluster] = max(best.get(page.cluster, contained), contained, key=_interest)
    return sorted(best.values(), key=lambda each: (-each.page.shingle_count, each.page.url))


def _longest_url_first(record: Record) -> tuple[int, str]:
    return -len(record.url), record.url


def _interest(contained: Contained) -> tuple[int, int, int]:
    return len(contained.inside), contained.page.shingle_count, -len(contained.page.url)


def _copied(records: Sequence[Record], scheme: Scheme) -> dict[str, Copied]:
    by_site = {site: most_copied([each for each in records if each.site == site], scheme) for site in SITES}
    return {site: copied for site, copied in by_site.items() if copied}


def _pair(index: Index, licences: Sequence[Record], progress: Progress) -> Compared | None:
    """Return the two licences that share the most passages without being near-copies."""
    licences_by_url = {each[0].url: each[0] for each in _by_cluster(licences) if len(each[0].text) <= MAX_PAIR_CHARS}
    pairs: list[tuple[int, str, str]] = []
    for done, a in enumerate(licences_by_url.values()):
        progress("comparing licences", done, len(licences_by_url))
        pairs += [
            (len(match.passages), a.url, match.url)
            for match in index.similar(url=a.url, min_resemblance=MIN_PAIR_RESEMBLANCE, where=LICENCES, limit=None)
            if match.url in licences_by_url and a.url < match.url and match.card.cluster != a.cluster
        ]
    if not pairs:
        return None
    _, *urls = max(pairs)
    a, b = (licences_by_url[url] for url in urls)
    return Compared.of(_text(a), _text(b), index.compare(a, b), index.scheme)


def _text(page: Record) -> ComparedText:
    return ComparedText(
        id=page.id, text=page.text, url=page.url, title=page.title, site=page.site, fetched_at=page.fetched_at
    )
