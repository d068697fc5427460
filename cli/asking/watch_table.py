"""Watches and their new matches, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opensearch_winnow.answers.display_text import Span, one_line, shorten, shorten_middle, width
from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.cli.asking.match_table import table
from opensearch_winnow.cli.asking.watch_log import shortened
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined, percent_column
from opensearch_winnow.operations.asking.watches import Watch, WatchList, WatchReport

MIN_TEXT_COLUMNS = 20  # for the URL or text that is watched


def watch_condition(watch: Watch) -> str:
    """Return what a page must contain, for example `≥ 30 % of the text`."""
    least = f"≥ {compact_percent(watch.min_containment)} of" if watch.min_containment else "a passage of"
    return f"{least} {watch.url or 'the text'}"


def watch_lines(watches: WatchList, columns: int, *, full: bool) -> Iterator[list[Span]]:
    """Yield the lines of the table of watches."""
    if not watches:
        return
    head, cells = joined(
        [
            TextColumn("name", [shortened(each.name) for each in watches]),
            TextColumn("added", [f"{each.at:%Y-%m-%d}" for each in watches]),
            percent_column("threshold", [each.min_containment for each in watches]),
        ]
    )
    room = max(columns - width(head) - len(GAP), MIN_TEXT_COLUMNS)
    yield [(f"{head}{GAP}page or text", "bold")]
    for each, cell in zip(watches, cells, strict=True):
        if each.url is None:
            yield [(cell + GAP, "plain"), (shorten(one_line((each.text or "")[: 4 * room]).strip(), room), "dim")]
        else:
            url = one_line(each.url).strip()
            yield [(cell + GAP + (url if full else shorten_middle(url, room)), "plain")]


def new_lines(reports: Sequence[WatchReport], columns: int, *, full: bool) -> Iterator[list[Span]]:
    """Yield a heading and a table for each watch that has new matches."""
    for number, report in enumerate(each for each in reports if each.new):
        assert report.found is not None
        if number:
            yield []
        pages = f"{len(report.new):,} new of {report.total:,} page{'s' * (report.total != 1)}"
        name, words = one_line(report.watch.name).strip(), one_line(watch_condition(report.watch))
        yield [(f"{name}: {pages} with {words}", "bold")]
        yield from table(replace(report.found, matches=report.new_matches), columns, full=full)
