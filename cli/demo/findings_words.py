"""What was found, in sentences: for the terminal and for the report alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.answers.search_words import pages_in_groups
from opensearch_winnow.cli.cluster_words import clusters_and_pages
from opensearch_winnow.cli.demo.crawl import Crawled
from opensearch_winnow.cli.demo.findings import WORDS, Cluster, Contained, Findings
from opensearch_winnow.cli.demo.most_copied import Copied
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.mappings.record import Record

NAMED = 3  # pages of a list that are named


def name(page: Record) -> str:
    return one_line(page.title or page.url).strip()


def names(pages: Sequence[Record]) -> str:
    """A, B, C and 5 more; or A, B and C. The shortest names, of which most fit into a line."""
    shown = sorted((name(page) for page in pages), key=lambda each: (len(each), each))[:NAMED]
    if len(pages) > NAMED:
        return f"{', '.join(shown)} and {len(pages) - NAMED:,} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def which_pages(crawled: Crawled) -> str:
    total = count_of(crawled.modules + crawled.licences, "page")
    licences = count_of(crawled.licences, "licence")
    return (
        f"{total} that were on this machine already: {crawled.modules:,} of Python's standard library,"
        f" as pydoc renders them, and {licences} of installed packages"
    )


def what_was_left_out(crawled: Crawled) -> str:
    """Empty if nothing was."""
    if not crawled.left_out:
        return ""
    reasons = Counter(crawled.left_out.values()).most_common()
    why = "; ".join(f"{reason}: {modules:,}" for reason, modules in reasons)
    return f"{count_of(len(crawled.left_out), 'module')} left out ({why})."


def what_has_changed(crawled: Crawled) -> str:
    """Since the last run; empty if there was none."""
    report = crawled.report
    if not report.unchanged:
        return ""
    if report.unchanged == report.pages:
        return "None of them has changed since the last run."
    return f"{report.unchanged:,} of them have not changed since the last run."


def how_much(findings: Findings) -> str:
    return f"{findings.characters:,} characters of text gave {findings.fingerprints:,} fingerprints."


def near_copies(findings: Findings) -> str:
    return f"{clusters_and_pages(findings.found)}."


def how_alike(cluster: Cluster) -> str:
    return "the same text" if cluster.lowest == 1 else f"at least {percent(cluster.lowest)} alike"


def word_count(page: Record) -> str:
    return count_of(len(canonical_text(page.text).words), "word")


def contained_sentence(contained: Contained) -> str:
    return f"all of {name(contained.page)} is in {names(contained.inside)}"


def copied_sentence(site: str, copied: Copied, findings: Findings) -> str:
    pages = count_of(sum(record.site == site for record in findings.records), "page")
    return f"{count_of(copied.words, 'word')} on {len(copied.pages):,} of the {pages} of {site}"


def search_sentence(findings: Findings) -> str:
    return f"{WORDS} is on {pages_in_groups(findings.search)}" if findings.search.total else f"No page has {WORDS}"
