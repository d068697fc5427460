"""winnow changes: compare two crawls, and list what became of each page."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Collection

import click

from opensearch_winnow.answers.crawls.changes import (
    COLUMNS,
    ChangeDocument,
    ChangesDocument,
    change_rows,
    changes_document,
    changes_summary,
    crawls_or_dates,
    without_text_clause,
)
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.crawls.changes_table import show_table
from opensearch_winnow.cli.crawls.export_rows import say_left_out, write_cdxj
from opensearch_winnow.cli.options.filter_options import boilerplate_option
from opensearch_winnow.cli.options.run_options import quiet_option
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.phase_progress import show_phases
from opensearch_winnow.cli.terminal import color_option, full_option, json_option, remark, say, terminal
from opensearch_winnow.foundation.csv_cells import escape_formula
from opensearch_winnow.foundation.time_period import EXAMPLES
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.capture_row import entry_row
from opensearch_winnow.operations.crawls.changes import DEFAULT_THRESHOLD, KINDS, ChangeKind

PAGES_ON_A_TERMINAL = 20  # of each kind: the counts should not scroll away


@click.command("changes", short_help="Compare two crawls: which pages changed, moved or are new.")
@store_option()
@click.option(
    "--from", "before", metavar="CRAWL", help=f"The earlier crawl; or a date, if no crawl has this name: {EXAMPLES}."
)
@click.option("--to", "after", metavar="CRAWL", help="The later crawl, or date.")
@click.option("--site", metavar="HOST", help="Only pages of this site. Their texts are looked up on all sites.")
@click.option(
    "--change", "kinds", type=click.Choice(KINDS), multiple=True, help="List only these changes; may be repeated."
)
@click.option(
    "--near-revisits",
    metavar="X",
    is_flag=False,
    flag_value=1.0,
    type=click.FloatRange(0, 1, min_open=True),
    help="List the captures of the later crawl that need not be kept: the text of the page did not change, or only the"
    " template of its site; with X, also if it resembles the earlier capture by at least X.",
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=DEFAULT_THRESHOLD,
    show_default=True,
    help="The least share of a page's text that has to be elsewhere for it to have moved, or been split or merged.",
)
@click.option("--passages", is_flag=True, help="Show which passages were removed and added. Not in a pipe or CSV.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    help=f"List at most N pages of each kind; all are counted.  [default: {PAGES_ON_A_TERMINAL} on a terminal]",
)
@boilerplate_option
@quiet_option
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@click.option(
    "--cdxj",
    "as_cdxj",
    is_flag=True,
    help="Print the listed captures of the later crawl as CDXJ, an index of archives.",
)
@json_option
@full_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    before: str | None,
    after: str | None,
    site: str | None,
    kinds: tuple[ChangeKind, ...],
    near_revisits: float | None,
    threshold: float,
    passages: bool,
    limit: int | None,
    boilerplate: bool,
    quiet: bool,
    as_csv: bool,
    as_cdxj: bool,
    as_json: bool,
    full: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow changes --from spring --to autumn --store crawl.winnow
      winnow changes --from 2024-03 --to 2024-09 --change moved --change merged
      winnow changes --from spring --to autumn --site example.org --passages
      winnow changes --from spring --to autumn --near-revisits --cdxj > not-to-keep.cdxj
      winnow changes --json | jq .counts

    Compare two crawls, or what was captured until one date with what was captured after it until another; without
    --from and --to, the two latest crawls that have URLs in common. Every page of the earlier crawl is one of these:

    \b
      unchanged  its URL has the same text
      changed    its URL has another text, or only another template
      moved      its text is at another URL: the page that resembles it most
      split      its text is in several pages with new URLs
      merged     half of its text or more is part of another page
      not_seen   neither URL nor text was seen again: no proof of a deletion

    and new are pages of the later crawl with a new URL that no page moved to. Resemblance is exact, computed from both
    texts. Of several captures of a URL in a crawl, the latest counts.

    Prints a table on a terminal, where unchanged pages are only counted, and tab-separated values in a pipe. Exits with
    1 if there is nothing to list, or if all pages are unchanged.
    """
    screen = None if as_json or as_csv or as_cdxj else terminal(color)
    if as_csv + as_cdxj + as_json > 1:
        raise click.UsageError("give one of --csv, --cdxj and --json", ctx)
    if passages and not (screen or as_json):
        raise click.UsageError("only a table on a terminal and --json have room for --passages", ctx)
    if (before is None) != (after is None):
        raise click.UsageError("give both --from and --to, or neither of them to compare the two latest crawls", ctx)
    wanted: Collection[ChangeKind] = kinds or KINDS
    if screen and not (kinds or near_revisits):
        wanted = set(KINDS) - {"unchanged"}
    if screen and limit is None and near_revisits is None:
        limit = PAGES_ON_A_TERMINAL
    with Index.open(store, create=False, patient=True) as index:
        states = (None, None) if before is None or after is None else crawls_or_dates(index, before, after)
        with show_phases(quiet=quiet, color=color) as progress:
            changes = index.changes(
                *states,
                site=site,
                kinds=wanted,
                near_revisits=near_revisits,
                limit=limit,
                threshold=threshold,
                boilerplate=boilerplate,
                progress=progress,
            )
        document = changes_document(index, changes, passages=passages)
        if as_cdxj:
            show_cdxj(index, document)
    document["from"], document["to"] = before or document["from"], after or document["to"]
    if as_json:
        click.echo(json.dumps(document))
    elif screen:
        show_table(screen, document, full=full)
    elif not as_cdxj:
        show_rows(document, "," if as_csv else "\t")
    remark(f"{changes_summary(document)}: from {document['from']} to {document['to']}")
    if document["without_text"] and not (screen or as_json):
        say(f"Of the changed pages, {without_text_clause(document)} and may be unchanged")
    if near_revisits is not None and limit is None:
        remark(f"{count_of(len(document['pages']), 'capture')} need not be kept")
    listed_of = Counter(page["change"] for page in document["pages"])
    if limit is not None and any(listed_of[kind] == limit < changes.counts[kind] for kind in wanted):
        say(f"showing at most {count_of(limit, 'page')} of each kind; --limit shows more")
    listed = [page for page in document["pages"] if kinds or near_revisits or page["change"] != "unchanged"]
    if not listed:
        if not screen:
            say("No page is of this kind" if kinds or near_revisits else "No page changed")
        ctx.exit(NOTHING_FOUND)
    suggest_next(ctx, listed)


def show_rows(document: ChangesDocument, delimiter: str) -> None:
    """Print comma- or tab-separated values for programs, with nothing shortened."""
    if delimiter == "\t":
        sys.stdout.write("\t".join(COLUMNS) + "\n")
        for row in change_rows(document["pages"]):
            cells = ("" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row)
            sys.stdout.write("\t".join(map(one_line, cells)) + "\n")
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in change_rows(document["pages"]):
        writer.writerow([escape_formula(one_line(cell) if isinstance(cell, str) else cell) for cell in row])


def show_cdxj(index: Index, document: ChangesDocument) -> None:
    """Print the captures of the later crawl that the document lists, for players and tools of web archives."""
    ids = [page["to_id"] for page in document["pages"] if page["to_id"] is not None]
    say_left_out(write_cdxj(None, map(entry_row, index.entries(ids=ids))))


def suggest_next(ctx: click.Context, listed: list[ChangeDocument]) -> None:
    first = listed[0]
    is_history = first["change"] == "unchanged" or first["without_text"]
    if first["id"] is not None and first["to_id"] is not None and not is_history:
        next_step(ctx, "compare", first["id"], first["to_id"], "--differences")
    else:
        next_step(ctx, "history" if is_history else "similar", first["url"])
