"""Figures: the rows of an answer that is not a list. Each has a part of the answer, a name and a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from opensearch_winnow.foundation.answer_keys import columns_of
from opensearch_winnow.foundation.answers import Answer, answer, key


def _written(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:.6g}" if type(value) is float else str(value)


@answer
class Figure(Answer):
    """A figure of an answer."""

    part: str = key("The part of the answer that it belongs to.")
    name: str = key("Its name in this part.")
    value: str | float = key("Its value.", column=_written)


def figures_of(part: str, value: Any, *names: str) -> Iterator[Figure]:
    """Yield the known figures of an answer: its keys that are cells, or only those in `names`."""
    own: Any = type(value)
    for each in columns_of(own):
        if (not names or each.name in names) and (cell := each.cell(value)) is not None:
            yield Figure(part, each.name, cell)


def counted(part: str, counts: Mapping[Any, int]) -> Iterator[Figure]:
    """Yield a figure for each of `counts`, which are by name."""
    return (Figure(part, f"{name}", count) for name, count in counts.items())
