"""What is similar, as JSON values."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.answers.capture_time import time_stamp
from opensearch_winnow.queries.matches import Matches


def matches_document(matches: Matches) -> dict[str, Any]:
    return {
        "total": matches.total,
        "asked": matches.asked,
        "threshold": matches.threshold,
        "candidates": matches.candidates,
        "ignored": matches.ignored,
        "seconds": round(matches.seconds, 6),
        "matches": [
            {
                "id": match.card.id,
                "url": match.url,
                "title": match.card.title,
                "site": match.card.site,
                "fetched_at": time_stamp(match.card),
                "resemblance": match.resemblance,
                "containment": match.containment,
                "contained": match.contained,
                "kind": match.kind,
                "error": match.error,
                "passages": [passage._asdict() for passage in match.passages],
                "boilerplate": [passage._asdict() for passage in match.boilerplate],
            }
            for match in matches
        ],
    }
