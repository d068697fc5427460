"""winnow locate: list the later pages that have the text of a page that moved or was lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from opensearch_winnow.answers.asking.locate import located_summary
from opensearch_winnow.answers.display_text import Span
from opensearch_winnow.answers.formatting import compact_percent, day, duration
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import TableOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.page_lines import page_lines
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.text_columns import TextColumn, joined, share_column
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.locate import Located, LostPage


@click.command("locate", cls=DescribedCommand, short_help="List the later pages that a lost page moved to.")
@click.argument("url")
@store_option()
@declared_options(LostPage, "lost")
@declared_options(TableOutput, "output")
def command(url: str, store: str, lost: LostPage, output: TableOutput) -> None:
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
      unchanged  B is URL itself, captured after --at, with the same text
      changed    B is URL itself, captured after --at, with another text

    Pages that resemble the lost one come first, then those that contain the most of it. Prints a table on a terminal,
    tab-separated values in a pipe. Exits with 1 if nothing is found, and with 2 if the store has no page with this URL.
    """
    with Index.open(store, create=False) as index:
        located = index.locate(replace(lost, url=url))
    output.show(located, lambda screen: table(located, screen.columns, full=output.full))
    if located.reason is not None:
        end(NOTHING_FOUND, located.reason)
    remark(f"{located_summary(located)} · {duration(located.seconds)}")
    if len(located) < located.total:
        say(f"showing {len(located):,} of {located.total:,} pages; --limit shows more")
    next_step("compare", located.id, located[0].card.id)


def table(located: Located, columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table: what happened, the scores, the date, and the page."""
    if not located:
        return
    resemblances, containments, shares = (
        ["≈ " * (each.kind == "estimate") + compact_percent(getattr(each, score)) for each in located]
        for score in ("resemblance", "containment", "contained")
    )
    head, cells = joined(
        [
            TextColumn("change", [each.change for each in located]),
            share_column("resemblance", [each.resemblance for each in located], resemblances),
            TextColumn("A in B", containments, right=True),
            TextColumn("B in A", shares, right=True),
            TextColumn("captured", [day(each.card) for each in located]),
        ]
    )
    yield from page_lines(head, cells, located.found, columns, name="page (B)", full=full)
