"""Sentences about the results of a search: the number of pages and groups, and of pages like a hit."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import compact_percent, count_of, percent_range
from opensearch_winnow.queries.searching.results import Member, Result, SearchResults


def pages_in_groups(results: SearchResults) -> str:
    """Say how many pages and groups were found: exactly, or with bounds and how many pages were examined."""
    pages = count_of(results.total, "page")
    if results.by is None:
        return pages
    if results.groups is not None:
        repeats = results.total - results.groups
        folded = f" · {count_of(repeats, 'repeat')} folded" if repeats else ""
        return f"{pages} in {count_of(results.groups, 'group')}{folded}"
    bounds = f"{results.at_least:,} to {results.at_most:,}"
    groups = f"{bounds} groups" if results.about is None else f"about {results.about:,} groups ({bounds})"
    return f"{pages} in {groups}; {count_of(results.examined, 'page was', 'pages were')} examined"


def more_like_this(hit: Result, min_resemblance: float) -> str:
    """Say how many pages are grouped with a hit, and how alike they are.

    Members of the hit's cluster may resemble it less than `min_resemblance`; the sentence counts them, too.
    """
    known = [member for member in hit.members if is_known(member)]
    details = []
    if known:
        resemblances = [member.resemblance for member in known]
        about = "≈ " * any(member.kind == "estimate" for member in known)
        details.append(about + percent_range(min(resemblances), max(resemblances)))
    if below := sum(is_below(member, min_resemblance) for member in known):
        details.append(f"{below:,} below {compact_percent(min_resemblance)}")
    if len(known) < len(hit.members):
        details.append(f"{len(hit.members) - len(known):,} too short to tell")
    return f"{len(hit.members):,} more like this ({', '.join(details)}){_on_sites(hit)}"


def is_known(member: Member) -> bool:
    """Return whether the resemblance of a member is known: an error of 1 means it has no signature and no text."""
    return member.error < 1


def is_below(member: Member, min_resemblance: float) -> bool:
    return is_known(member) and member.resemblance < min_resemblance


def _on_sites(hit: Result) -> str:
    sites = {member.site for member in hit.members} - {""}
    if sites == {hit.card.site}:
        return " on the same site"
    return f" on {count_of(len(sites), 'site')}" if sites else ""
