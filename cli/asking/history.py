"""winnow history: list the captures of a URL, and how much each resembles the one before it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

import click

from opensearch_winnow.answers.asking.history import history_document, history_summary
from opensearch_winnow.answers.display_text import Span, one_line, shorten, width
from opensearch_winnow.answers.formatting import compact_percent, count_of, time_stamp
from opensearch_winnow.cli.options.filter_options import boilerplate_option
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import bar, color_option, json_option, remark, say, terminal
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.history import HistoryEntry

BAR_COLUMNS = 10
GAP = "  "
UNKNOWN = "unknown"  # the time of a capture
ID_COLUMNS = 32
MAX_CRAWL_COLUMNS = 20
MIN_TITLE_COLUMNS = 20  # fewer show too little of a title to be useful


@click.command("history", short_help="List the captures of a URL, and how much it changed.")
@click.argument("url")
@store_option()
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 1_000_000),
    default=1_000,
    show_default=True,
    help="Show the latest N captures.",
)
@boilerplate_option
@click.option("--ids", is_flag=True, help="Show the ids of the captures on a terminal, too.")
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context, url: str, store: str, limit: int, boilerplate: bool, ids: bool, as_json: bool, color: str
) -> None:
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
        entries = index.history(url, limit=limit + 1, boilerplate=boilerplate)
    latest = entries[-limit:]
    document = history_document(url, entries, limit=limit)
    if as_json:
        click.echo(json.dumps(document))
    elif not (screen := terminal(color)):
        show_rows(latest)
    else:
        for line in table(latest, screen.columns, ids=ids):
            screen.echo(screen.line(line))
    remark(history_summary(document))
    if document["earlier"]:
        say(f"showing the latest {count_of(limit, 'capture')}; --limit shows more")
    if changed := last_change(entries):
        next_step(ctx, "compare", url, *(word for time in changed for word in ("--at", time)))
    else:
        next_step(ctx, "similar", url)


def last_change(entries: Sequence[HistoryEntry]) -> list[str]:
    """Return the times of the two captures around the last change, the older first; [] if unknown."""
    times = capture_times(entries)
    for number in range(len(entries) - 1, 0, -1):
        if entries[number].resemblance not in (None, 1):
            both = [each.replace(" ", "T") for each in times[number - 1 : number + 1]]
            return [] if UNKNOWN in both else both
    return []


def table(entries: Sequence[HistoryEntry], columns: int, *, ids: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table: date, resemblance with a bar, the id on request, and crawl and title if known."""
    times = capture_times(entries)
    shares = ["–" if each.resemblance is None else compact_percent(each.resemblance) for each in entries]
    crawls = [shorten(one_line(each.card.crawl).strip(), MAX_CRAWL_COLUMNS) for each in entries]
    when, share = max(map(width, ("captured", *times))), max(map(width, shares))
    scored = max(share + 1 + BAR_COLUMNS, width("resemblance"))
    crawl = max(map(width, ("crawl", *crawls))) + len(GAP) if any(crawls) else 0
    named = ID_COLUMNS + len(GAP) if ids else 0
    room = columns - when - scored - named - crawl - 2 * len(GAP)
    titles = [
        shorten(one_line(each.card.title or "").strip(), room) if room >= MIN_TITLE_COLUMNS else "" for each in entries
    ]
    heads = [
        _left("captured", when),
        _left("resemblance", scored),
        *([_left("id", ID_COLUMNS)] if ids else []),
        *([_left("crawl", crawl - len(GAP))] if crawl else []),
    ]
    yield [(GAP.join([*heads, "title"] if any(titles) else heads).rstrip(), "bold")]
    for each, time, percentage, name, title in zip(entries, times, shares, crawls, titles, strict=True):
        filled = bar(each.resemblance or 0.0, BAR_COLUMNS)
        cells = [_left(time, when), _left(f"{' ' * (share - width(percentage))}{percentage} {filled}", scored)]
        cells += [each.card.id] if ids else []
        line = GAP.join([*cells, _left(name, crawl - len(GAP))] if crawl else cells)
        yield [(f"{line}{GAP}", "plain"), (title, "dim")] if title else [(line.rstrip(), "plain")]


def capture_times(entries: Sequence[HistoryEntry]) -> list[str]:
    """Return the day of each capture; with the time of day (UTC) if two captures are of the same day."""
    times = [each.card.fetched_at for each in entries]
    days = [UNKNOWN if time is None else f"{time:%Y-%m-%d}" for time in times]
    if len(set(days)) == len(days):
        return days
    return [UNKNOWN if time is None else f"{time:%Y-%m-%d %H:%M:%S}" for time in times]


def show_rows(entries: Sequence[HistoryEntry]) -> None:
    """Print tab-separated values for programs, with nothing shortened."""
    sys.stdout.write("fetched_at\tresemblance\tid\tcrawl\ttitle\n")
    for card, resemblance in entries:
        share = "" if resemblance is None else f"{resemblance:.6g}"
        crawl, title = one_line(card.crawl).strip(), one_line(card.title or "").strip()
        sys.stdout.write(f"{time_stamp(card) or ''}\t{share}\t{card.id}\t{crawl}\t{title}\n")


def _left(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))
