"""The hits of a search as a list with what is like them, as tab-separated values, and as JSON values."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from opensearch_winnow.answers.display_text import Span, one_line, shorten, wrap
from opensearch_winnow.answers.formatting import day, time_stamp
from opensearch_winnow.cli.facet_lines import facet_lines
from opensearch_winnow.cli.group_lines import folded_lines, group_lines
from opensearch_winnow.cli.page_line import short_urls
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.queries.results import Result, SearchResults

LINES = 3  # of a snippet
WIDEST = 100  # columns of a snippet: longer lines are hard to read
NARROWEST = 20


def show_list(screen: Terminal, results: SearchResults, *, first: int = 1) -> None:
    for number, block in enumerate(blocks(results, screen.columns, first)):
        if number:
            screen.echo()
        for line in block:
            screen.echo(screen.line(line))


def blocks(results: SearchResults, columns: int, first: int) -> Iterator[Iterable[list[Span]]]:
    """The hits, then what is like hits before them, then the facets."""
    digits = len(str(first + len(results.hits) - 1))
    for number, hit in enumerate(results.hits, first):
        yield lines(hit, number, columns, digits=digits, threshold=results.threshold or 0)
    if results.folded:
        yield folded_lines(results.folded, columns)
    if results.facets:
        yield facet_lines(results, columns)


def lines(hit: Result, number: int, columns: int, *, digits: int = 1, threshold: float = 0) -> Iterator[list[Span]]:
    """The title, the URL and date below it, what the page says around the words, and what else is like it."""
    indent = " " * (digits + 2)
    room = max(columns - len(indent), NARROWEST)
    title = one_line(hit.card.title or "").strip() or "(no title)"
    yield [(f"{number:>{digits}}  ", "dim"), (shorten(title, room), "bold")]
    date = day(hit.card)
    dated = f" · {date}" if date else ""
    (url,) = short_urls([hit.card.url], room - len(dated)).shown
    yield [(indent + url + dated, "dim")]
    for line in wrap(marked(hit.snippet, hit.marks), min(room, WIDEST))[:LINES]:
        yield [(indent, "plain"), *line]
    if hit.members:
        for line in group_lines(hit, room, threshold):
            yield [(indent, "plain"), *line]


def marked(text: str, marks: Sequence[tuple[int, int]]) -> list[Span]:
    """The text as plain and bold spans."""
    spans: list[Span] = []
    end = 0
    for start, after in marks:
        spans += [(one_line(text[end:start]), "plain"), (one_line(text[start:after]), "bold")]
        end = after
    return [*spans, (one_line(text[end:]), "plain")]


def show_rows(hits: Sequence[Result]) -> None:
    """In full, as programs read it. `members` is how many pages the group has, with the hit."""
    sys.stdout.write("score\tmembers\tfetched_at\turl\ttitle\tsnippet\n")
    for hit in hits:
        page = f"{time_stamp(hit.card) or ''}\t{one_line(hit.card.url)}\t{one_line(hit.card.title or '').strip()}"
        sys.stdout.write(f"{hit.score:.6g}\t{1 + len(hit.members)}\t{page}\t{one_line(hit.snippet).strip()}\n")
