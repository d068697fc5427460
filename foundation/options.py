"""Options that are declared once, as the fields of a dataclass.

A field has the default of its option, what the option means, which values it takes, and how it is written. The options
of commands, the parameters of addresses, and the checks are made from that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, Self, TypeVar

from opensearch_winnow.foundation.errors import QuestionError, WinnowError
from opensearch_winnow.foundation.option_kinds import FLAG, Kind

OPTION, GROUP = "option", "group"  # in the metadata of a field
T = TypeVar("T")
Part = TypeVar("Part", bound="Options")

_known: dict[type, tuple[Option, ...]] = {}  # the options of each class, without those of its groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option, as its field declares it."""

    name: str
    attribute: str  # the name of the field, which may differ from `name`
    default: Any
    kind: Kind[Any]
    help: str  # a sentence, in which the metavar of its kind stands for its value
    flag: str  # on the command line; one that is on by default is turned off there
    unset: str  # the value that applies without it, if the default does not show it
    advanced: bool  # few people need it: it is left out of a short help
    variable: str  # of the environment, from which a command may take the value
    required: bool  # for a command

    @property
    def is_flag(self) -> bool:
        return self.kind is FLAG


def option(
    default: T,
    kind: Kind[Any],
    help: str,  # noqa: A002 (as in click)
    *,
    name: str = "",
    flag: str = "",
    unset: str = "",
    variable: str = "",
    required: bool = False,
    advanced: bool = False,
) -> T:
    """Declare an option, as the default of a field. It has the name of the field, or `name`."""
    declared = {
        "kind": kind,
        "help": help,
        "name": name,
        "flag": flag,
        "unset": unset,
        "variable": variable,
        "required": required,
        "advanced": advanced,
    }
    return field(default=default, metadata={OPTION: declared})


def group(cls: type[T]) -> T:
    """Declare options that are the fields of another dataclass."""
    return field(default=cls(), metadata={GROUP: cls})


def option_of(cls: type[Options], name: str, default: Any = MISSING) -> Any:
    """Declare the option `name` as `cls` does, perhaps with another default."""
    (declared,) = (each for each in fields(cls) if each.name == name)
    return field(default=declared.default if default is MISSING else default, metadata=declared.metadata)


class Options:
    """Base class of frozen dataclasses whose fields are options. A value that is not allowed raises `error`."""

    __slots__ = ()
    error: ClassVar[type[WinnowError]] = QuestionError
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        for each in own_options(type(self)):
            value = getattr(self, each.attribute)
            if value is not None and not _allows(each.kind, value):
                raise self.error(f"{each.attribute} is {each.kind.what}, not {value!r}")

    @classmethod
    def options(cls) -> Iterator[Option]:
        """Yield all options, including those of groups, in the order of the fields."""
        own = {each.attribute: each for each in own_options(cls)}
        for each in fields(cls):
            if each.name in own:
                yield own[each.name]
            elif (grouped := each.metadata.get(GROUP)) is not None:
                yield from grouped.options()

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Make an object of the `values` of its options, and remove these from `values`. Groups are included."""
        given = {each.attribute: values.pop(each.name) for each in own_options(cls) if each.name in values}
        for each in fields(cls):
            if (grouped := each.metadata.get(GROUP)) is not None:
                given[each.name] = grouped.of(values)
        return cls(**given)

    def keywords(self) -> dict[str, Any]:
        """Return the values of all fields by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def extended(self, cls: type[T], **others: Any) -> T:
        """Return an object of a subclass with the values of this one and `others`."""
        return cls(**self.keywords(), **others)

    def part(self, cls: type[Part]) -> Part:
        """Return an object of another class, all of whose fields this one has, too."""
        return cls(**{each.name: getattr(self, each.name) for each in fields(cls)})


def own_options(cls: type[Options]) -> tuple[Option, ...]:
    """Return the options of a class, without those of its groups."""
    if cls not in _known:
        _known[cls] = tuple(_option(each, **each.metadata[OPTION]) for each in fields(cls) if OPTION in each.metadata)
    return _known[cls]


def _option(declared: Field[Any], *, kind: Kind[Any], name: str, flag: str, **others: Any) -> Option:
    is_off, name = kind is FLAG and declared.default is True, name or declared.name
    flag = flag or f"--{'no-' * is_off}{name.replace('_', '-')}"
    return Option(name=name, attribute=declared.name, default=declared.default, kind=kind, flag=flag, **others)


def _allows(kind: Kind[Any], value: Any) -> bool:
    try:
        return kind.allows(value)
    except TypeError:  # a value of another type
        return False
