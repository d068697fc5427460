"""Parameters of a request: each one parses its value and describes itself for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.time_period import EXAMPLES, TimePeriod


class ParameterError(WinnowError):
    """A request with missing, unknown or invalid parameters; the message lists all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A query parameter. `parse` returns its value, or raises a ValueError that says what is allowed."""

    name: str
    description: str
    default: Any = None
    parse: Callable[[str], Any]
    schema: dict[str, Any] = field(default_factory=dict)
    required: bool = False
    counts_if_given: bool = False  # giving the default value is not the same as giving none


def string(name: str, description: str, *, max_chars: int, required: bool = False) -> Parameter:
    def parse(text: str) -> str:
        if len(text) > max_chars:
            raise ValueError(f"has at most {max_chars:,} characters, not {len(text):,}")
        return text

    schema = {"type": "string", "maxLength": max_chars}
    return Parameter(name=name, description=description, default="", parse=parse, schema=schema, required=required)


def integer(name: str, description: str, *, default: int | None, minimum: int, maximum: int) -> Parameter:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 12 and minimum <= int(text) <= maximum):
            raise ValueError(f"is a whole number from {minimum:,} to {maximum:,}, not {text[:40]!r}")
        return int(text)

    schema: dict[str, Any] = {"type": "integer", "minimum": minimum, "maximum": maximum}
    if default is not None:
        schema["default"] = default
    return Parameter(name=name, description=description, default=default, parse=parse, schema=schema)


def percentage(
    name: str, description: str, *, default: int | None, minimum: int = 1, counts_if_given: bool = False
) -> Parameter:
    """Make a parameter that is given in whole per cent and parsed to a share from 0 to 1."""
    whole = integer(name, description, default=default, minimum=minimum, maximum=100)
    return Parameter(
        name=name,
        description=f"{description}, in per cent",
        default=None if default is None else default / 100,
        parse=lambda text: whole.parse(text) / 100,
        schema=whole.schema,
        counts_if_given=counts_if_given,
    )


def choice(name: str, description: str, *choices: str) -> Parameter:
    """Make a parameter with these `choices`, the first of which is the default."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"is one of {', '.join(choices)}, not {text[:40]!r}")
        return text

    schema = {"type": "string", "enum": list(choices), "default": choices[0]}
    return Parameter(name=name, description=description, default=choices[0], parse=parse, schema=schema)


def period(name: str, description: str) -> Parameter:
    def parse(text: str) -> TimePeriod:
        try:
            return TimePeriod.of(text.strip())
        except (ValueError, OverflowError):
            raise ValueError(f"is a date such as {EXAMPLES}, not {text[:40]!r}") from None

    return Parameter(name=name, description=f"{description}: {EXAMPLES}", parse=parse, schema={"type": "string"})


FILTER_PARAMETERS = (
    string("site", "only pages of this site", max_chars=300),
    string("crawl", "only pages of this crawl", max_chars=300),
    period("since", "only captures from the start of this date on"),
    period("until", "only captures up to the end of this date"),
    choice("captures", "only the latest capture of each URL, or all of them", "latest", "all"),
)
FILTER_NAMES = tuple(each.name for each in FILTER_PARAMETERS)
