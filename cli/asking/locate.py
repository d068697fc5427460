"""winnow locate: list the later pages that have the text of a page that moved or was lost."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from opensearch_winnow.answers.asking.locate import located_document, located_summary
from opensearch_winnow.answers.display_text import Span, one_line, width
from opensearch_winnow.answers.formatting import compact_percent, day, duration, time_stamp
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.page_lines import page_lines
from opensearch_winnow.cli.terminal import bar, color_option, full_option, json_option, remark, say, terminal
from opensearch_winnow.cli.text_columns import GAP, left, right
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.locate import FoundPage, Located, LostPage

BAR_COLUMNS = 10
HEADS = ("change", "resemblance", "A in B", "B in A", "captured")


@click.command("locate", short_help="List the later pages that a lost page moved to.")
@click.argument("url")
@store_option()
@declared_options(LostPage, "lost")
@json_option
@full_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    url: str,
    store: str,
    lost: LostPage,
    as_json: bool,
    full: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow locate http://example.org/page --store crawl.winnow
      winnow locate http://example.org/page --at 2023-12
      winnow locate http://example.org/page --json

    Find where the page URL went: list the pages captured later, in another crawl, that have the text of its last
    capture or a part of it. If URL has shown an error or another page since then, say with --at which capture you mean.

    \b
    A is the lost page, and B a later page:
      moved      A and B resemble each other by at least 50 %
      merged     at least 50 % of A is in B, which has more besides
      split      at least 50 % of B is from A; other parts of A are not in B
      copy       one of these, but A did not move to B: B had the text before A was last seen, A is still
                 there, or several pages have it, and none of them is on the site of A or has its path
      unchanged  B is URL itself, with the same text, and
      changed    with another one, after the capture of --at

    Pages that resemble the lost one come first, then those that contain the most of it. Prints a table on a terminal,
    tab-separated values in a pipe. Exits with 1 if nothing is found, and with 2 if the store has no page with this URL.
    """
    with Index.open(store, create=False) as index:
        located = index.locate(replace(lost, url=url))
        document = located_document(index, located)
    if as_json:
        click.echo(json.dumps(document))
    elif not (screen := terminal(color)):
        show_rows(located)
    elif located.found:
        for line in table(located.found, screen.columns, full=full):
            screen.echo(screen.line(line))
    if document["reason"] is not None:
        say(document["reason"])
        ctx.exit(NOTHING_FOUND)
    remark(f"{located_summary(document)} · {duration(located.seconds)}")
    if len(located) < located.total:
        say(f"showing {len(located):,} of {located.total:,} pages; --limit shows more")
    next_step(ctx, "compare", document["id"], located[0].card.id)


def table(found: Sequence[FoundPage], columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Return the lines of the table: what happened, the scores, the date, and the page."""
    rows = [
        [each.change, *(_percent(each, share) for share in (each.resemblance, each.containment, each.contained))]
        for each in found
    ]
    change, resemblance, containment, contained = (
        max(map(width, column)) for column in zip(*rows, ("", "", *HEADS[2:4]), strict=True)
    )
    change = max(change, width(HEADS[0]))
    scored = max(resemblance + 1 + BAR_COLUMNS, width(HEADS[1]))
    captured = max(width(HEADS[4]), *(width(day(each.card)) for each in found))
    heads = left(HEADS[0], change), left(HEADS[1], scored), right(HEADS[2], containment), right(HEADS[3], contained)
    head = GAP.join([*heads, left(HEADS[4], captured)])
    cells = [
        GAP.join(
            [
                left(row[0], change),
                left(f"{right(row[1], resemblance)} {bar(each.resemblance, BAR_COLUMNS)}", scored),
                right(row[2], containment),
                right(row[3], contained),
                left(day(each.card), captured),
            ]
        )
        for row, each in zip(rows, found, strict=True)
    ]
    return page_lines(head, cells, [each.card for each in found], columns, name="page (B)", full=full)


def show_rows(located: Located) -> None:
    """Print tab-separated values for programs, with nothing shortened."""
    sys.stdout.write(
        "change\tresemblance\tcontainment\tcontained\tkind\terror\tfetched_at\tfirst_seen\tid\tcrawl\turl\ttitle\n"
    )
    for each in located:
        scores = "\t".join(f"{share:.6g}" for share in (each.resemblance, each.containment, each.contained))
        times = f"{time_stamp(each.card) or ''}\t{written_time(each.first_seen)}"
        page = "\t".join(one_line(text).strip() for text in (each.card.crawl, each.url, each.title or ""))
        sys.stdout.write(f"{each.change}\t{scores}\t{each.kind}\t{each.error:.6g}\t{times}\t{each.card.id}\t{page}\n")


def _percent(found: FoundPage, share: float) -> str:
    return "≈ " * (found.kind == "estimate") + compact_percent(share)
