"""The near-duplicates listed below a hit: how many, how similar, on which sites, and the first few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opensearch_winnow.answers.display_text import Span, width
from opensearch_winnow.answers.formatting import compact_percent, day, scored_percent
from opensearch_winnow.answers.search_words import is_below, is_known, more_like_this
from opensearch_winnow.cli.short_urls import short_urls
from opensearch_winnow.queries.results import Folded, Member, Result

MAX_MEMBERS = 3  # listed for a group, and for earlier groups
GAP = "  "
MIN_URL_COLUMNS = 20  # with fewer, a URL gets a line of its own


def group_lines(hit: Result, columns: int, threshold: float) -> Iterator[list[Span]]:
    """Yield lines about the members of a hit's group; a cluster's members may be below `threshold`."""
    yield [(f"▸ {more_like_this(hit, threshold)}", "plain")]
    yield from _member_lines(hit.members, columns, threshold)


def folded_lines(folded: Sequence[Folded], columns: int) -> Iterator[list[Span]]:
    """Yield lines about pages that belong to groups of earlier result pages, but were examined only now."""
    pages = "1 page is" if len(folded) == 1 else f"{len(folded):,} pages are"
    yield [(f"▸ {pages} like hits before these", "plain")]
    yield from _member_lines([each.member for each in folded], columns)


def _member_lines(members: Sequence[Member], columns: int, threshold: float = 0) -> Iterator[list[Span]]:
    """Yield the resemblance, date and URL of the first few members, in columns."""
    first = members[:MAX_MEMBERS]
    scores = [scored_percent(each.resemblance, each.kind, each.error) if is_known(each) else "–" for each in first]
    below = [f"below {compact_percent(threshold)}" if is_below(each, threshold) else "" for each in first]
    cells = [_column(scores, right=True), _column([day(each) for each in first]), _column(below)]
    room = columns - sum(width(column[0]) for column in cells) - len(GAP)
    narrow = room < MIN_URL_COLUMNS
    for each, *line in zip(first, *cells, strict=True):
        (url,) = short_urls([each.url], columns - 2 * len(GAP) if narrow else room).shown
        if narrow:
            yield [(GAP + "".join(line).rstrip(), "dim")]
        yield [(GAP + (GAP if narrow else "".join(line)) + url, "dim")]
    if len(members) > MAX_MEMBERS:
        yield [(f"{GAP}and {len(members) - MAX_MEMBERS:,} more", "dim")]


def _column(texts: Sequence[str], *, right: bool = False) -> list[str]:
    """Pad the texts to the width of the widest, plus a gap; return them unchanged if all are empty."""
    columns = max(map(width, texts))
    padding = [" " * (columns - width(text)) for text in texts]
    padded = [space + text if right else text + space for text, space in zip(texts, padding, strict=True)]
    return [text + GAP for text in padded] if columns else list(texts)
