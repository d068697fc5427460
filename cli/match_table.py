"""Matches as a table with bars, as tab-separated values, and as JSON values."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from opensearch_winnow.answers.display_text import Span, one_line, shorten, shorten_middle, width
from opensearch_winnow.answers.formatting import compact_percent, day, scored_percent, time_stamp
from opensearch_winnow.cli.bars import bar
from opensearch_winnow.cli.page_line import ShortUrls, short_urls
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.queries.matches import Match, Matches, Score

# A is the question and B the page, as they are for `winnow compare`, which is the next thing to look at.
HEADS: dict[Score, str] = {"resemblance": "resemblance", "containment": "A in B", "contained": "B in A"}
BAR = 10
GAP = "  "
ROOM = 20  # columns; a title in fewer says nothing
ENOUGH = 40  # columns for a URL without its middle


def score(match: Match, name: Score) -> float:
    return {"resemblance": match.resemblance, "containment": match.containment, "contained": match.contained}[name]


def show_table(screen: Terminal, matches: Matches, *, full: bool = False) -> None:
    """`full` shortens no URL."""
    for line in table(matches, screen.columns, full=full):
        screen.echo(screen.line(line))


def table(matches: Matches, columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Its lines: the score that was asked for with a bar, the two others, and the page."""
    others = [name for name in HEADS if name != matches.score]
    numbers = [
        [_asked(match, matches.score), *(_other(match, name) for name in others), _passages(match), day(match.card)]
        for match in matches
    ]
    heads = [HEADS[matches.score], *(HEADS[name] for name in others), "passages", "date"]
    for empty, column in (("", len(heads) - 1), ("–", len(heads) - 2)):
        if all(row[column] == empty for row in numbers):
            del heads[column]
            numbers = [row[:column] + row[column + 1 :] for row in numbers]
    widths = [max(map(width, column)) for column in zip(*(["", *heads[1:]], *numbers), strict=True)]
    first = max(widths[0] + 1 + BAR, width(heads[0]))
    room = columns - first - sum(widths[1:]) - len(GAP) * len(widths)
    if full:
        urls = ShortUrls([one_line(match.url).strip() for match in matches])
    else:
        urls = short_urls([match.url for match in matches], max(room, ROOM))
    # A URL that would be cut to a few letters has a line of its own.
    below = room < ROOM or (urls.cut and room < ENOUGH)
    if below:
        urls = urls if full else short_urls([match.url for match in matches], columns - len(GAP))
    url_columns = 0 if below else max(map(width, urls.shown), default=0) + len(GAP)
    titles = _titles(matches, room - url_columns)
    headings = [heads[0].ljust(first), *map(_right, heads[1:], widths[1:]), _page_head(urls.folder, room)]
    yield [(GAP.join(headings).rstrip(), "bold")]
    for match, row, url, title in zip(matches, numbers, urls.shown, titles, strict=True):
        filled = bar(score(match, matches.score), BAR)
        cells = [f"{_right(row[0], first - 1 - BAR)} {filled}", *map(_right, row[1:], widths[1:])]
        line = GAP.join(cells) + GAP
        if not below:
            line += url + " " * (url_columns - width(url) if title else 0)
        yield [(line, "plain"), (title, "dim")] if title else [(line.rstrip(), "plain")]
        if below:
            yield [(GAP + url, "plain")]


def show_rows(matches: Matches) -> None:
    """In full: what is read by a program is not shortened."""
    sys.stdout.write("resemblance\tcontainment\tcontained\tkind\terror\tpassages\tfetched_at\turl\ttitle\n")
    for match in matches:
        scores = "\t".join(f"{each:.6g}" for each in (match.resemblance, match.containment, match.contained))
        found = f"{match.kind}\t{match.error:.6g}\t{len(match.passages)}"
        page = f"{time_stamp(match.card) or ''}\t{one_line(match.url)}\t{one_line(match.card.title or '').strip()}"
        sys.stdout.write(f"{scores}\t{found}\t{page}\n")


def _asked(match: Match, name: Score) -> str:
    return scored_percent(score(match, name), match.kind, match.error)


def _other(match: Match, name: Score) -> str:
    return "≈ " * (match.kind == "estimate") + compact_percent(score(match, name))


def _passages(match: Match) -> str:
    if match.kind == "estimate" and not match.passages:
        return "–"  # not looked for
    return f"{len(match.passages):,}"


def _page_head(folder: str, columns: int) -> str:
    if columns < ROOM:
        return ""
    return shorten_middle(f"page (B), … is {folder}", columns) if folder else "page (B)"


def _titles(matches: Matches, room: int) -> Sequence[str]:
    if room < ROOM:
        return [""] * len(matches)
    return [shorten(one_line(match.card.title or "").strip(), room) for match in matches]


def _right(text: str, columns: int) -> str:
    return " " * (columns - width(text)) + text
