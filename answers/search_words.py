"""What a search found, in words."""

from __future__ import annotations

from opensearch_winnow.queries.results import SearchResults


def pages_in_groups(results: SearchResults) -> str:
    """Exact, or with bounds and what they rest on."""
    pages = count_of(results.total, "page")
    if results.by is None:
        return pages
    if results.groups is not None:
        repeats = results.total - results.groups
        folded = f" · {count_of(repeats, 'repeat')} folded" if repeats else ""
        return f"{pages} in {count_of(results.groups, 'group')}{folded}"
    bounds = f"{results.at_least:,} to {results.at_most:,}"
    groups = f"{bounds} groups" if results.about is None else f"about {results.about:,} groups ({bounds})"
    examined = f"{count_of(results.examined, 'page')} {'was' if results.examined == 1 else 'were'} examined"
    return f"{pages} in {groups}; {examined}"


def count_of(number: int, what: str, many: str | None = None) -> str:
    """1 page, 2 pages; 1 copy, 2 copies."""
    return f"{number:,} {what if number == 1 else many or f'{what}s'}"
