"""The history of a URL: its captures as JSON values, and a summary of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from opensearch_winnow.answers.formatting import count_of, time_stamp
from opensearch_winnow.operations.asking.history import HistoryEntry


class MomentDocument(TypedDict):
    """A capture. `resemblance` compares it with the one before; null for the first, or where a text is not stored."""

    id: str
    fetched_at: str | None
    crawl: str
    title: str | None
    resemblance: float | None


class HistoryDocument(TypedDict):
    """Captures in order of time; one without a time comes first. `earlier` says whether older ones were left out."""

    url: str
    earlier: bool
    captures: list[MomentDocument]


def history_document(url: str, entries: Sequence[HistoryEntry], *, limit: int) -> HistoryDocument:
    """Return the latest `limit` captures. Pass one more than that for `earlier` to be true."""
    return {
        "url": url,
        "earlier": len(entries) > limit,
        "captures": [
            {
                "id": card.id,
                "fetched_at": time_stamp(card),
                "crawl": card.crawl,
                "title": card.title,
                "resemblance": resemblance,
            }
            for card, resemblance in entries[-limit:]
        ],
    }


def history_summary(history: HistoryDocument) -> str:
    """Sum up a history: "4 captures from 2024-01-01 to 2024-06-01, 2 of them changed"."""
    captures = history["captures"]
    days = [each["fetched_at"][:10] for each in captures if each["fetched_at"]]
    when = ""
    if days:
        when = f" on {days[0]}" if days[0] == days[-1] else f" from {days[0]} to {days[-1]}"
    if len(captures) == 1 and not history["earlier"]:
        return f"1 capture{when or ' at an unknown time'}"
    latest = "the latest " * history["earlier"]
    resemblances = [each["resemblance"] for each in captures if each["resemblance"] is not None]
    if not resemblances:
        changes = "not compared, because no text is stored"
    elif changed := sum(resemblance < 1 for resemblance in resemblances):
        changes = f"{changed:,} of them changed"
    else:
        changes = "none of them changed"
    return f"{latest}{count_of(len(captures), 'capture')}{when}, {changes}"
