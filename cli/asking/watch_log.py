"""winnow watch log: list what watches found while pages were indexed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from opensearch_winnow.answers.asking.watch_log import finding_document
from opensearch_winnow.answers.display_text import one_line, shorten_middle, width
from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.options.filter_options import TimePeriodType
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.page_lines import page_lines
from opensearch_winnow.cli.terminal import Terminal, color_option, full_option, json_option, say, terminal
from opensearch_winnow.cli.text_columns import GAP, left, right
from opensearch_winnow.foundation.time_period import EXAMPLES, TimePeriod
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.finding import Finding

MAX_NAME_COLUMNS = 30


@click.command("log", short_help="List what watches found while pages were indexed.")
@click.argument("name", required=False)
@click.option("--since", metavar="DATE", type=TimePeriodType(), help=f"Only findings since DATE: {EXAMPLES}.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1), default=100, show_default=True, help="Number of findings to list."
)
@store_option()
@json_option
@full_option
@color_option
@click.pass_context
def log(
    ctx: click.Context,
    name: str | None,
    since: TimePeriod | None,
    limit: int,
    store: str,
    as_json: bool,
    full: bool,
    color: str,
) -> None:
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
        findings = index.watch_log(name, since=since and since.start, limit=limit)
        if name and not findings:
            index.watch(name)  # an error, if there is none of this name
    if as_json:
        click.echo(json.dumps({"findings": [finding_document(each) for each in findings]}))
    elif not (screen := terminal(color)):
        show_rows(findings)
    elif findings:
        show_table(screen, findings, full=full)
    if not findings:
        say(f"No findings in {index.name}{f' for watch {name}' if name else ''}")
        ctx.exit(NOTHING_FOUND)
    next_step(ctx, "watch", "check", findings[0].watch)


def show_table(screen: Terminal, findings: Sequence[Finding], *, full: bool) -> None:
    names = [shorten_middle(one_line(each.watch).strip(), MAX_NAME_COLUMNS) for each in findings]
    shares = [compact_percent(each.containment) for each in findings]
    lengths = [f"{each.longest:,}" if each.longest else "–" for each in findings]
    columns = [f"{each.at:%Y-%m-%d %H:%M}" for each in findings], names, shares, lengths
    heads = "found", "watch", "in page", "longest passage"
    widths = [max(map(width, (head, *cells))) for head, cells in zip(heads, columns, strict=True)]
    head = GAP.join(map(left, heads, widths))
    cells = [
        GAP.join([left(time, widths[0]), left(name, widths[1]), right(share, widths[2]), right(length, widths[3])])
        for time, name, share, length in zip(*columns, strict=True)
    ]
    for line in page_lines(head, cells, findings, screen.columns, full=full):
        screen.echo(screen.line(line))


def show_rows(findings: Sequence[Finding]) -> None:
    """Print tab-separated values for programs, with nothing shortened."""
    sys.stdout.write("at\twatch\tcontainment\tlongest\tid\tfetched_at\turl\ttitle\n")
    for each in map(finding_document, findings):
        found = f"{each['at']}\t{one_line(each['watch'])}\t{each['containment']:.6g}\t{each['longest']}"
        page = f"{one_line(each['url'])}\t{one_line(each['title'] or '').strip()}"
        sys.stdout.write(f"{found}\t{each['id']}\t{each['fetched_at'] or ''}\t{page}\n")
