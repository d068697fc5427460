"""The kinds of values that options take: each one parses what people write, checks what programs give, and says so."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from opensearch_winnow.foundation.time_period import EXAMPLES, TimePeriod

UNITS = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000}

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[T]):
    """A kind of values."""

    what: str  # a value in words, such as "a share from 0 to 1"
    metavar: str  # stands for a value in a sentence
    parse: Callable[[str], T]  # raises ValueError if a text is not a value
    allows: Callable[[Any], bool] = lambda _value: True  # checks a value that a program gives
    schema: Mapping[str, Any] = field(default_factory=dict)  # in JSON Schema
    choices: tuple[str, ...] = ()  # all values, if they are few
    is_path: bool = False
    written: Callable[[T], str] | None = None  # writes a value as people do, if programs do not
    join: Callable[[Sequence[T]], T] | None = None  # combines the values of a repeated option

    def parsed(self, written: str) -> T:
        """Return the value of a text. The message of a ValueError follows the name of an option: "is a share, …"."""
        with suppress(ValueError, OverflowError, KeyError):
            value = self.parse(written)
            if self.allows(value):
                return value
        raise ValueError(f"is {self.what}, not {written[:40]!r}")


def share(*, above_0: bool = False) -> Kind[float]:
    """Make a kind of numbers from 0 to 1, which people may also write in per cent."""
    return Kind(
        what="a share above 0 and at most 1" if above_0 else "a share from 0 to 1",
        metavar="X",
        parse=_share,
        allows=lambda value: 0 <= value <= 1 and (value > 0 or not above_0),
        schema={"type": "number", "exclusiveMinimum" if above_0 else "minimum": 0, "maximum": 1},
    )


def number(least: int, most: int, metavar: str = "N") -> Kind[int]:
    """Make a kind of whole numbers."""
    return Kind(
        what=f"a whole number from {least:,} to {most:,}",
        metavar=metavar,
        parse=_whole,
        allows=lambda value: isinstance(value, int) and least <= value <= most,
        schema={"type": "integer", "minimum": least, "maximum": most},
    )


def decimal(least: float, most: float, metavar: str = "N", *, above_least: bool = False) -> Kind[float]:
    """Make a kind of numbers that need not be whole."""
    return Kind(
        what=f"a number {f'above {least:,.12g} and at most' if above_least else f'from {least:,.12g} to'} {most:,.12g}",
        metavar=metavar,
        parse=_finite,
        allows=lambda value: least <= value <= most and (value > least or not above_least),
        schema={"type": "number", "exclusiveMinimum" if above_least else "minimum": least, "maximum": most},
    )


def one_of(*choices: str) -> Kind[Any]:
    """Make a kind of a few words."""
    return Kind(
        what=f"one of {', '.join(choices)}",
        metavar=f"[{'|'.join(choices)}]",
        parse=str,
        allows=lambda value: value in choices,
        schema={"type": "string", "enum": list(choices)},
        choices=choices,
    )


def several(*choices: str) -> Kind[tuple[Any, ...]]:
    """Make a kind of lists of a few words, which are separated by commas."""
    return Kind(
        what=f"a list of {', '.join(choices)}, separated by commas",
        metavar="NAMES",
        parse=lambda written: tuple(dict.fromkeys(name.strip() for name in written.split(","))),
        allows=lambda value: set(value) <= set(choices),
        schema={"type": "string"},
        choices=choices,
    )


def text(metavar: str, max_chars: int = 300) -> Kind[str]:
    """Make a kind of any text that is not too long."""
    return Kind(
        what=f"a text of at most {max_chars:,} characters",
        metavar=metavar,
        parse=str,
        allows=lambda value: len(value) <= max_chars,
        schema={"type": "string", "maxLength": max_chars},
    )


def path(metavar: str, of: Literal["file", "folder", "file or folder"] = "file or folder") -> Kind[str]:
    """Make a kind of names of files or folders, which need not be there."""

    def allows(value: Any) -> bool:
        if not isinstance(value, str | os.PathLike):
            return False
        named = Path(value)
        return not (of == "file" and named.is_dir()) and not (of == "folder" and named.is_file())

    return Kind(
        what=f"the name of a {of}",
        metavar=metavar,
        parse=str,
        allows=allows,
        schema={"type": "string"},
        is_path=True,
    )


def repeated(kind: Kind[Any]) -> Kind[Any]:
    """Make a kind of sequences of values of this kind."""
    return replace(kind, parse=kind.parsed, allows=lambda _values: True, join=tuple)


def named_values(example: str) -> Kind[Mapping[str, str]]:
    """Make a kind of values by name, which are written NAME=VALUE, such as `example`."""
    return Kind(
        what=f"NAME=VALUE, such as {example}",
        metavar="NAME=VALUE",
        parse=_named_value,
        allows=lambda value: isinstance(value, Mapping),
        schema={"type": "string"},
        join=lambda given: {name: value for each in given for name, value in each.items()},
    )


def _share(written: str) -> float:
    value = float(written.rstrip("% ")) / 100 if written.rstrip().endswith("%") else float(written)
    if not math.isfinite(value):
        raise ValueError
    return value


def _named_value(written: str) -> dict[str, str]:
    name, equals, value = written.partition("=")
    if not (name and equals):
        raise ValueError
    return {name: value}


def _whole(written: str) -> int:
    if not (written.isascii() and written.isdigit() and len(written) < 12):
        raise ValueError
    return int(written)


def _bytes(written: str) -> int:
    number = written.rstrip("bB")
    unit = UNITS.get(number[-1:].lower(), 1)
    return int(float(number if unit == 1 else number[:-1]) * unit)


def _written_bytes(size: int) -> str:
    return next(
        (f"{size // unit}{name.upper()}" for name, unit in reversed(UNITS.items()) if size % unit == 0), str(size)
    )


def _finite(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError
    return value


def _date(moment: Callable[[TimePeriod], datetime]) -> Kind[datetime]:
    return Kind(
        what=f"a date such as {EXAMPLES}",
        metavar="DATE",
        parse=lambda written: moment(TimePeriod.of(written.strip())),
        schema={"type": "string"},
    )


FLAG: Kind[bool] = Kind(
    what="on or off",
    metavar="",
    parse=lambda written: {"on": True, "off": False}[written],
    schema={"type": "string", "enum": ["on", "off"]},
    choices=("on", "off"),
)
SECONDS: Kind[float] = Kind(
    what="a number of seconds",
    metavar="S",
    parse=_finite,
    allows=lambda value: value >= 0,
    schema={"type": "number", "minimum": 0},
)
SIZE: Kind[int] = Kind(
    what="a size such as 500k, 10M or 1G",
    metavar="SIZE",
    parse=_bytes,
    allows=lambda value: isinstance(value, int) and value >= 1,
    schema={"type": "integer", "minimum": 1},
    written=_written_bytes,
)
SITE: Kind[str] = Kind(
    what="a host", metavar="HOST", parse=lambda written: written.strip().lower(), schema={"type": "string"}
)
START_OF_DATE = _date(lambda period: period.start)
END_OF_DATE = _date(lambda period: period.end)  # the first moment after it
LAST_OF_DATE = _date(lambda period: period.last)
