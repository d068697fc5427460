"""Refuses tables, such as a DataFrame of pandas, where they would be taken for the list of their columns' names."""

from __future__ import annotations

from opensearch_winnow.foundation.errors import QuestionError


def is_table(value: object) -> bool:
    """Return whether `value` is a table of pandas, polars or Arrow."""
    return hasattr(value, "columns")


def refuse_table(value: object, instead: str) -> None:
    """Raise an error if `value` is a table; `instead` says what to pass."""
    if is_table(value):
        raise QuestionError(f"a {type(value).__name__} is a table: pass {instead}")
