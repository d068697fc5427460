"""Parameters of a request: each one parses its value and describes itself for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.option_kinds import number
from opensearch_winnow.foundation.options import Option, Options
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.filters import Filters


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
    counts_if_given: bool = False  # True if giving the default value differs from giving none


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


def of_options(
    cls: type[Options],
    *names: str,
    defaults: Mapping[str, Any] = MappingProxyType({}),
    at_most: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Parameter, ...]:
    """Make parameters of the options of a class with these `names`; without any, of all.

    `defaults` override the defaults of the class; `at_most` are smaller maxima.
    """
    known = {each.name: each for each in cls.options()}
    return tuple(_of_option(known[name], defaults, at_most) for name in names or known)


def _of_option(option: Option, defaults: Mapping[str, Any], at_most: Mapping[str, int]) -> Parameter:
    kind, default = option.kind, defaults.get(option.name, option.default)
    unset = "" if option.name in defaults else option.unset
    if option.name in at_most:
        kind = number(kind.schema["minimum"], at_most[option.name])
    written = {True: "on", False: "off"}[default] if option.is_flag else default
    is_off = option.is_flag and option.default  # its help describes "off"
    description = f"off: {option.help[0].lower()}{option.help[1:]}" if is_off else option.help
    return Parameter(
        name=option.name,
        description=f"{description} Default: {unset}." if unset else description,
        default=default,
        parse=kind.parsed,
        schema={**kind.schema} if default is None else {**kind.schema, "default": written},
        counts_if_given=bool(unset),
    )


FILTER_PARAMETERS = (*of_options(Filters), *of_options(SimilarOptions, "all_captures"))
FILTER_NAMES = tuple(each.name for each in FILTER_PARAMETERS)
