"""Sentences of the report of the demo, for the terminal and the HTML file, and commands to try next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.answers.searching.search_words import pages_in_groups
from opensearch_winnow.cli.clusters.cluster_summary import clusters_and_pages
from opensearch_winnow.cli.demo.crawl import Crawled
from opensearch_winnow.cli.demo.most_copied import Copied
from opensearch_winnow.cli.demo.report import QUERY, Contained, DemoReport, ScoredCluster
from opensearch_winnow.cli.key_file_option import key_file_words
from opensearch_winnow.cli.terminal import shell_command
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.mappings.record import Record

MAX_NAMES = 3  # page names in a sentence


def name(page: Record) -> str:
    return one_line(page.title or page.url).strip()


def names(pages: Sequence[Record]) -> str:
    """List the shortest names of pages: "A, B, C and 5 more", or "A, B and C"."""
    shown = sorted((name(page) for page in pages), key=lambda each: (len(each), each))[:MAX_NAMES]
    if len(pages) > MAX_NAMES:
        return f"{', '.join(shown)} and {len(pages) - MAX_NAMES:,} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def page_sources(crawled: Crawled) -> str:
    total = count_of(crawled.modules + crawled.licences, "page")
    licences = count_of(crawled.licences, "licence")
    return (
        f"{total} that were already on this machine: {crawled.modules:,} about Python's standard library,"
        f" rendered by pydoc, and {licences} of installed packages"
    )


def left_out_modules(crawled: Crawled) -> str:
    """Say how many modules were left out and why; empty if none was."""
    if not crawled.left_out:
        return ""
    reasons = Counter(crawled.left_out.values()).most_common()
    why = "; ".join(f"{reason}: {modules:,}" for reason, modules in reasons)
    return f"{count_of(len(crawled.left_out), 'module')} left out ({why})."


def unchanged_pages(crawled: Crawled) -> str:
    """Say how many pages are the same as in the last run; empty on the first run."""
    report = crawled.report
    if not report.unchanged:
        return ""
    if report.unchanged == report.pages:
        return "None of them has changed since the last run."
    return f"{report.unchanged:,} of them have not changed since the last run."


def text_size(report: DemoReport) -> str:
    return f"{report.characters:,} characters of text have {report.fingerprints:,} fingerprints."


def near_copies(report: DemoReport) -> str:
    return f"{clusters_and_pages(report.clustering)}."


def likeness(cluster: ScoredCluster) -> str:
    return "the same text" if cluster.lowest == 1 else f"at least {percent(cluster.lowest)} alike"


def word_count(page: Record) -> str:
    return count_of(len(canonical_text(page.text).words), "word")


def contained_sentence(contained: Contained) -> str:
    return f"all of {name(contained.page)} is in {names(contained.inside)}"


def copied_sentence(site: str, copied: Copied, report: DemoReport) -> str:
    pages = count_of(sum(record.site == site for record in report.records), "page")
    return f"{count_of(copied.words, 'word')} on {len(copied.pages):,} of the {pages} of {site}"


def search_sentence(report: DemoReport) -> str:
    return f"{QUERY} is on {pages_in_groups(report.search)}" if report.search.total else f"No page has {QUERY}"


def next_commands(report: DemoReport, store: str) -> list[str]:
    """Return commands that find something in the demo's store; the first opens it in a browser."""
    return [shell_command(*words, "--store", store, *key_file_words()) for words in _next_commands(report)]


def _next_commands(report: DemoReport) -> Iterator[tuple[str, ...]]:
    yield ("serve",)
    if report.search.total:
        yield "search", QUERY.strip('"')
    if report.contained:
        yield "similar", report.contained[0].page.url, "--min-containment", "1"
    elif report.clusters:
        yield "similar", report.clusters[0].pages[0].url
    if report.pair:
        yield "compare", report.pair.a.url or "", report.pair.b.url or ""
