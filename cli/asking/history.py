"""winnow history: list the captures of a URL, and how much each resembles the one before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from opensearch_winnow.answers.asking.history import history_summary
from opensearch_winnow.answers.display_text import Span, one_line, shorten, width
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import TableOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined, share_column
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.history import History, HistoryQuestion

UNKNOWN = "unknown"  # the time of a capture
MAX_CRAWL_COLUMNS = 20
MIN_TITLE_COLUMNS = 20  # fewer show too little of a title to be useful


@click.command("history", cls=DescribedCommand, short_help="List the captures of a URL, and how much it changed.")
@click.argument("url")
@store_option()
@declared_options(HistoryQuestion, "question")
@click.option("--ids", is_flag=True, help="Show the ids of the captures on a terminal, too.")
@declared_options(TableOutput, "output")
def command(url: str, store: str, question: HistoryQuestion, ids: bool, output: TableOutput) -> None:
    """\b
    Examples:
      winnow history http://example.org/page --store crawl.winnow
      winnow history http://example.org/page --limit 12
      winnow history http://example.org/page --json

    List the captures of URL from the earliest to the latest, each with its resemblance to the one before it: the runs
    of ten words that are in both, as a share of those in either. The scores are exact, computed from both texts.
    Captures without a date come first. compare and similar accept a capture by its date (--at) or by its id.

    Prints a table on a terminal, tab-separated values in a pipe. Exits with 2 if the store has no page with this URL.
    """
    with Index.open(store, create=False) as index:
        history = index.history(replace(question, url=url))
    output.show(history, lambda screen: table(history, screen.columns, ids=ids, full=output.full))
    remark(history_summary(history))
    if history.earlier:
        say(f"showing the latest {count_of(question.limit, 'capture')}; --limit shows more")
    if changed := last_change(history):
        next_step("compare", url, *(word for time in changed for word in ("--at", time)))
    else:
        next_step("similar", url)


def last_change(history: History) -> list[str]:
    """Return the times of the two captures around the last change, the older first; [] if unknown."""
    times = capture_times(history)
    for number in range(len(history) - 1, 0, -1):
        if history[number].resemblance not in (None, 1):
            both = [each.replace(" ", "T") for each in times[number - 1 : number + 1]]
            return [] if UNKNOWN in both else both
    return []


def table(history: History, columns: int, *, ids: bool = False, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table: date, resemblance with a bar, the id on request, and crawl and title if known."""
    shown = [
        TextColumn("captured", capture_times(history)),
        share_column("resemblance", [each.resemblance for each in history]),
    ]
    if ids:
        shown.append(TextColumn("id", [each.card.id for each in history]))
    crawls = [shorten(one_line(each.card.crawl).strip(), MAX_CRAWL_COLUMNS) for each in history]
    if any(crawls):
        shown.append(TextColumn("crawl", crawls))
    head, lines = joined(shown)
    room = columns - width(head) - len(GAP)
    titles = [one_line(each.card.title or "").strip() for each in history]
    if not full:
        titles = [shorten(title, room) if room >= MIN_TITLE_COLUMNS else "" for title in titles]
    yield [(f"{head}{GAP}{'title' if any(titles) else ''}".rstrip(), "bold")]
    for line, title in zip(lines, titles, strict=True):
        yield [(f"{line}{GAP}", "plain"), (title, "dim")] if title else [(line.rstrip(), "plain")]


def capture_times(history: History) -> list[str]:
    """Return the day of each capture; with the time of day (UTC) if two captures are of the same day."""
    times = [each.card.fetched_at for each in history]
    days = [UNKNOWN if time is None else f"{time:%Y-%m-%d}" for time in times]
    if len(set(days)) == len(days):
        return days
    return [UNKNOWN if time is None else f"{time:%Y-%m-%d %H:%M:%S}" for time in times]
