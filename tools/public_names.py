"""Collects the names that users meet: parameters of Python, of commands and of the API, and the keys of answers."""

from __future__ import annotations

import inspect
import pkgutil
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

import click

import opensearch_winnow
from opensearch_winnow.cli import main
from opensearch_winnow.foundation.answer_keys import is_answer, keys_of
from opensearch_winnow.foundation.answers import Answer
from opensearch_winnow.foundation.options import Options
from opensearch_winnow.foundation.stub_names import names_in_stub
from opensearch_winnow.web.app import API, SCREENS
from opensearch_winnow.web.openapi import openapi_document

PUBLIC_MODULES: tuple[tuple[str, ...], ...] = ((), ("clients",), ("batch",), ("types",))
CONSTRUCTED = ("Boilerplate", "Document", "FieldNames", "Page", "Scheme")  # by users; not all of them are options
SIMPLE: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    datetime: "time",
    type(None): "null",
}
T = TypeVar("T")


@dataclass(slots=True)
class Meaning:
    """A meaning of the name of a parameter, and what takes it."""

    sentence: str
    values: str
    default: str
    flags: dict[str, None] = field(default_factory=dict)  # a set that keeps its order, as those below
    python: dict[str, None] = field(default_factory=dict)
    commands: dict[str, None] = field(default_factory=dict)
    api: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class KeyMeaning:
    """A meaning of a key, and the answers that have it."""

    sentence: str
    values: str
    answers: dict[str, None] = field(default_factory=dict)


Parameters = dict[str, list[Meaning]]  # the meanings of each name
Keys = dict[str, list[KeyMeaning]]


def public_objects() -> dict[str, Any]:
    """Return all that the public modules have, by name."""
    modules = [import_module(".".join((opensearch_winnow.__name__, *name))) for name in PUBLIC_MODULES]
    found = {name: getattr(module, name) for module in modules for name in names_in_stub(str(module.__file__))}
    return {
        name: public
        for name, public in found.items()
        # Queries have the words of the engine. Types are not called, unless users make them.
        if not public.__module__.startswith("opensearch_winnow.queries.dsl.") or name == "deduplicate_search_body"
        if name != "RunSettings"  # its names are those of `winnow cluster`, with its exceptions
        if name in CONSTRUCTED or name not in names_in_stub(str(modules[-1].__file__))
    }


def parameters() -> Parameters:
    """Return the meanings of every public parameter, by its name."""
    found: Parameters = {}
    for cls in subclasses(Options):
        for each in cls.options():
            default = each.unset or _default(each.default)
            _meaning(found, each.name, each.help, each.kind.what, default)
    for name, parameter in _python_parameters():
        _meaning(found, parameter.name, *_told(parameter)).python[name] = None
    declared = {(each.name, each.flag.split()[-1]) for cls in subclasses(Options) for each in cls.options()}
    for name, option in _command_options(main):
        flag = max(option.opts, key=len)
        is_declared = (option.name, flag) in declared
        written = option.name if is_declared else flag.lstrip("-").replace("-", "_")
        meaning = _meaning(found, str(written), _help(option), _values(option), _default(option.default))
        meaning.commands[f"winnow {name}"] = None
        meaning.flags |= dict.fromkeys(option.opts)
    for name, described in _api_parameters():
        schema = described["schema"]
        values, default = _schema_values(schema), _default(schema.get("default"))
        _meaning(found, described["name"], described["description"], values, default).api[name] = None
    used = {name: [each for each in some if each.python or each.commands or each.api] for name, some in found.items()}
    return {name: used[name] for name in sorted(used) if used[name]}


def keys() -> Keys:
    """Return the meanings of every declared key of a JSON answer, by its name."""
    found: Keys = {}
    for cls in _answers():
        for each in keys_of(cls):
            meanings = found.setdefault(each.name, [])
            values = _type_values(each.type) + ", or absent" * each.optional
            told = [one for one in meanings if (one.sentence, one.values) == (each.help, values)]
            if not told:
                told = [KeyMeaning(each.help, values)]
                meanings += told
            told[0].answers[cls.__name__] = None
    return {name: found[name] for name in sorted(found)}


@cache
def import_all() -> None:
    """Import every module of the package: classes know only those subclasses that were imported."""
    for module in pkgutil.walk_packages(opensearch_winnow.__path__, f"{opensearch_winnow.__name__}."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def subclasses(cls: type[T]) -> Iterator[type[T]]:
    """Yield the subclasses of a class that the package defines, in the order of their modules and names."""
    import_all()
    found, left = set(), [cls]
    while left:
        for each in left.pop().__subclasses__():
            left.append(each)
            # A dataclass with slots is another class than the one it was made from.
            if getattr(import_module(each.__module__), each.__name__, None) is each:
                found.add(each)
    ours = [each for each in found if each.__module__.startswith(f"{opensearch_winnow.__name__}.")]
    yield from sorted(ours, key=lambda each: (each.__module__, each.__name__))


def option_names() -> set[str]:
    """Return the names of all fields of classes of options, those for programs only among them."""
    return {each.name for cls in subclasses(Options) for each in fields(cls)} | {
        each.name for cls in subclasses(Options) for each in cls.options()
    }


# --- parameters -------------------------------------------------------------------------------------------------------


def _meaning(found: Parameters, name: str, sentence: str, values: str, default: str) -> Meaning:
    """Return the meaning of a name that a sentence begins with, or a new one."""
    meanings = found.setdefault(name, [])
    for each in meanings:
        if sentence.startswith(each.sentence) if each.sentence else (sentence, values) == ("", each.values):
            return each
    meanings.append(Meaning(sentence, values, default))
    return meanings[-1]


def _python_parameters() -> Iterator[tuple[str, inspect.Parameter | Any]]:
    """Yield the parameters of public functions, of methods of the index, and of what users construct."""
    for name, public in sorted(public_objects().items()):
        if not inspect.isclass(public) or name in CONSTRUCTED or issubclass(public, Options):
            yield from _of_callable(name, public)
    for name, method in inspect.getmembers(opensearch_winnow.Index, callable):
        if not name.startswith("_"):
            yield from _of_callable(f"Index.{name}", method)


def _of_callable(name: str, public: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    declared = _declared_options(public)
    options = {each.name: each for cls in declared for each in cls.options()}
    for parameter in inspect.signature(public).parameters.values():
        if parameter.name not in ("self", "options"):
            yield name, options.get(parameter.name, parameter)


def _declared_options(public: Any) -> Iterator[type[Options]]:
    """Yield the class of the options that a function takes, or the class itself if it is one."""
    if inspect.isclass(public):
        yield from [public] if issubclass(public, Options) else []
    elif (function := getattr(public, "__wrapped__", None)) is not None:
        last = list(inspect.signature(function).parameters)[-1]
        kind = inspect.get_annotations(function).get(last)
        named = function.__globals__.get(kind) if isinstance(kind, str) else kind
        if inspect.isclass(named) and issubclass(named, Options):
            yield named


def _told(parameter: Any) -> tuple[str, str, str]:
    """Return the sentence, the values and the default of an option, or of a parameter that is none."""
    if isinstance(parameter, inspect.Parameter):
        default = "" if parameter.default is parameter.empty else _default(parameter.default)
        return "", "" if parameter.annotation is parameter.empty else f"`{parameter.annotation}`", default
    return parameter.help, parameter.kind.what, parameter.unset or _default(parameter.default)


def _command_options(group: click.Group, *words: str) -> Iterator[tuple[str, click.Option]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _command_options(command, *words, name)
        elif command is not None:
            yield from ((" ".join((*words, name)), each) for each in command.params if isinstance(each, click.Option))


def _help(option: click.Option) -> str:
    return (option.help or "").partition("  [default:")[0]


def _values(option: click.Option) -> str:
    if option.is_flag:
        return "on or off"
    match option.type:
        case click.IntRange() | click.FloatRange() as kind:
            return f"a number {kind._describe_range()}"
        case click.Choice() as kind:
            return f"one of {', '.join(map(str, kind.choices))}"
    return {"integer": "a whole number", "float": "a number"}.get(option.type.name, "a text")


def _api_parameters() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, methods in openapi_document(SCREENS, API)["paths"].items():
        for method, operation in methods.items():
            yield from ((f"{method.upper()} {path}", each) for each in operation["parameters"])


def _schema_values(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    kind = {"integer": "a whole number", "number": "a number", "string": "a text"}[schema["type"]]
    limits = (schema.get("minimum"), schema.get("maximum"))
    return f"{kind} from {limits[0]:,} to {limits[1]:,}" if None not in limits else kind


def _default(value: Any) -> str:
    if value is None or value == () or value == "" or "UNSET" in str(value).upper():
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if inspect.isfunction(value) or type(value) is object:
        return ""
    if is_dataclass(value) and value == cast("Any", type(value))():
        return f"{type(value).__name__}()"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else "" if " at 0x" in str(value) else str(value)


# --- keys -------------------------------------------------------------------------------------------------------------


def _answers() -> Iterator[Any]:
    """Yield the classes of answers, and those of their parts."""
    left: list[Any] = [each for each in subclasses(Answer) if hasattr(each, "__dataclass_fields__")]  # not base classes
    seen: set[Any] = set()
    while left:
        cls = left.pop(0)
        if cls not in seen:
            seen.add(cls)
            yield cls
            left += [each for key in keys_of(cls) for each in _classes_in(key.type) if is_answer(each)]


def _classes_in(kind: Any) -> Iterator[Any]:
    inside = get_args(kind)
    if get_origin(kind) is not Literal and inside:
        for each in inside:
            yield from _classes_in(each)
    elif isinstance(kind, type):
        yield kind


def _type_values(kind: Any) -> str:
    """Return the JSON values of a type in words."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Literal:
        return f"one of {', '.join(map(str, inside))}"
    if origin in (Union, types.UnionType):
        return " or ".join(_type_values(each) for each in inside)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"object, by name: {_type_values(inside[-1])}"
    if isinstance(origin, type) and issubclass(origin, tuple) and inside[-1] is not Ellipsis:
        return f"list of {', '.join(map(_type_values, inside))}"
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return f"list of {_type_values(inside[0])}"
    return SIMPLE.get(kind) or (f"`{kind.__name__}`" if is_answer(kind) else "any")
