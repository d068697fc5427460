"""The answers to many questions: one object for each question, and the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from opensearch_winnow.answers.asking.too_short import TOO_SHORT
from opensearch_winnow.foundation.answer_keys import to_json_object
from opensearch_winnow.foundation.answers import Answer, answer, inlined, key
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.asking.matches import Match, Matches


@answer
class BatchRow(Answer):
    """A match of a question of a batch; a question without one has a row without a page."""

    question: str = key("The id of the question.")
    rank: int | None = key("The rank of the match, from 1 for the best.")
    match: Match | None = inlined()
    below_guarantee: bool | None = key(
        "True if the question is so short that a page with it, or with some of it, may be missed."
    )
    too_short: bool | None = key("True if the question is too short to be checked for copies.")
    reason: str | None = key("The reason why the question has no answer or is too short; null if it has a match.")


@answer
class AnsweredQuestion(Answer):
    """A question of a batch, and its answer."""

    name: str = key("The id of the question.", name="id")
    reason: str | None = key("The reason why it has no answer or is too short; null if it has a match.")
    matches: Matches | None = inlined()

    @classmethod
    def of(cls, name: str, answer: Matches | QuestionError) -> Self:
        """Return a question with its matches, or with the error that it raised."""
        if isinstance(answer, QuestionError):
            return cls(name, str(answer), None)
        return cls(name, TOO_SHORT if answer.too_short and not answer else None, answer)

    def to_dict(self) -> dict[str, Any]:
        if self.matches is None:
            return {"id": self.name, "reason": self.reason, "matches": []}
        return to_json_object(self)

    def rows(self) -> Iterator[BatchRow]:
        """Yield a row for each match; one row without a page, and perhaps a reason, if there is none."""
        found = self.matches
        below, short = (None, None) if found is None else (found.below_guarantee, found.too_short)
        if not found:
            yield BatchRow(self.name, None, None, below, short, self.reason)
        for rank, match in enumerate(found or (), 1):
            yield BatchRow(self.name, rank, match, below, short, None)
