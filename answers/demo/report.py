"""Makes the report of the demo, through the public methods of an index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, replace

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.answers.asking.comparison_words import comparison_summary
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.answers import Answer, answer, derived, inlined, key
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import EPOCH, Record
from opensearch_winnow.operations.demo import licence_pages, pydoc_pages
from opensearch_winnow.operations.demo.crawl import CRAWL, Clock, Crawled, KnownCaptures
from opensearch_winnow.operations.demo.most_copied import most_copied
from opensearch_winnow.queries.compare import Comparer, side
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.searching.results import SearchResults
from opensearch_winnow.queries.searching.search_request import DEFAULT_THRESHOLD

QUERY = '"permission notice"'  # a phrase in many licences
THIS_CRAWL = Filters(crawl=CRAWL, latest=True)
SITES = (pydoc_pages.SITE, licence_pages.SITE)
LICENCES = Filters(site=licence_pages.SITE, latest=True)
# The two licences shown side by side share a lot, and are short enough to read.
MIN_PAIR_RESEMBLANCE = 0.2
MAX_PAIR_CHARS = 40_000  # of each text


@answer
class NamedPage(Answer):
    """A page in the report."""

    url: str = key("The URL of the page.")
    title: str | None = key("The title of the page.")

    @property
    def name(self) -> str:
        return one_line(self.title or self.url).strip()


@answer
class PageShare(NamedPage):
    """A page, compared with the one that it is listed with."""

    score: float = key("Its resemblance to the representative of its cluster, or the share of it that the licence is.")


@answer
class ScoredCluster(Answer):
    """A cluster, with the resemblance of each page to the representative."""

    representative: NamedPage = key("The representative.")
    others: list[PageShare] = key("The other pages, by time and URL.")

    @property
    @derived
    def pages(self) -> int:
        """The number of pages."""
        return 1 + len(self.others)

    @property
    @derived
    def lowest(self) -> float:
        """The lowest resemblance to the representative."""
        return min(each.score for each in self.others)


@answer
class ContainedLicence(NamedPage):
    """A licence that is entirely contained in others, which are not near-copies of it."""

    words: int = key("The number of its words.")
    inside: list[PageShare] = key("One page of each cluster that contains it, the shortest first.", name="in")


@answer
class CopiedPassage(Answer):
    """The passage that is on the most pages of a site."""

    site: str = key("The site.")
    site_pages: int = key("The number of its pages.")
    text: str = key("The passage, as the first page has it.")
    words: int = key("The number of its words.")
    pages: list[NamedPage] = key("The pages that have it.")


@answer
class DemoReport(Answer):
    """The report of the demo."""

    _: KW_ONLY
    store_name: str = key("The store.", name="store")
    report: str = key("The file with the report for a browser.")
    scheme: Scheme
    crawled: Crawled = inlined()
    characters: int = key("The number of characters of all texts.")
    fingerprints: int = key("The number of their fingerprints.")
    threshold: float = key("The least resemblance of a page to the representative of its cluster.")
    clustering: ClusteringResult = key("The clustering, as `winnow cluster` prints it.")
    clusters: list[ScoredCluster] = key("The clusters, the largest first.")
    contained: list[ContainedLicence] = key("The licences that are contained in others, the longest first.")
    copied: list[CopiedPassage] = key("The most copied passage of each site.")
    query: str = key("The words of a search.", default=QUERY)
    search: SearchResults = key("The pages that have the words, in groups.")
    comparison: Compared | None = key("Two licences that share many passages, compared; null if there are none.")
    seconds: dict[str, float] = key("The time it took, by part of the run.")
    command: Callable[..., str]  # makes a `winnow` command of its words

    @property
    @derived(name="scheme")
    def scheme_id(self) -> str:
        """The id of the scheme."""
        return self.scheme.id

    @property
    @derived(name="next")
    def commands(self) -> list[str]:
        """Commands that find something in the store; the first opens it in a browser."""
        return [self.command(*each, "--store", self.store_name) for each in self._commands()]

    def _commands(self) -> Iterator[tuple[str, ...]]:
        yield ("serve",)
        if self.search.total:
            yield "search", self.query.strip('"')
        if self.contained:
            yield "similar", self.contained[0].url, "--min-containment", "1"
        elif self.clusters:
            yield "similar", self.clusters[0].representative.url
        if self.comparison is not None:
            yield "compare", self.comparison.a.url or "", self.comparison.b.url or ""


def known_captures(index: Index) -> KnownCaptures:
    """Return the captures of the last run. Refuse a store with other pages, because the demo clusters a whole store."""
    others = index.count() - index.count(Filters(crawl=CRAWL))
    if others:
        raise WinnowError(
            f"{index.name} has {count_of(others, 'page')} that the demo did not add, and would cluster them too;"
            " name a store that does not exist yet"
        )
    return {(record.url, record.content_digest): record.fetched_at for record in index.records(THIS_CRAWL)}


def demo_report(
    index: Index,
    crawled: Crawled,
    clock: Clock,
    progress: Progress,
    *,
    store_name: str,
    report: str,
    command: Callable[..., str],
) -> DemoReport:
    """Cluster, search and compare the pages. `store_name` and `report` are the names of these for readers."""
    with clock.part("cluster"):
        clustering = index.cluster(threshold=DEFAULT_THRESHOLD, progress=progress)
    with clock.part("read"):
        records = list(index.records(THIS_CRAWL))
        clusters = [_scored(each, index.scheme) for each in _by_cluster(records) if len(each) > 1]
        clusters.sort(key=lambda each: (-each.pages, each.representative.url))
        by_site = {site: [each for each in records if each.site == site] for site in SITES}
        copied = [each for site in SITES for each in _copied(site, by_site[site], index.scheme)]
    licences = by_site[licence_pages.SITE]
    with clock.part("similar"):
        contained = _contained(index, licences, progress)
    with clock.part("compare"):
        comparison = _comparison(index, licences, progress)
    with clock.part("search"):
        search = index.search(QUERY, group=True, exact=True, examine=len(records) or 1)
    return DemoReport(
        store_name=store_name,
        report=report,
        command=command,
        scheme=index.scheme,
        crawled=crawled,
        characters=sum(len(record.text) for record in records),
        fingerprints=sum(len(record.fingerprints) for record in records),
        threshold=DEFAULT_THRESHOLD,
        clustering=clustering,
        clusters=clusters,
        contained=contained,
        copied=copied,
        search=search,
        comparison=comparison,
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


def _scored(members: Sequence[Record], scheme: Scheme) -> ScoredCluster:
    comparer = Comparer(scheme)
    first, *others = (side(each.text, scheme) for each in members)
    scores = [comparer.scores(first, other).resemblance for other in others]
    scored = [PageShare(page.url, page.title, score) for page, score in zip(members[1:], scores, strict=True)]
    return ScoredCluster(NamedPage(members[0].url, members[0].title), scored)


def _contained(index: Index, licences: Sequence[Record], progress: Progress) -> list[ContainedLicence]:
    """Return, for each cluster of licences, the licence contained in the most others, if any is."""
    longest_first = sorted(licences, key=lambda each: (-len(each.url), each.url))
    texts = {record.text_digest: record for record in longest_first}  # one page for each different text
    best: dict[str, tuple[tuple[int, int, int], ContainedLicence]] = {}
    for done, page in enumerate(texts.values()):
        progress("looking for licences inside others", done, len(texts))
        inside: dict[str, PageShare] = {}
        for match in index.similar(url=page.url, min_containment=1, where=LICENCES, limit=None):
            if match.card.cluster != page.cluster:
                inside.setdefault(match.card.cluster, PageShare(match.url, match.title, match.contained))
        rank = len(inside), page.shingle_count, -len(page.url)
        if inside and (page.cluster not in best or rank > best[page.cluster][0]):
            others = sorted(inside.values(), key=lambda each: (-each.score, each.url))
            words = len(canonical_text(page.text).words)
            best[page.cluster] = rank, ContainedLicence(page.url, page.title, words, others)
    found = sorted(best.values(), key=lambda each: (-each[0][1], each[1].url))
    return [contained for _, contained in found]


def _copied(site: str, records: Sequence[Record], scheme: Scheme) -> Iterator[CopiedPassage]:
    if (found := most_copied(records, scheme)) is not None:
        pages = [NamedPage(each.url, each.title) for each in found.pages]
        yield CopiedPassage(site, len(records), found.text, found.words, pages)


def _comparison(index: Index, licences: Sequence[Record], progress: Progress) -> Compared | None:
    """Compare the two licences that share the most passages without being near-copies."""
    by_url = {each[0].url: each[0] for each in _by_cluster(licences) if len(each[0].text) <= MAX_PAIR_CHARS}
    pairs: list[tuple[int, str, str]] = []
    for done, a in enumerate(by_url.values()):
        progress("comparing licences", done, len(by_url))
        pairs += [
            (len(match.passages), a.url, match.url)
            for match in index.similar(url=a.url, min_resemblance=MIN_PAIR_RESEMBLANCE, where=LICENCES, limit=None)
            if match.url in by_url and a.url < match.url and match.card.cluster != a.cluster
        ]
    if not pairs:
        return None
    a, b = (by_url[url] for url in max(pairs)[1:])
    ours, theirs = (ComparedText.of_page(page, NamedPage(page.url, page.title).name) for page in (a, b))
    found = Compared.of(ours, theirs, index.compare(a, b), index.scheme)
    return replace(found, answer=comparison_summary(found))
