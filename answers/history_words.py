"""The history of a URL, in words."""

from __future__ import annotations

from opensearch_winnow.answers.history_document import HistoryDocument
from opensearch_winnow.answers.search_words import count_of


def history_words(history: HistoryDocument) -> str:
    """4 captures from 2024-01-01 to 2024-06-01, 2 of them changed."""
    captures = history["captures"]
    days = [each["fetched_at"][:10] for each in captures if each["fetched_at"]]
    when = ""
    if days:
        when = f" on {days[0]}" if days[0] == days[-1] else f" from {days[0]} to {days[-1]}"
    if len(captures) == 1 and not history["earlier"]:
        return f"1 capture{when or ' at an unknown time'}"
    shares = [each["resemblance"] for each in captures if each["resemblance"] is not None]
    changed = sum(share < 1 for share in shares)
    said = f"{changed:,} of them changed" if changed else "none of them changed"
    unknown = "" if shares else ", and no text is stored to compare them by"
    latest = "the latest " * history["earlier"]
    return f"{latest}{count_of(len(captures), 'capture')}{when}{unknown or f', {said}'}"
