"""Watches and their new matches, as tables and as tab-separated values."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from opensearch_winnow.answers.asking.watches import watch_document
from opensearch_winnow.answers.display_text import one_line, shorten, shorten_middle, width
from opensearch_winnow.answers.formatting import compact_percent, time_stamp
from opensearch_winnow.cli.asking.match_table import table
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.operations.asking.watches import Watch, WatchReport
from opensearch_winnow.queries.asking.matches import Match

MAX_NAME_COLUMNS = 30
MIN_TEXT_COLUMNS = 20  # for the URL or text that is watched


def watch_condition(watch: Watch) -> str:
    """Return what a page must contain, for example `≥ 30 % of the text`."""
    share = f"≥ {compact_percent(watch.min_containment)} of" if watch.min_containment else "a passage of"
    return f"{share} {watch.url or 'the text'}"


def new_matches(report: WatchReport) -> list[Match]:
    return [match for match in report.matches if match.card.id in report.new]


def show_watch_table(screen: Terminal, watches: Sequence[Watch]) -> None:
    names = [shorten_middle(one_line(each.name).strip(), MAX_NAME_COLUMNS) for each in watches]
    shares = [compact_percent(each.min_containment) for each in watches]
    name, share = max(map(width, ("name", *names))), max(map(width, ("threshold", *shares)))
    room = max(screen.columns - name - share - len("2024-01-01") - 6, MIN_TEXT_COLUMNS)
    screen.echo(
        screen.paint(f"{_left('name', name)}  {_left('added', 10)}  {_left('threshold', share)}  page or text", "bold")
    )
    for each, name_cell, share_cell in zip(watches, names, shares, strict=True):
        if each.url is not None:
            watched = shorten_middle(one_line(each.url).strip(), room)
        else:
            watched = screen.paint(shorten(one_line((each.text or "")[: 4 * room]).strip(), room), "dim")
        screen.echo(
            f"{_left(name_cell, name)}  {each.at:%Y-%m-%d}  {' ' * (share - width(share_cell))}{share_cell}  {watched}"
        )


def show_watch_rows(watches: Sequence[Watch]) -> None:
    sys.stdout.write("name\tat\tmin_containment\turl\ttext\n")
    for each in watches:
        url, text = one_line(each.url or ""), one_line(each.text or "").strip()
        sys.stdout.write(
            f"{one_line(each.name)}\t{watch_document(each)['at']}\t{each.min_containment:.6g}\t{url}\t{text}\n"
        )


def show_new_tables(screen: Terminal, reports: Sequence[WatchReport]) -> None:
    """Print a heading and a table for each watch that has new matches."""
    first = True
    for report in reports:
        new = new_matches(report)
        if not new:
            continue
        if not first:
            screen.echo()
        first = False
        pages = f"{len(new):,} new of {report.matches.total:,} page{'s' * (report.matches.total != 1)}"
        name, words = one_line(report.watch.name).strip(), one_line(watch_condition(report.watch))
        screen.echo(screen.paint(f"{name}: {pages} with {words}", "bold"))
        for line in table(replace(report.matches, matches=new), screen.columns):
            screen.echo(screen.line(line))


def show_new_rows(reports: Sequence[WatchReport]) -> None:
    """Print tab-separated values for programs, with nothing shortened."""
    sys.stdout.write("watch\tcontainment\tresemblance\tcontained\tid\tfetched_at\turl\ttitle\n")
    for report in reports:
        for match in new_matches(report):
            scores = "\t".join(f"{each:.6g}" for each in (match.containment, match.resemblance, match.contained))
            page = f"{one_line(match.url)}\t{one_line(match.card.title or '').strip()}"
            sys.stdout.write(
                f"{one_line(report.watch.name)}\t{scores}\t{match.card.id}\t{time_stamp(match.card) or ''}\t{page}\n"
            )


def _left(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))
