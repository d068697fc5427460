"""The hits of a search as a list with snippets, as tab-separated values, and as JSON values."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.cli.display_width import Span, shorten, wrap
from opensearch_winnow.cli.marked_words import marked_words
from opensearch_winnow.cli.page_line import day, short_urls, time_stamp
from opensearch_winnow.cli.printable import one_line
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.store import Hit

LINES = 3  # of a snippet
WIDEST = 100  # columns of a snippet: longer lines are hard to read
NARROWEST = 20


def show_list(screen: Terminal, hits: Sequence[Hit], words: Words, *, first: int = 1) -> None:
    for number, hit in enumerate(hits, first):
        if number > first:
            screen.echo()
        for line in lines(hit, words, number, screen.columns, digits=len(str(first + len(hits) - 1))):
            screen.echo(screen.line(line))


def lines(hit: Hit, words: Words, number: int, columns: int, *, digits: int = 1) -> Iterator[list[Span]]:
    """The title, the URL and date below it, and what the page says around the words."""
    indent = " " * (digits + 2)
    room = max(columns - len(indent), NARROWEST)
    title = one_line(hit.card.title or "").strip() or "(no title)"
    yield [(f"{number:>{digits}}  ", "dim"), (shorten(title, room), "bold")]
    date = day(hit.card)
    dated = f" · {date}" if date else ""
    (url,) = short_urls([hit.card.url], room - len(dated)).shown
    yield [(indent + url + dated, "dim")]
    snippet = marked_words(one_line(hit.snippet).strip(), words.wanted)
    wrapped = wrap(snippet, min(room, WIDEST))
    for line in wrapped[:LINES]:
        yield [(indent, "plain"), *line]


def show_rows(hits: Sequence[Hit]) -> None:
    sys.stdout.write("score\tfetched_at\turl\ttitle\tsnippet\n")
    for hit in hits:
        page = f"{time_stamp(hit.card) or ''}\t{one_line(hit.card.url)}\t{one_line(hit.card.title or '').strip()}"
        sys.stdout.write(f"{hit.score:.6g}\t{page}\t{one_line(hit.snippet).strip()}\n")


def as_object(total: int, groups: int | None, hits: Sequence[Hit], seconds: float) -> dict[str, Any]:
    return {
        "total": total,
        "groups": groups,
        "seconds": round(seconds, 6),
        "hits": [
            {
                "id": hit.card.id,
                "url": hit.card.url,
                "title": hit.card.title,
                "site": hit.card.site,
                "fetched_at": time_stamp(hit.card),
                "score": hit.score,
                "snippet": hit.snippet,
                "cluster": hit.card.cluster,
                "members": [hit.card.url],
            }
            for hit in hits
        ],
    }
