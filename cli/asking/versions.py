"""winnow versions: list the versions of a page or text, where each was first seen, and the copies that are stale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from opensearch_winnow.answers.asking.versions import versions_summary
from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle, width
from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import TableOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.question_options import PageOrText, question_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.short_urls import ShortUrls, short_urls
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined, share_column
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.versions import Versions, VersionsQuestion

STALE = "  stale: "
MIN_URL_COLUMNS = 20
MAX_STALE_PAGES_SHOWN = 5  # of a version; a pipe gets all


@click.command("versions", cls=DescribedCommand, short_help="List the versions of a page or text, and stale copies.")
@question_options()
@store_option()
@declared_options(VersionsQuestion, "question")
@declared_options(TableOutput, "output")
def command(about: PageOrText, store: str, question: VersionsQuestion, output: TableOutput) -> None:
    """\b
    Examples:
      winnow versions http://example.org/page --store crawl.winnow
      winnow versions --file licence.txt --min-resemblance 0.8
      winnow versions http://example.org/page --json

    List the versions of a page, or of a text that many pages have, from the oldest to the newest: every capture in the
    store that resembles it, captures with the same text as one version. Versions of unknown date come first.

    The resemblance compares a version with the one before it, and the first page is where it was first seen. Below a
    version are the stale pages: copies that were not updated. A page is stale if its newest capture still has a text
    that another page has replaced.

    Prints a table on a terminal, tab-separated values in a pipe, with a row for each page of each version. Exits with 1
    if no page resembles the text, and with 2 if the store has no page with this URL.
    """
    question = replace(question, **about.keywords())
    with Index.open(store, create=False) as index:
        found = index.versions(question)
    output.show(found, lambda screen: table(found, screen.columns, full=output.full))
    if not found.versions:
        end(NOTHING_FOUND, f"No page has a resemblance of at least {100 * question.min_resemblance:g} % to this text")
    remark(f"{versions_summary(found)} · {duration(found.seconds)}")
    if len(found) < found.total:
        say(f"showing the latest {len(found):,} of {found.total:,} versions; --limit shows more")
    if any(len(each.pages) < each.page_count for each in found):
        say(f"showing {count_of(question.limit or 0, 'page')} of each version at most; --limit shows more")
    next_step("history", about.url or found[-1].captures[0].url)


def table(versions: Versions, columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table: a line for each version, and below it the copies that are stale."""
    if not versions:
        return
    head, lines = joined(
        [
            TextColumn(
                "first seen",
                ["unknown" if each.first_seen is None else f"{each.first_seen:%Y-%m-%d}" for each in versions],
            ),
            share_column("resemblance", [each.resemblance for each in versions]),
            TextColumn("pages", [f"{each.page_count:,}" for each in versions], right=True),
        ]
    )
    room = max(columns - width(head) - len(GAP), MIN_URL_COLUMNS)
    urls = [each.first_url for each in versions]
    shown = ShortUrls([one_line(url).strip() for url in urls]) if full else short_urls(urls, room)
    name = shorten_middle(f"first page, … is {shown.folder}", room) if shown.folder else "first page"
    yield [(f"{head}{GAP}{name}", "bold")]
    for version, line, url in zip(versions, lines, shown.shown, strict=True):
        yield [(f"{line}{GAP}{url}", "plain")]
        for page in version.stale_pages[:MAX_STALE_PAGES_SHOWN]:
            stale = one_line(page).strip()
            yield [(STALE, "bold"), (stale if full else shorten_middle(stale, columns - len(STALE)), "plain")]
        if (more := len(version.stale_pages) - MAX_STALE_PAGES_SHOWN) > 0:
            yield [(f"{STALE}{more:,} more", "dim")]
