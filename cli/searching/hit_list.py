"""Search results as a list for a terminal, as tab-separated values, and in sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from opensearch_winnow.answers.display_text import Span, one_line, shorten, shorten_middle, width, wrap
from opensearch_winnow.answers.formatting import compact_percent, count_of, day, scored_percent, time_stamp
from opensearch_winnow.answers.searching.search_words import is_below, is_known, more_like_this, pages_in_groups
from opensearch_winnow.cli.short_urls import short_urls
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.queries.searching.results import FacetCount, Folded, Member, Result, SearchResults

MAX_SNIPPET_LINES = 3
MAX_SNIPPET_COLUMNS = 100  # longer lines are hard to read
MIN_COLUMNS = 20  # of titles and snippets, however narrow the terminal
MAX_FACET_VALUES = 10
MAX_FACET_VALUE_COLUMNS = 40
NO_BREAK_SPACE = "\u00a0"
MAX_MEMBERS = 3  # listed for a group, and for earlier groups
GAP = "  "
MIN_URL_COLUMNS = 20  # with fewer, a URL gets a line of its own


def show_list(screen: Terminal, results: SearchResults, *, first: int = 1) -> None:
    """Print the results, with hits numbered from `first`."""
    for number, block in enumerate(blocks(results, screen.columns, first)):
        if number:
            screen.echo()
        for line in block:
            screen.echo(screen.line(line))


def blocks(results: SearchResults, columns: int, first: int) -> Iterator[Iterable[list[Span]]]:
    """Yield blocks of lines: one for each hit, then the pages folded into earlier hits, then the facets."""
    digits = len(str(first + len(results.hits) - 1))
    for number, hit in enumerate(results.hits, first):
        yield lines(hit, number, columns, digits=digits, threshold=results.threshold or 0)
    if results.folded:
        yield folded_lines(results.folded, columns)
    if results.facets:
        yield facet_lines(results, columns)


def lines(hit: Result, number: int, columns: int, *, digits: int = 1, threshold: float = 0) -> Iterator[list[Span]]:
    """Yield the lines of a hit: its title, its URL and date, its snippet, and the rest of its group."""
    indent = " " * (digits + 2)
    room = max(columns - len(indent), MIN_COLUMNS)
    title = one_line(hit.card.title or "").strip() or "(no title)"
    yield [(f"{number:>{digits}}  ", "dim"), (shorten(title, room), "bold")]
    date = day(hit.card)
    dated = f" · {date}" if date else ""
    (url,) = short_urls([hit.card.url], room - len(dated)).shown
    yield [(indent + url + dated, "dim")]
    for line in wrap(highlighted(hit.snippet, hit.marks), min(room, MAX_SNIPPET_COLUMNS))[:MAX_SNIPPET_LINES]:
        yield [(indent, "plain"), *line]
    if hit.members:
        for line in group_lines(hit, room, threshold):
            yield [(indent, "plain"), *line]


def highlighted(text: str, marks: Sequence[tuple[int, int]]) -> list[Span]:
    """Return the text as spans, bold between the offsets of each mark and plain elsewhere."""
    spans: list[Span] = []
    end = 0
    for start, after in marks:
        spans += [(one_line(text[end:start]), "plain"), (one_line(text[start:after]), "bold")]
        end = after
    return [*spans, (one_line(text[end:]), "plain")]


def facet_lines(results: SearchResults, columns: int) -> Iterator[list[Span]]:
    """Yield lines such as `site  example.org 12 (9 groups) · example.net 3 (1 group)`."""
    indent = max(map(len, results.facets)) + 2
    for name, counts in results.facets.items():
        cells = [_facet_count(each, results) for each in counts[:MAX_FACET_VALUES]]
        if len(counts) > MAX_FACET_VALUES:
            cells.append(f"and {len(counts) - MAX_FACET_VALUES:,} more")
        values = " ".join(f"{each} ·".replace(" ", NO_BREAK_SPACE) for each in cells).removesuffix(f"{NO_BREAK_SPACE}·")
        for number, line in enumerate(wrap([(values or "none", "plain")], columns - indent)):
            label = "" if number else name
            yield [(label.ljust(indent), "bold"), *((text.replace(NO_BREAK_SPACE, " "), style) for text, style in line)]


def _facet_count(each: FacetCount, results: SearchResults) -> str:
    value = shorten_middle(one_line(each.value).strip(), MAX_FACET_VALUE_COLUMNS) or "unknown"
    if results.by is None or each.groups is None:
        return f"{value} {each.pages:,}"
    # Groups are counted among the examined pages only: a lower bound. Engines count clusters approximately.
    what, about = ("group", "≥ ") if results.by == "signature" else ("cluster", "≈ ")
    if results.groups is not None:
        about = ""
    return f"{value} {each.pages:,} ({about}{count_of(each.groups, what)})"


def show_rows(hits: Sequence[Result]) -> None:
    """Print tab-separated values for programs, with nothing shortened. `members` counts the other pages of a group."""
    sys.stdout.write("score\tmembers\tfetched_at\turl\ttitle\tsnippet\n")
    for hit in hits:
        page = f"{time_stamp(hit.card) or ''}\t{one_line(hit.card.url)}\t{one_line(hit.card.title or '').strip()}"
        sys.stdout.write(f"{hit.score:.6g}\t{len(hit.members)}\t{page}\t{one_line(hit.snippet).strip()}\n")


def total_with_hint(results: SearchResults) -> str:
    """Return the number of pages and groups; if groups are estimated, with the option that counts them exactly."""
    exact = results.by is None or results.groups is not None
    return pages_in_groups(results) + ("" if exact else f" (--examine {results.total} for all)")


def hits_range(results: SearchResults, page: int, limit: int) -> str:
    """Return which hits this page shows, and the option for the next page; empty if it shows all."""
    start = (page - 1) * limit
    end = start + len(results.hits)
    highest = results.total if results.by is None else results.at_most
    if not start and end >= highest:
        return ""
    lowest = results.total if results.by is None else results.at_least
    more = "has the next" if end < lowest else "may have more"
    following = f" (--page {page + 1} {more})" if end < highest and results.cursor is None else ""
    return f"showing {start + 1:,} to {end:,}{following}"


def empty_page(results: SearchResults, page: int, limit: int) -> str:
    """Return why this page of a search has no hits, although the search has some."""
    total = f"There {'is' if results.total == 1 else 'are'} {total_with_hint(results)}"
    hits = results.total if results.by is None else results.groups
    if hits is None:  # the search paused: every page it examined for this list belongs to an earlier group
        further = f", and --page {page + 1} looks further" if results.cursor is None else ""
        return f"{total}: nothing new so far{further}"
    return f"{total}, and --page {-(-hits // limit)} is the last"


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
