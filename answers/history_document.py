"""The captures of a URL, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from opensearch_winnow.answers.capture_time import time_stamp
from opensearch_winnow.operations.history import Moment


class MomentDocument(TypedDict):
    """A capture. `resemblance` is that to the one before it: null for the first, or where a text is not stored."""

    id: str
    fetched_at: str | None
    crawl: str
    title: str | None
    resemblance: float | None


class HistoryDocument(TypedDict):
    """The captures in the order of time, one without a time first; `earlier` says whether there are more before."""

    url: str
    earlier: bool
    captures: list[MomentDocument]


def history_document(url: str, moments: Sequence[Moment], *, limit: int) -> HistoryDocument:
    """Of the latest so many. Who has asked for one more knows whether there are earlier ones."""
    return {
        "url": url,
        "earlier": len(moments) > limit,
        "captures": [
            {
                "id": card.id,
                "fetched_at": time_stamp(card),
                "crawl": card.crawl,
                "title": card.title,
                "resemblance": resemblance,
            }
            for card, resemblance in moments[-limit:]
        ],
    }
