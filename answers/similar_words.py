"""What is similar to a page, in words."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.answers.page_document import SimilarDocument

NEAR = 0.5  # from which on a page that resembles another is called a near-duplicate of it


def similar_words(similar: SimilarDocument) -> str:
    """5 near-duplicates, 2 of them exact copies."""
    total, copies = similar["total"], len(similar["copies"])
    found = _found(similar)
    if not copies:
        return found
    if copies == total:
        return f"{found}, {'all' if total > 1 else 'an'} exact {'copies' if total > 1 else 'copy'}"
    # Copies come first: if the last one that is shown is one, there may be more.
    least = "at least " * (copies == len(similar["matches"]))
    return f"{found}, {least}{copies:,} of them {'exact copies' if copies > 1 else 'an exact copy'}"


def _found(similar: SimilarDocument) -> str:
    total, threshold = similar["total"], similar["threshold"]
    count, one = f"{total:,}" if total else "No", total < 2
    pages = f"{count} page{'s' * (not one)}"
    least = compact_percent(threshold)
    if not threshold:
        return f"{pages} {'shares' if one else 'share'} a passage with it"
    if similar["asked"] == "resemblance":
        if threshold >= NEAR:
            return f"{count} near-duplicate{'s' * (not one)}"
        return f"{pages} {'resembles' if one else 'resemble'} it by {least} or more"
    if similar["asked"] == "containment":
        return f"{pages} {'has' if one else 'have'} {_or_more(threshold)} of it"
    return f"{pages} {'has' if one else 'have'} {_or_more(threshold)} of {'its' if one else 'their'} text from it"


def _or_more(share: float) -> str:
    return "all" if share == 1 else f"{compact_percent(share)} or more"
