"""What a question may be asked with: each parameter reads its value, and says of itself what a caller needs to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from opensearch_winnow.answers.time_period import EXAMPLES, TimePeriod
from opensearch_winnow.foundation.errors import WinnowError


class ParameterError(WinnowError):
    """A question that cannot be understood: all that is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """`read` makes its value of what was given, or raises a ValueError that says what it has to be."""

    name: str
    about: str
    default: Any = None
    read: Callable[[str], Any]
    schema: dict[str, Any] = field(default_factory=dict)
    required: bool = False


def words(name: str, about: str, *, most: int, required: bool = False) -> Parameter:
    def read(given: str) -> str:
        if len(given) > most:
            raise ValueError(f"has at most {most:,} characters, not {len(given):,}")
        return given

    schema = {"type": "string", "maxLength": most}
    return Parameter(name=name, about=about, default="", read=read, schema=schema, required=required)


def number(name: str, about: str, *, default: int | None, least: int, most: int) -> Parameter:
    def read(given: str) -> int:
        if not (given.isascii() and given.isdigit() and len(given) < 12 and least <= int(given) <= most):
            raise ValueError(f"is a whole number from {least:,} to {most:,}, not {given[:40]!r}")
        return int(given)

    schema: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most}
    if default is not None:
        schema["default"] = default
    return Parameter(name=name, about=about, default=default, read=read, schema=schema)


def percentage(name: str, about: str, *, default: int | None, least: int = 1) -> Parameter:
    """Given in whole per cents, read as a share."""
    whole = number(name, about, default=default, least=least, most=100)
    return Parameter(
        name=name,
        about=f"{about}, in per cent",
        default=None if default is None else default / 100,
        read=lambda given: whole.read(given) / 100,
        schema=whole.schema,
    )


def choice(name: str, about: str, *choices: str) -> Parameter:
    """The first is taken where none is given."""

    def read(given: str) -> str:
        if given not in choices:
            raise ValueError(f"is one of {', '.join(choices)}, not {given[:40]!r}")
        return given

    schema = {"type": "string", "enum": list(choices), "default": choices[0]}
    return Parameter(name=name, about=about, default=choices[0], read=read, schema=schema)


def period(name: str, about: str) -> Parameter:
    def read(given: str) -> TimePeriod:
        try:
            return TimePeriod.of(given.strip())
        except (ValueError, OverflowError):
            raise ValueError(f"is a date such as {EXAMPLES}, not {given[:40]!r}") from None

    return Parameter(name=name, about=f"{about}: {EXAMPLES}", read=read, schema={"type": "string"})
