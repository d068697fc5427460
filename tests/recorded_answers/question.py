"""Defines a question, which is recorded under its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from opensearch_winnow import Filters, Index, WinnowError

MAX_SHOWN = 140  # characters of a parameter in the name of a question
NOTHING: Mapping[str, object] = {}


class Question(NamedTuple):
    name: str  # its kind, a colon, and its parameters
    ask: Callable[[Index], Any]
    is_slow: bool = False  # it takes more than a fifth of a second


def question(
    kind: str, answer: Callable[..., Any], about: Mapping[str, object] = NOTHING, **parameters: Any
) -> Question:
    """Make the question that `answer` answers for an index and these parameters. `about` is only part of its name."""
    shown = ", ".join(f"{name}={_written(value)}" for name, value in {**about, **parameters}.items())
    return Question(f"{kind}: {shown}", partial(_answer_or_error, answer, parameters))


def slow_question(
    kind: str, answer: Callable[..., Any], about: Mapping[str, object] = NOTHING, **parameters: Any
) -> Question:
    """Make a question that the quick tests leave out."""
    return question(kind, answer, about, **parameters)._replace(is_slow=True)


def _answer_or_error(answer: Callable[..., Any], parameters: dict[str, Any], index: Index) -> Any:
    try:
        return answer(index, **parameters)
    except WinnowError as error:
        return {"error": type(error).__name__}


def _written(value: Any) -> str:
    if isinstance(value, Filters):
        parts = {name: getattr(value, name) for name in ("site", "crawl", "since")}
        return " ".join(
            f"{name}:{part:%Y-%m-%d}" if isinstance(part, datetime) else f"{name}:{part}"
            for name, part in parts.items()
            if part is not None
        )
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}"
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… {len(text)} characters"
