"""Search results as a list for a terminal, and in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opensearch_winnow.answers.display_text import Span, one_line, shorten, shorten_middle, width, wrap
from opensearch_winnow.answers.formatting import compact_percent, count_of, day, scored_percent
from opensearch_winnow.answers.searching.search_words import is_below, is_known, more_like_this, pages_in_groups
from opensearch_winnow.cli.short_urls import short_urls
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined
from opensearch_winnow.queries.searching.results import FacetCount, Folded, Member, Result, SearchResults

MAX_SNIPPET_LINES = 3
MAX_SNIPPET_COLUMNS = 100  # longer lines are hard to read
MIN_COLUMNS = 20  # of titles and snippets, however narrow the terminal
MAX_FACET_VALUES = 10
MAX_FACET_VALUE_COLUMNS = 40
NO_BREAK_SPACE = "\u00a0"
MAX_MEMBERS = 3  # listed for a group, and for earlier groups
MIN_URL_COLUMNS = 20  # with fewer, a URL gets a line of its own


def result_lines(results: SearchResults, columns: int, *, first: int = 1, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of results, with an empty one between blocks. Hits are numbered from `first`."""
    for number, block in enumerate(blocks(results, columns, first, full=full)):
        if number:
            yield []
        yield from block


def blocks(results: SearchResults, columns: int, first: int, *, full: bool = False) -> Iterator[Iterable[list[Span]]]:
    """Yield blocks of lines: one for each hit, then the pages folded into earlier hits, then the facets."""
    digits, least = len(str(first + len(results) - 1)), results.min_resemblance or 0
    for number, hit in enumerate(results, first):
        yield lines(hit, f"{number:>{digits}}  ", columns, least, full=full)
    if results.folded:
        yield folded_lines(results.folded, columns, full=full)
    if results.facets:
        yield facet_lines(results, columns)


def lines(hit: Result, number: str, columns: int, min_resemblance: float, *, full: bool) -> Iterator[list[Span]]:
    """Yield the lines of a hit: its title, its URL and date, its snippet, and the rest of its group."""
    indent = " " * len(number)
    room = max(columns - len(indent), MIN_COLUMNS)
    title = one_line(hit.title or "").strip() or "(no title)"
    yield [(number, "dim"), (shorten(title, room), "bold")]
    date = day(hit.card)
    dated = f" · {date}" if date else ""
    yield [(indent + _url(hit.url, room - len(dated), full=full) + dated, "dim")]
    for line in wrap(highlighted(hit.snippet, hit.marks), min(room, MAX_SNIPPET_COLUMNS))[:MAX_SNIPPET_LINES]:
        yield [(indent, "plain"), *line]
    if hit.members:
        yield [(f"{indent}▸ {more_like_this(hit, min_resemblance)}", "plain")]
        for line in _member_lines(hit.members, room, min_resemblance, full=full):
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


def total_with_hint(results: SearchResults) -> str:
    """Return the number of pages and groups; if groups are estimated, with the option that counts them exactly."""
    exact = results.by is None or results.groups is not None
    return pages_in_groups(results) + ("" if exact else f" (--examine {results.total} for all)")


def hits_range(results: SearchResults, page: int, limit: int) -> str:
    """Say which hits this page shows, with the option for the next page; empty if it shows all."""
    start = (page - 1) * limit
    end = start + len(results)
    highest = results.total if results.by is None else results.at_most
    if not start and end >= highest:
        return ""
    lowest = results.total if results.by is None else results.at_least
    more = "has the next" if end < lowest else "may have more"
    following = f" (--page {page + 1} {more})" if end < highest and results.cursor is None else ""
    return f"showing {start + 1:,} to {end:,}{following}"


def empty_page(results: SearchResults, page: int, limit: int) -> str:
    """Explain why this page of a search has no hits, although the search has some."""
    total = f"There {'is' if results.total == 1 else 'are'} {total_with_hint(results)}"
    hits = results.total if results.by is None else results.groups
    if hits is None:  # the search paused: every page it examined for this list belongs to an earlier group
        further = f", and --page {page + 1} looks further" if results.cursor is None else ""
        return f"{total}: nothing new so far{further}"
    return f"{total}, and --page {-(-hits // limit)} is the last"


def folded_lines(folded: Sequence[Folded], columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Yield lines about pages that belong to groups of earlier result pages, but were examined only now."""
    yield [(f"▸ {count_of(len(folded), 'page is', 'pages are')} like hits before these", "plain")]
    yield from _member_lines([each.member for each in folded], columns, full=full)


def _member_lines(
    members: Sequence[Member], columns: int, min_resemblance: float = 0, *, full: bool
) -> Iterator[list[Span]]:
    """Yield the resemblance, date and URL of the first few members, in columns.

    Members of a cluster may resemble the hit by less than `min_resemblance`.
    """
    first = members[:MAX_MEMBERS]
    scores = [scored_percent(each.resemblance, each.kind, each.error) if is_known(each) else "–" for each in first]
    below = [f"below {compact_percent(min_resemblance)}" * is_below(each, min_resemblance) for each in first]
    parts = [TextColumn("", scores, right=True), TextColumn("", [day(each) for each in first]), TextColumn("", below)]
    _, cells = joined([each for each in parts if each.columns])
    room = columns - width(cells[0]) - 2 * len(GAP)
    for each, cell in zip(first, cells, strict=True):
        if room < MIN_URL_COLUMNS:
            yield [(GAP + cell.rstrip(), "dim")]
            yield [(GAP + GAP + _url(each.url, columns - 2 * len(GAP), full=full), "dim")]
        else:
            yield [(GAP + cell + GAP + _url(each.url, room, full=full), "dim")]
    if len(members) > MAX_MEMBERS:
        yield [(f"{GAP}and {len(members) - MAX_MEMBERS:,} more", "dim")]


def _url(url: str, columns: int, *, full: bool) -> str:
    return one_line(url).strip() if full else short_urls([url], columns).shown[0]
