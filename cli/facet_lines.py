"""The facets of a search: how many pages, and groups, have each value."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle, wrap
from opensearch_winnow.queries.results import FacetCount, SearchResults

VALUES = 10  # of a facet that are shown
LONGEST = 40  # columns of a value
TOGETHER = "\u00a0"  # a space at which no line is broken


def facet_lines(results: SearchResults, columns: int) -> Iterator[list[Span]]:
    """`site  example.org 12 (9 groups) · example.net 3 (1 group)`"""
    indent = max(map(len, results.facets)) + 2
    for name, counts in results.facets.items():
        shown = [_count(each, results) for each in counts[:VALUES]]
        if len(counts) > VALUES:
            shown.append(f"and {len(counts) - VALUES:,} more")
        values = " ".join(f"{each} ·".replace(" ", TOGETHER) for each in shown).removesuffix(f"{TOGETHER}·")
        for number, line in enumerate(wrap([(values or "none", "plain")], columns - indent)):
            label = "" if number else name
            yield [(label.ljust(indent), "bold"), *((text.replace(TOGETHER, " "), style) for text, style in line)]


def _count(each: FacetCount, results: SearchResults) -> str:
    value = shorten_middle(one_line(each.value).strip(), LONGEST) or "unknown"
    if results.by is None:
        return f"{value} {each.pages:,}"
    # Among the pages that were examined; or all clusters, which an engine counts only nearly.
    what, about = ("group", "≥ ") if results.by == "signature" else ("cluster", "≈ ")
    if results.groups is not None:
        about = ""
    return f"{value} {each.pages:,} ({about}{each.groups:,} {what}{'s' * (each.groups != 1)})"
