"""winnow history: the captures of a URL, and how much each resembles the one before it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

import click

from opensearch_winnow.answers.display_text import Span, one_line, shorten, width
from opensearch_winnow.answers.formatting import compact_percent, count_of, time_stamp
from opensearch_winnow.answers.history import history_document
from opensearch_winnow.cli.bars import bar
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.history import Moment

BAR = 10
GAP = "  "
CRAWL = 20  # columns
ROOM = 20  # columns; a title in fewer says nothing


@click.command("history", short_help="The captures of a URL, and how it changed.")
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
@click.option("--no-boilerplate", is_flag=True, help="Count boilerplate as any other text.")
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context, url: str, store: str, limit: int, no_boilerplate: bool, as_json: bool, color: str
) -> None:
    """\b
    Examples:
      winnow history http://example.org/page --store crawl.winnow
      winnow history http://example.org/page --limit 12
      winnow history http://example.org/page --json

    The captures of URL in the order of time, each with its resemblance to the one before it: of the runs of ten words
    in either, how many are in both. It is exact, from both texts. One whose time is not known comes first.

    On a terminal a table; in a pipe tab-separated values. Exit code 1 if URL is not in the store.
    """
    moments: list[Moment] = []
    reason = ""
    with Index.open(store, create=False) as index:
        try:
            moments = index.history(url, limit=limit + 1, boilerplate=not no_boilerplate)
        except QuestionError as error:
            reason = str(error)
    shown = moments[-limit:]
    if as_json:
        click.echo(json.dumps(history_document(url, moments, limit=limit)))
    elif not (screen := terminal(color)):
        show_rows(shown)
    elif shown:
        for line in table(shown, screen.columns):
            screen.echo(screen.line(line))
    if not shown:
        say(reason)
        ctx.exit(NOTHING_FOUND)
    remark(summary(shown))
    if len(shown) < len(moments):
        say(f"showing the latest {limit:,}: there are earlier captures (--limit)")
    next_step(ctx, "similar", url)


def summary(moments: Sequence[Moment]) -> str:
    known = [moment.resemblance for moment in moments if moment.resemblance is not None]
    changed = sum(resemblance < 1 for resemblance in known)
    captures = count_of(len(moments), "capture")
    return captures if not known else f"{captures} · {changed:,} of {len(known):,} changed"


def table(moments: Sequence[Moment], columns: int) -> Iterator[list[Span]]:
    """Its lines: when, how alike with a bar, and what else is known."""
    times = captured(moments)
    shares = ["–" if each.resemblance is None else compact_percent(each.resemblance) for each in moments]
    crawls = [shorten(one_line(each.card.crawl).strip(), CRAWL) for each in moments]
    when, share = max(map(width, ("captured", *times))), max(map(width, shares))
    scored = max(share + 1 + BAR, width("resemblance"))
    crawl = max(map(width, ("crawl", *crawls))) + len(GAP) if any(crawls) else 0
    room = columns - when - scored - crawl - 2 * len(GAP)
    titles = [shorten(one_line(each.card.title or "").strip(), room) if room >= ROOM else "" for each in moments]
    heads = [
        _left("captured", when),
        _left("resemblance", scored),
        *([_left("crawl", crawl - len(GAP))] if crawl else []),
    ]
    yield [(GAP.join([*heads, "title"] if any(titles) else heads).rstrip(), "bold")]
    for each, time, shown, name, title in zip(moments, times, shares, crawls, titles, strict=True):
        filled = bar(each.resemblance or 0.0, BAR)
        cells = [_left(time, when), _left(f"{' ' * (share - width(shown))}{shown} {filled}", scored)]
        line = GAP.join([*cells, _left(name, crawl - len(GAP))] if crawl else cells)
        yield [(f"{line}{GAP}", "plain"), (title, "dim")] if title else [(line.rstrip(), "plain")]


def captured(moments: Sequence[Moment]) -> list[str]:
    """Days; with the time of day, in UTC, where there are several of one."""
    times = [each.card.fetched_at for each in moments]
    days = ["unknown" if time is None else f"{time:%Y-%m-%d}" for time in times]
    if len(set(days)) == len(days):
        return days
    return ["unknown" if time is None else f"{time:%Y-%m-%d %H:%M:%S}" for time in times]


def show_rows(moments: Sequence[Moment]) -> None:
    """In full: what is read by a program is not shortened."""
    sys.stdout.write("fetched_at\tresemblance\tid\tcrawl\ttitle\n")
    for card, resemblance in moments:
        share = "" if resemblance is None else f"{resemblance:.6g}"
        crawl, title = one_line(card.crawl).strip(), one_line(card.title or "").strip()
        sys.stdout.write(f"{time_stamp(card) or ''}\t{share}\t{card.id}\t{crawl}\t{title}\n")


def _left(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))
