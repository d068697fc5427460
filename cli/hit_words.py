"""What a search found, in words, with the options that show more of it."""

from __future__ import annotations

from opensearch_winnow.answers.search_words import pages_in_groups
from opensearch_winnow.queries.results import SearchResults


def all_in_groups(results: SearchResults) -> str:
    """With the option that makes bounds exact."""
    exact = results.by is None or results.groups is not None
    return pages_in_groups(results) + ("" if exact else f" (--examine {results.total} for all)")


def which_are_shown(results: SearchResults, page: int, limit: int) -> str:
    """Empty if these are all."""
    start = (page - 1) * limit
    end = start + len(results.hits)
    most = results.total if results.by is None else results.at_most
    if not start and end >= most:
        return ""
    least = results.total if results.by is None else results.at_least
    more = "has the next" if end < least else "may have more"
    following = f" (--page {page + 1} {more})" if end < most and results.cursor is None else ""
    return f"showing {start + 1:,} to {end:,}{following}"


def past_the_end(results: SearchResults, page: int, limit: int) -> str:
    """Of a page of results that has nothing on it, though there are some."""
    found = f"There {'is' if results.total == 1 else 'are'} {all_in_groups(results)}"
    hits = results.total if results.by is None else results.groups
    if hits is None:  # so many pages are like hits before that the search has paused
        further = f", and --page {page + 1} looks further" if results.cursor is None else ""
        return f"{found}: nothing new so far{further}"
    return f"{found}, and --page {-(-hits // limit)} is the last"
