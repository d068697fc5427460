"""Sentences about the matches of a question: how many pages are similar to it, and in what way."""

from __future__ import annotations

from opensearch_winnow.answers.asking.page_document import SimilarDocument
from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.scores import Score

NEAR_DUPLICATE = 0.5  # resemblance from which a page is called a near-duplicate


def matches_summary(total: int, score: Score, threshold: float) -> str:
    """Say how many pages match: "2 pages contain at least 30 % of it", "No page shares a passage with it"."""
    least = f"at least {100 * threshold:g} %"
    if not threshold:
        return f"{_count(total, 'page shares', 'pages share')} a passage with it"
    if score == "resemblance":
        return f"{_count(total, 'page', 'pages')} with a resemblance of {'100 %' if threshold == 1 else least}"
    if score == "containment":
        return f"{_count(total, 'page contains', 'pages contain')} {'all' if threshold == 1 else least} of it"
    return f"{_count(total, 'page is', 'pages are')} {'entirely' if threshold == 1 else least} contained in it"


def unscored_sentence(matches: Matches) -> str:
    """Say that the time was up, without a full stop; empty if every candidate was scored."""
    if not matches.unscored:
        return ""
    return (
        f"The time was up after {duration(matches.seconds)}: {matches.unscored:,} of"
        f" {count_of(matches.candidates, 'candidate')} were not compared, so there may be more matches"
    )


def uncompared_sentence(matches: Matches) -> str:
    """Say that not every page that shares a passage was compared, without a full stop; empty if every one was."""
    if not matches.uncompared:
        return ""
    compared = matches.candidates - matches.unscored - matches.uncompared
    return f"Compared the {compared:,} captures that share the most; {matches.uncompared:,} others share a passage, too"


def below_guarantee_sentence(scheme: Scheme) -> str:
    """Say that a question is too short for every copy to be found, without a full stop."""
    unit = "tokens" if scheme.form == "code" else "letters and digits"
    return f"Shorter than {scheme.guarantee:,} {unit}, so pages that have it, or some of it, may be missed"


def similar_summary(similar: SimilarDocument) -> str:
    """Say what is similar to a page: "5 near-duplicates, 2 of them exact copies"."""
    total, copies = similar["total"], len(similar["copies"])
    if similar["asked"] == "resemblance" and similar["threshold"] >= NEAR_DUPLICATE:
        pages = _count(total, "near-duplicate", "near-duplicates")
    else:
        pages = matches_summary(total, similar["asked"], similar["threshold"])
    if not copies:
        return pages
    if copies == total:
        return f"{pages}, {'all exact copies' if total > 1 else 'an exact copy'}"
    # Copies come first: if every listed match is one, there may be more.
    least = "at least " * (copies == len(similar["matches"]))
    return f"{pages}, {least}{copies:,} of them {'exact copies' if copies > 1 else 'an exact copy'}"


def _count(total: int, singular: str, plural: str) -> str:
    return count_of(total, singular, plural) if total else f"No {singular}"
