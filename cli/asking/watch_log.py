"""winnow watch log: list what watches found while pages were indexed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import TableOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.page_lines import page_lines
from opensearch_winnow.cli.text_columns import TextColumn, joined, percent_column
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.finding import Findings
from opensearch_winnow.operations.asking.watch_log import LogQuestion

MAX_NAME_COLUMNS = 30


@click.command("log", cls=DescribedCommand, short_help="List what watches found while pages were indexed.")
@click.argument("name", required=False)
@declared_options(LogQuestion, "question")
@store_option()
@declared_options(TableOutput, "output")
def log(name: str | None, question: LogQuestion, store: str, output: TableOutput) -> None:
    """\b
    Examples:
      winnow watch log --store crawl.winnow
      winnow watch log press --since 2026-11
      winnow watch log --json | jq -r '.findings[].url'

    List the pages that matched a watch when they were indexed: of the watch NAME, or of all, the newest first. The
    store keeps the last 10,000 findings. The log marks nothing as seen: winnow watch check lists the same pages.

    Exits with 1 if there are no findings.
    """
    with Index.open(store, create=False) as index:
        findings = index.watch_log(replace(question, name=name))
        if name and not findings:
            index.watch(name)  # raises an error if there is no such watch
    output.show(findings, lambda screen: table(findings, screen.columns, full=output.full))
    if not findings:
        end(NOTHING_FOUND, f"No findings in {index.name}{f' for watch {name}' if name else ''}")
    next_step("watch", "check", findings[0].watch)


def table(findings: Findings, columns: int, *, full: bool) -> Iterator[list[Span]]:
    """Yield the lines of the table of findings."""
    if findings:
        head, cells = joined(
            [
                TextColumn("found", [f"{each.at:%Y-%m-%d %H:%M}" for each in findings]),
                TextColumn("watch", [shortened(each.watch) for each in findings]),
                percent_column("in page", [each.containment for each in findings]),
                TextColumn(
                    "longest passage", [f"{each.longest:,}" if each.longest else "–" for each in findings], right=True
                ),
            ]
        )
        yield from page_lines(head, cells, findings[:], columns, full=full)


def shortened(name: str) -> str:
    """Return the name of a watch as tables show it."""
    return shorten_middle(one_line(name).strip(), MAX_NAME_COLUMNS)
