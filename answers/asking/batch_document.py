"""JSON values and table rows of the answers to many questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opensearch_winnow.answers.asking.matches_document import matches_document
from opensearch_winnow.answers.asking.too_short import TOO_SHORT
from opensearch_winnow.answers.formatting import time_stamp
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.asking.matches import Matches

# The columns of a table, and their types.
ANSWER_COLUMNS: dict[str, type] = {
    "question": str,
    "rank": int,
    "url": str,
    "title": str,
    "fetched_at": str,
    "resemblance": float,
    "containment": float,
    "contained": float,
    "kind": str,
    "error": float,
    "passages": int,
    "relationship": str,
    "below_guarantee": bool,
    "too_short": bool,
    "reason": str,
}
NO_VALUES: dict[str, Any] = dict.fromkeys(ANSWER_COLUMNS)


def answer_document(question: str, answer: Matches | QuestionError) -> dict[str, Any]:
    """Return a question with its matches; one that could not be answered, or is too short, has a `reason` and none."""
    if isinstance(answer, QuestionError):
        return {"id": question, "reason": str(answer), "matches": []}
    return {"id": question, "reason": _no_match_reason(answer), **matches_document(answer)}


def answer_rows(question: str, answer: Matches | QuestionError) -> Iterator[dict[str, Any]]:
    """Yield a row for each match, ranked from 1; one row without a page, and perhaps a reason, if there is none."""
    if isinstance(answer, QuestionError):
        yield NO_VALUES | {"question": question, "reason": str(answer)}
        return
    common = NO_VALUES | {
        "question": question,
        "below_guarantee": answer.below_guarantee,
        "too_short": answer.too_short,
    }
    if not answer.matches:
        yield common | {"reason": _no_match_reason(answer)}
    for rank, match in enumerate(answer, 1):
        yield common | {
            "rank": rank,
            "url": match.url,
            "title": match.title,
            "fetched_at": time_stamp(match.card),
            "resemblance": match.resemblance,
            "containment": match.containment,
            "contained": match.contained,
            "kind": match.kind,
            "error": match.error,
            "passages": len(match.passages),
            "relationship": match.relationship and match.relationship.kind,
        }


def _no_match_reason(answer: Matches) -> str | None:
    return TOO_SHORT if answer.too_short and not answer.matches else None
