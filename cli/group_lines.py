"""What is like a hit, below it: how many pages, how alike, where; and the first few of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opensearch_winnow.answers.display_text import Span, width
from opensearch_winnow.answers.formatting import compact_percent, day, scored_percent
from opensearch_winnow.answers.search_words import is_below, is_known, more_like_this
from opensearch_winnow.cli.page_line import short_urls
from opensearch_winnow.queries.results import Folded, Member, Result

SHOWN = 3  # pages of a group, and pages of groups that came before
GAP = "  "
NARROWEST = 20  # columns for a URL


def group_lines(hit: Result, columns: int, threshold: float) -> Iterator[list[Span]]:
    yield [(f"▸ {more_like_this(hit, threshold)}", "plain")]
    yield from _listed(hit.members, columns, threshold)


def folded_lines(folded: Sequence[Folded], columns: int) -> Iterator[list[Span]]:
    """Pages that were found late, and are like a hit of an earlier page."""
    pages = "1 page is" if len(folded) == 1 else f"{len(folded):,} pages are"
    yield [(f"▸ {pages} like hits before these", "plain")]
    yield from _listed([each.member for each in folded], columns)


def _listed(members: Sequence[Member], columns: int, threshold: float = 0) -> Iterator[list[Span]]:
    """The resemblance, the date and the URL of the first few, in columns."""
    shown = members[:SHOWN]
    scores = [scored_percent(each.resemblance, each.kind, each.error) if is_known(each) else "–" for each in shown]
    below = [f"below {compact_percent(threshold)}" if is_below(each, threshold) else "" for each in shown]
    cells = [_column(scores, right=True), _column([day(each) for each in shown]), _column(below)]
    room = columns - sum(width(column[0]) for column in cells) - len(GAP)
    narrow = room < NARROWEST  # then a URL has a line of its own
    for each, *line in zip(shown, *cells, strict=True):
        (url,) = short_urls([each.url], columns - 2 * len(GAP) if narrow else room).shown
        if narrow:
            yield [(GAP + "".join(line).rstrip(), "dim")]
        yield [(GAP + (GAP if narrow else "".join(line)) + url, "dim")]
    if len(members) > SHOWN:
        yield [(f"{GAP}and {len(members) - SHOWN:,} more", "dim")]


def _column(texts: Sequence[str], *, right: bool = False) -> list[str]:
    """All in the width of the widest, with a gap behind them; nothing at all if none says anything."""
    columns = max(map(width, texts))
    padding = [" " * (columns - width(text)) for text in texts]
    padded = [space + text if right else text + space for text, space in zip(texts, padding, strict=True)]
    return [text + GAP for text in padded] if columns else list(texts)
