"""Options that are declared once, as the fields of a dataclass.

A field has the default of its option, what the option means, which values it takes, and how it is written. The options
of commands, the parameters of addresses, and the checks are made from that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, Self, TypeVar

from opensearch_winnow.foundation.errors import QuestionError, WinnowError
from opensearch_winnow.foundation.option_kinds import FLAG, Kind

OPTION, GROUP = "option", "group"  # what the metadata of a field have
T = TypeVar("T")
Part = TypeVar("Part", bound="Options")

_known: dict[type, tuple[Option, ...]] = {}  # the options of each class, without those of its groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option, as its field declares it."""

    name: str
    default: Any
    kind: Kind[Any]
    help: str  # a sentence, in which the metavar of its kind stands for its value
    flag: str  # on the command line; one that is on by default is turned off there
    unset: str  # what applies without it, if the default does not say it
    variable: str  # of the environment, which may have its value for a command

    @property
    def is_flag(self) -> bool:
        return self.kind is FLAG


def option(
    default: T,
    kind: Kind[Any],
    help: str,  # noqa: A002 (as in click)
    *,
    flag: str = "",
    unset: str = "",
    variable: str = "",
) -> T:
    """Declare an option, as the default of a field."""
    declared = {"kind": kind, "help": help, "flag": flag, "unset": unset, "variable": variable}
    return field(default=default, metadata={OPTION: declared})


def group(cls: type[T]) -> T:
    """Declare options that are the fields of another dataclass."""
    return field(default=cls(), metadata={GROUP: cls})


def option_of(cls: type[Options], name: str) -> Any:
    """Declare an option as another class does."""
    (declared,) = (each for each in fields(cls) if each.name == name)
    return field(default=declared.default, metadata=declared.metadata)


class Options:
    """Base class of frozen dataclasses whose fields are options. A value that is not allowed raises `error`."""

    __slots__ = ()
    error: ClassVar[type[WinnowError]] = QuestionError
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        for each in own_options(type(self)):
            value = getattr(self, each.name)
            if value is not None and not _allows(each.kind, value):
                raise self.error(f"{each.name} is {each.kind.what}, not {value!r}")

    @classmethod
    def options(cls) -> Iterator[Option]:
        """Yield all options, those of groups among them, in the order of the fields."""
        own = {each.name: each for each in own_options(cls)}
        for each in fields(cls):
            if each.name in own:
                yield own[each.name]
            elif (grouped := each.metadata.get(GROUP)) is not None:
                yield from grouped.options()

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Make an object of the values of options by their names, those of groups among them, and take these out."""
        given = {}
        for each in fields(cls):
            if (grouped := each.metadata.get(GROUP)) is not None:
                given[each.name] = grouped.of(values)
            elif OPTION in each.metadata and each.name in values:
                given[each.name] = values.pop(each.name)
        return cls(**given)

    def keywords(self) -> dict[str, Any]:
        """Return the values of all fields by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def extended(self, cls: type[T], **others: Any) -> T:
        """Return an object of a subclass with these values, and others."""
        return cls(**self.keywords(), **others)

    def part(self, cls: type[Part]) -> Part:
        """Return an object of a class whose fields this one has, too."""
        return cls(**{each.name: getattr(self, each.name) for each in fields(cls)})


def own_options(cls: type[Options]) -> tuple[Option, ...]:
    """Return the options of a class, without those of its groups."""
    if cls not in _known:
        _known[cls] = tuple(_option(each, **each.metadata[OPTION]) for each in fields(cls) if OPTION in each.metadata)
    return _known[cls]


def _option(declared: Field[Any], *, kind: Kind[Any], flag: str, **others: str) -> Option:
    is_off = kind is FLAG and declared.default is True
    flag = flag or f"--{'no-' * is_off}{declared.name.replace('_', '-')}"
    return Option(name=declared.name, default=declared.default, kind=kind, flag=flag, **others)


def _allows(kind: Kind[Any], value: Any) -> bool:
    try:
        return kind.allows(value)
    except TypeError:  # a value of another type
        return False
