"""What a search found, in words; and where nothing was, why, and what would find something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opensearch_winnow.cli.filter_options import chosen
from opensearch_winnow.index import Index
from opensearch_winnow.queries.results import SearchResults
from opensearch_winnow.queries.words import Term, Words

LEFT_OUT = 8  # parts of what was typed; more are not tried one by one


def pages_in_groups(results: SearchResults) -> str:
    """Exact, or with bounds and what they rest on."""
    pages = _pages(results.total)
    if results.by is None:
        return pages
    if results.groups is not None:
        repeats = results.total - results.groups
        folded = f" · {repeats:,} repeat{'s' * (repeats != 1)} folded" if repeats else ""
        return f"{pages} in {results.groups:,} group{'s' * (results.groups != 1)}{folded}"
    bounds = f"{results.at_least:,} to {results.at_most:,}"
    groups = f"{bounds} groups" if results.about is None else f"about {results.about:,} groups ({bounds})"
    examined = f"{_pages(results.examined)} {'was' if results.examined == 1 else 'were'} examined"
    return f"{pages} in {groups}; {examined} (--examine {results.total} for all)"


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
    found = f"There {'is' if results.total == 1 else 'are'} {pages_in_groups(results)}"
    hits = results.total if results.by is None else results.groups
    if hits is None:  # so many pages are like hits before that the search has paused
        further = f", and --page {page + 1} looks further" if results.cursor is None else ""
        return f"{found}: nothing new so far{further}"
    return f"{found}, and --page {-(-hits // limit)} is the last"


def why_nothing(index: Index, typed: str, question: dict[str, Any]) -> str:
    """Never a silent zero: what stands in the way, and how many pages there are without it."""

    def pages(wanted: Sequence[Sequence[Term]]) -> int:
        return index.search(as_typed(wanted), **question | {"any_word": False, "limit": 1}).total

    if not index.store.count():
        return f"No page found: {index.name} has none yet; winnow index SOURCE --store {index.name} puts them there"
    options = chosen(question["where"])
    if options:
        anywhere = index.search(typed, any_word=question["any_word"], limit=1).total
        if anywhere:
            return f"No page has these words with {options}; without, {anywhere:,} {'has' if anywhere == 1 else 'have'}"
    words = Words.of(typed, any_word=question["any_word"])
    if words.unwanted:
        count = pages(words.wanted)
        if count:
            return f"No page has these words without {' '.join(map(_typed, words.unwanted))}; {count:,} with it"
    if len(words.wanted) == 1:
        (terms,) = words.wanted
        missing = _typed(terms[0]) if len(terms) == 1 else "any of these words"
        return f"No page of {index.name} has {missing}"
    tried = words.wanted[:LEFT_OUT]
    fewer = {part: pages([each for each in words.wanted if each is not part]) for part in tried}
    part = max(fewer, key=lambda each: fewer[each])
    count = fewer[part]
    if not count:
        return f"No page of {index.name} has all these words, nor all but one of them"
    return f"No page has all these words; without {as_typed([part])} there {'is' if count == 1 else 'are'} {count:,}"


def as_typed(wanted: Sequence[Sequence[Term]]) -> str:
    """What makes the same of it when it is typed."""
    return " ".join(" OR ".join(map(_typed, alternatives)) for alternatives in wanted)


def _typed(term: Term) -> str:
    """In quotes where it would be read as something else."""
    if term.prefix:
        return f"{term.text}*"
    return term.text if term.text != "OR" and Words.of(term.text).wanted == ((term,),) else f'"{term.text}"'


def _pages(count: int) -> str:
    return f"{count:,} page{'s' * (count != 1)}"
