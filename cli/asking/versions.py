"""winnow versions: list the versions of a page or text, where each was first seen, and the copies that are stale."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from opensearch_winnow.answers.asking.versions import VersionDocument, versions_document, versions_summary
from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle, width
from opensearch_winnow.answers.formatting import compact_percent, count_of, duration
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.page_lines import GAP, left, right
from opensearch_winnow.cli.short_urls import ShortUrls, short_urls
from opensearch_winnow.cli.terminal import bar, color_option, full_option, json_option, remark, say, terminal
from opensearch_winnow.cli.text_file import read_text_or_html, require_piped_stdin
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.versions import VersionsQuestion

BAR_COLUMNS = 10
HEADS = ("first seen", "resemblance", "pages", "first page")
STALE = "  stale: "
MIN_URL_COLUMNS = 20
MAX_STALE_PAGES_SHOWN = 5  # of a version; in a pipe, all are


@click.command("versions", short_help="List the versions of a page or text, and stale copies.")
@click.argument("url", required=False)
@click.option(
    "--file",
    metavar="F",
    type=click.Path(allow_dash=True),
    callback=require_piped_stdin,
    help="List the versions of the text of a UTF-8 or HTML file; - reads from a pipe.",
)
@store_option()
@declared_options(VersionsQuestion, "question")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 1_000_000),
    default=1_000,
    show_default=True,
    help="Show the latest N versions, and the first N pages of each.",
)
@json_option
@full_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    url: str | None,
    file: str | None,
    store: str,
    question: VersionsQuestion,
    limit: int,
    as_json: bool,
    full: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow versions http://example.org/page --store crawl.winnow
      winnow versions --file licence.txt --min-resemblance 0.8
      winnow versions http://example.org/page --json

    List the versions of a page, or of a text that many pages have, from the oldest to the newest: every capture in the
    store that resembles it, captures with the same text as one version. Versions of unknown date come first.

    The resemblance is that of a version to the one before it, and the first page is where it was first seen. Below a
    version are the stale pages: copies that were not updated. A page is stale if its newest capture still has a text
    that another page has replaced.

    Prints a table on a terminal, tab-separated values in a pipe, with a row for each page of each version. Exits with 1
    if no page resembles the text, and with 2 if the store has no page with this URL.
    """
    if (url is None) == (file is None):
        raise click.UsageError("give either the URL of a page in the store, or --file", ctx)
    if question.at is not None and url is None:
        raise click.UsageError("--at chooses a capture of a URL: give the URL", ctx)
    text, html = (None, None) if file is None else read_text_or_html(file)
    with Index.open(store, create=False) as index:
        found = index.versions(replace(question, url=url, text=text, html=html))
    document = versions_document(found, limit=limit)
    if as_json:
        click.echo(json.dumps(document))
    elif not (screen := terminal(color)):
        show_rows(document["versions"])
    elif found.versions:
        for line in table(document["versions"], screen.columns, full=full):
            screen.echo(screen.line(line))
    if not found.versions:
        say(f"No page has a resemblance of at least {100 * question.min_resemblance:g} % to this text")
        ctx.exit(NOTHING_FOUND)
    remark(f"{versions_summary(document)} · {duration(found.seconds)}")
    if len(document["versions"]) < document["total"]:
        say(f"showing the latest {limit:,} of {document['total']:,} versions; --limit shows more")
    if any(len(each["pages"]) < each["page_count"] for each in document["versions"]):
        say(f"showing {count_of(limit, 'page')} of each version at most; --limit shows more")
    next_step(ctx, "history", url or found[-1].captures[0].url)


def table(versions: Sequence[VersionDocument], columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table: a line for each version, and below it the copies that are stale."""
    days = [(each["first_seen"] or "unknown")[:10] for each in versions]
    shares = ["–" if each["resemblance"] is None else compact_percent(each["resemblance"]) for each in versions]
    counts = [f"{each['page_count']:,}" for each in versions]
    first, share, count = (max(map(width, column)) for column in ([HEADS[0], *days], shares, [HEADS[2], *counts]))
    scored = max(share + 1 + BAR_COLUMNS, width(HEADS[1]))
    room = max(columns - first - scored - count - 3 * len(GAP), MIN_URL_COLUMNS)
    urls = [each["first_url"] for each in versions]
    shown = ShortUrls([one_line(url).strip() for url in urls]) if full else short_urls(urls, room)
    name = shorten_middle(f"{HEADS[3]}, … is {shown.folder}", room) if shown.folder else HEADS[3]
    yield [(GAP.join([left(HEADS[0], first), left(HEADS[1], scored), right(HEADS[2], count), name]), "bold")]
    for each, seen, percentage, number, url in zip(versions, days, shares, counts, shown.shown, strict=True):
        filled = bar(each["resemblance"] or 0.0, BAR_COLUMNS)
        cells = left(seen, first), left(f"{right(percentage, share)} {filled}", scored), right(number, count)
        yield [(GAP.join([*cells, url]), "plain")]
        for stale in each["stale_pages"][:MAX_STALE_PAGES_SHOWN]:
            line = one_line(stale).strip()
            yield [(STALE, "bold"), (line if full else shorten_middle(line, columns - len(STALE)), "plain")]
        if (more := len(each["stale_pages"]) - MAX_STALE_PAGES_SHOWN) > 0:
            yield [(f"{STALE}{more:,} more", "dim")]


def show_rows(versions: Sequence[VersionDocument]) -> None:
    """Print tab-separated values for programs: a row for each page of each version, with its last such capture."""
    sys.stdout.write("version\tfirst_seen\tresemblance\tstale\turl\tid\n")
    for number, each in enumerate(versions, 1):
        share = "" if each["resemblance"] is None else f"{each['resemblance']:.6g}"
        stale = set(each["stale_pages"])
        for url, id_ in zip(each["pages"], each["page_ids"], strict=True):
            cells = number, each["first_seen"] or "", share, "stale" if url in stale else "", one_line(url).strip(), id_
            sys.stdout.write("\t".join(map(str, cells)) + "\n")
