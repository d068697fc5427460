"""Sentences about the matches of a question: how many pages are similar to it, and in what way."""

from __future__ import annotations

from opensearch_winnow.answers.asking.page_answer import PageMatches
from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.asking.matches import Matches

NEAR_DUPLICATE = 0.5  # resemblance from which a page is called a near-duplicate


def matches_summary(matches: Matches) -> str:
    """Say how many pages match: "2 pages contain at least 30 % of it", "No page shares a passage with it"."""
    total, least = matches.total, f"at least {100 * matches.min_score:g} %"
    if not matches.min_score:
        return f"{_count(total, 'page shares', 'pages share')} a passage with it"
    is_all = matches.min_score == 1
    if matches.score == "resemblance":
        return f"{_count(total, 'page', 'pages')} with a resemblance of {'100 %' if is_all else least}"
    if matches.score == "containment":
        return f"{_count(total, 'page contains', 'pages contain')} {'all' if is_all else least} of it"
    return f"{_count(total, 'page is', 'pages are')} {'entirely' if is_all else least} contained in it"


def unscored_sentence(matches: Matches) -> str:
    """Say that the time ran out, without a full stop; empty if every candidate was scored."""
    if not matches.unscored:
        return ""
    return (
        f"The time was up after {duration(matches.seconds)}: {matches.unscored:,} of"
        f" {count_of(matches.candidates, 'candidate')} were not compared, so there may be more matches"
    )


def uncompared_sentence(matches: Matches) -> str:
    """Say that some pages that share a passage were not compared, without a full stop; empty if all were."""
    if not matches.uncompared:
        return ""
    compared = matches.candidates - matches.unscored - matches.uncompared
    return f"Compared the {compared:,} captures that share the most; {matches.uncompared:,} others share a passage, too"


def below_guarantee_sentence(scheme: Scheme) -> str:
    """Say that a question is too short for every copy to be found, without a full stop."""
    unit = "tokens" if scheme.form == "code" else "letters and digits"
    return f"Shorter than {scheme.guarantee:,} {unit}, so pages that have it, or some of it, may be missed"


def similar_summary(similar: PageMatches) -> str:
    """Say what is similar to a page: "5 near-duplicates, 2 of them exact copies"."""
    found, copies = similar.found, len(similar.copies)
    if found.score == "resemblance" and found.min_score >= NEAR_DUPLICATE:
        pages = _count(found.total, "near-duplicate", "near-duplicates")
    else:
        pages = matches_summary(found)
    if not copies:
        return pages
    if copies == found.total:
        return f"{pages}, {'all exact copies' if copies > 1 else 'an exact copy'}"
    # Copies come first: if every listed match is one, there may be more.
    least = "at least " * (copies == len(found))
    return f"{pages}, {least}{copies:,} of them {'exact copies' if copies > 1 else 'an exact copy'}"


def _count(total: int, singular: str, plural: str) -> str:
    return count_of(total, singular, plural) if total else f"No {singular}"
