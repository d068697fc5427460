"""Sentences of the report of the demo, for the terminal and the HTML file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from opensearch_winnow.answers.clusters.clustering_words import clusters_and_pages
from opensearch_winnow.answers.demo.report import ContainedLicence, CopiedPassage, DemoReport, NamedPage, ScoredCluster
from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.answers.searching.search_words import pages_in_groups
from opensearch_winnow.foundation.some_of import some_of
from opensearch_winnow.operations.demo.crawl import Crawled

MAX_NAMES = 3  # page names in a sentence


def names(pages: Sequence[NamedPage]) -> str:
    """List the shortest names of pages: "A, B, C and 5 more", or "A, B and C"."""
    shown = sorted((page.name for page in pages), key=lambda each: (len(each), each))
    if len(shown) > MAX_NAMES:
        return some_of(shown, MAX_NAMES)
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
    if not crawled.unchanged:
        return ""
    if crawled.unchanged == crawled.pages:
        return "None of them has changed since the last run."
    return f"{crawled.unchanged:,} of them have not changed since the last run."


def text_size(report: DemoReport) -> str:
    return f"{report.characters:,} characters of text have {report.fingerprints:,} fingerprints."


def near_copies(report: DemoReport) -> str:
    return f"{clusters_and_pages(report.clustering)}."


def likeness(cluster: ScoredCluster) -> str:
    return "the same text" if cluster.lowest == 1 else f"at least {percent(cluster.lowest)} alike"


def contained_sentence(contained: ContainedLicence) -> str:
    return f"all of {contained.name} is in {names(contained.inside)}"


def copied_sentence(copied: CopiedPassage) -> str:
    pages = count_of(copied.site_pages, "page")
    return f"{count_of(copied.words, 'word')} on {len(copied.pages):,} of the {pages} of {copied.site}"


def search_sentence(report: DemoReport) -> str:
    found = f"is on {pages_in_groups(report.search)}"
    return f"{report.query} {found}" if report.search.total else f"No page has {report.query}"
