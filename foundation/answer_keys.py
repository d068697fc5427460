"""The keys of answers, and the JSON values and columns of tables that are made from them.

A key has a name, a type and a sentence. The schema of the API and the reference pages are made from keys, too.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from opensearch_winnow.foundation.written_time import written_time

KEY = "key"  # of a declaration, in the metadata of a field or among the attributes of a function
CELL_TYPES = (str, int, float, bool, datetime)

ABSENT = object()  # the value of an optional key that an answer lacks

Cell = str | int | float | bool | None
ToCell = Callable[[Any], Any]
ToJson = Callable[[Any], Any]
T = TypeVar("T")

_named: dict[type, Sequence[str]] = {}  # the keys chosen by `with_keys`, by class


@dataclass(frozen=True, slots=True)
class Declared:
    """The declaration of a key in the source."""

    help: str = ""  # a sentence
    name: str = ""  # of the key, if it differs from the field's name
    column: ToCell | None = None  # makes a cell of a value that is not a cell
    inlined: bool = False
    names: tuple[str, ...] = ()  # the inlined keys; empty: all
    listed: bool = False
    first: bool = False  # a property that comes before the fields
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of an answer, in its JSON object, in its schema and perhaps in its table."""

    name: str
    type: Any
    help: str
    get: Callable[[Any], Any]  # gets the value from an answer
    to_json: ToJson | None  # makes JSON values of the value; None: it is one already
    to_cell: ToCell | None  # makes a cell of the value; None: the key has no column
    optional: bool = False  # True if some JSON objects lack it


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table of answers."""

    name: str
    type: type  # str, int, float or bool
    cell: Callable[[Any], Cell]  # makes the cell of an answer


def with_keys(*names: str) -> Callable[[type[T]], type[T]]:
    """Choose fields and properties of a class as its keys. By default, all fields of a named tuple are keys."""

    def decorate(cls: type[T]) -> type[T]:
        _named[cls] = names
        return cls

    return decorate


class HasKeys:
    """Base class of dataclasses whose fields and properties may be keys."""

    __slots__ = ()


@cache
def keys_of(cls: Any) -> tuple[Key, ...]:
    """Return the keys of a class of answers. A named tuple's keys are its fields, unless `with_keys` chose others."""
    return tuple({each.name: each for each in _found_keys(cls)}.values())


@cache
def columns_of(cls: Any) -> tuple[Column, ...]:
    """Return the columns of a table with a row for each answer of a class: the keys whose values are cells."""
    return tuple(
        Column(name=each.name, type=_cell_type(each), cell=_cell_getter(each.get, each.to_cell))
        for each in keys_of(cls)
        if each.to_cell is not None
    )


@cache
def whole_columns_of(cls: Any) -> dict[str, Any]:
    """Return the columns of a file with whole answers of a class: all keys, with lists and objects.

    A column is str, int, float or bool; [type] for a list, {name: type} for an object.
    """
    return {each.name: _whole_type(each.type) for each in keys_of(cls)}


def is_answer(cls: Any) -> bool:
    """Return whether objects of a class are JSON objects with keys: answers, named tuples and classes `with_keys`."""
    return isinstance(cls, type) and (issubclass(cls, HasKeys) or cls in _named or _is_named_tuple(cls))


def to_json_object(value: Any) -> dict[str, Any]:
    """Return an answer, or a named tuple, as JSON values."""
    own: Any = type(value)
    return {
        each.name: found if each.to_json is None else each.to_json(found)
        for each in keys_of(own)
        for found in (each.get(value),)
        if found is not ABSENT
    }


def json_values(value: Any) -> Any:
    """Return an answer, or any value in one, as JSON values."""
    if is_answer(type(value)):
        return to_json_object(value)
    if isinstance(value, datetime):
        return written_time(value)
    if isinstance(value, Mapping):
        return {str(name): json_values(each) for name, each in value.items()}
    return value if isinstance(value, str | bytes) or not isinstance(value, Sequence) else list(map(json_values, value))


def _found_keys(cls: type) -> Iterator[Key]:
    if cls in _named or _is_named_tuple(cls):
        yield from (_undeclared(cls, name) for name in _named.get(cls) or vars(cls)["_fields"])
        return
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is not a class of answers")
    yield from _properties(cls, first=True)
    for each in fields(cls):
        declared: Declared | None = each.metadata.get(KEY)
        if declared is not None and declared.inlined:
            inside = _without_none(_hints(cls)[each.name])
            chosen = [_undeclared(inside, name) for name in declared.names] or keys_of(inside)
            get = attrgetter(each.name)
            yield from (_inside(inner, get, optional=declared.optional) for inner in chosen)
        elif declared is not None:
            yield _key(each.name, _hints(cls)[each.name], declared)
    yield from _properties(cls, first=False)


def _undeclared(cls: Any, name: str) -> Key:
    """Return a field or property of a class as a key."""
    if name in _hints(cls):
        return _key(name, _hints(cls)[name], Declared(_sentence(cls, name)))
    found = getattr(cls, name)
    return _key(name, _returned(found.fget), Declared(inspect.getdoc(found) or ""))


def _sentence(cls: Any, name: str) -> str:
    """Return the sentence in a field's annotation: `start: Annotated[int, "The offset at which it begins."]`."""
    said = getattr(_annotations(cls)[name], "__metadata__", ("",))[0]
    return said if isinstance(said, str) else ""


def _properties(cls: type, *, first: bool) -> Iterator[Key]:
    """Yield the keys that are properties, base classes first; a subclass may declare an inherited property again."""
    found: dict[str, tuple[Declared, Key]] = {}
    for owner in reversed(cls.__mro__):
        for name, each in vars(owner).items():
            function = each.fget if isinstance(each, property) else getattr(each, "func", None)
            if function is not None and (declared := getattr(function, KEY, None)) is not None:
                found[name] = declared, _key(name, _returned(function), declared)
    yield from (each for declared, each in found.values() if declared.first == first)


def _key(name: str, kind: Any, declared: Declared) -> Key:
    get = attrgetter(name)
    return Key(
        name=declared.name or name,
        type=_without_none(kind) if declared.optional else kind,
        help=declared.help,
        get=_or_absent(get) if declared.optional else get,
        to_json=_converter(kind),
        to_cell=declared.column or (_cell if _is_cell(kind) else None),
        optional=declared.optional,
    )


def _or_absent(get: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def get_or_absent(value: Any) -> Any:
        found = get(value)
        return ABSENT if found is None else found

    return get_or_absent


def _inside(inner: Key, outer: Callable[[Any], Any], *, optional: bool) -> Key:
    """Return a key of an inner answer as a key of the outer one: null, or absent, if there is no inner answer."""
    without = ABSENT if optional else None

    def get(value: Any) -> Any:
        found = outer(value)
        return without if found is None else inner.get(found)

    return replace(inner, get=get, optional=inner.optional or optional)


def _cell_getter(get: Callable[[Any], Any], to_cell: ToCell) -> Callable[[Any], Cell]:
    def cell(value: Any) -> Cell:
        found = get(value)
        return None if found is None or found is ABSENT else _cell(to_cell(found))

    return cell


def _cell(value: Any) -> Cell:
    return written_time(value) if isinstance(value, datetime) else cast("Cell", value)


def _cell_type(each: Key) -> type:
    if each.to_cell is _cell:
        kind = _without_none(each.type)
        kind = type(get_args(kind)[0]) if get_origin(kind) is Literal else kind
        return str if kind is datetime else cast("type", kind)
    returned = {len: int}.get(each.to_cell)  # type: ignore[arg-type]
    return returned or get_type_hints(each.to_cell).get("return", str)


def _is_cell(kind: Any) -> bool:
    kind = _without_none(kind)
    return kind in CELL_TYPES or get_origin(kind) is Literal


def _whole_type(kind: Any) -> Any:
    kind = _without_none(kind)
    if is_answer(kind):
        return whole_columns_of(kind)
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Sequence):
        return [_whole_type(get_args(kind)[0])]
    return str if kind is datetime or get_origin(kind) is Literal else kind


@cache
def _annotations(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _returned(function: Callable[..., Any]) -> Any:
    return get_type_hints(function)["return"]


def _without_none(kind: Any) -> Any:
    """Return a type without None; a union of None and several types stays as it is."""
    if get_origin(kind) in (Union, types.UnionType):
        kinds = [each for each in get_args(kind) if each is not type(None)]
        return kinds[0] if len(kinds) == 1 else kind
    return kind


def _is_named_tuple(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def _converter(kind: Any) -> ToJson | None:
    """Return the function that makes JSON values of a type's values; None if they are JSON values already."""
    bare = _without_none(kind)
    if bare is not kind:
        return None if (convert := _converter(bare)) is None else _unless_none(convert)
    if bare is datetime:
        return written_time
    if is_answer(bare):
        return to_json_object
    origin, inside = get_origin(bare), get_args(bare)
    if origin in (Union, types.UnionType):
        return json_values if any(_converter(each) for each in inside) else None
    if not isinstance(origin, type):
        return None
    if issubclass(origin, Mapping):
        return dict if (convert := _converter(inside[-1])) is None and inside[0] is not int else _for_values(convert)
    if issubclass(origin, tuple) and inside[-1] is not Ellipsis:
        return list if not any(map(_converter, inside)) else json_values
    if issubclass(origin, Iterable):
        return list if (convert := _converter(inside[0])) is None else _for_each(convert)
    return None


def _unless_none(convert: ToJson) -> ToJson:
    return lambda value: None if value is None else convert(value)


def _for_each(convert: ToJson) -> ToJson:
    return lambda values: [convert(each) for each in values]


def _for_values(convert: ToJson | None) -> ToJson:
    made = convert or (lambda each: each)
    return lambda values: {str(name): made(each) for name, each in values.items()}
