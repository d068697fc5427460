"""Methods whose keyword arguments are the fields of a dataclass: declared once, and known to type checkers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

Owner = TypeVar("Owner")
Argument = TypeVar("Argument")
Options_co = TypeVar("Options_co", covariant=True)
Options_contra = TypeVar("Options_contra", contravariant=True)
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)
P = ParamSpec("P")


class Bound(Protocol[P, Options_contra, Result_co]):
    """A method of an object that takes the options as an object, or as keywords."""

    @overload
    def __call__(self, options: Options_contra, /) -> Result_co: ...
    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> Result_co: ...


class Method(Protocol[P, Options_contra, Result_co]):
    """The same, as an attribute of the class."""

    def __get__(self, instance: object, owner: type) -> Bound[P, Options_contra, Result_co]: ...


def takes(
    cls: Callable[P, Options_co],
) -> Callable[[Callable[[Any, Options_co], Result]], Method[P, Options_co, Result]]:
    """Let a method that takes an object of this class be called with its fields as keywords, too."""

    def decorate(method: Callable[[Any, Options_co], Result]) -> Method[P, Options_co, Result]:
        @wraps(method)
        def taking(self: Any, *args: Any, **keywords: Any) -> Result:
            is_made = len(args) == 1 and not keywords and isinstance(args[0], cls)  # type: ignore[arg-type]
            return method(self, args[0] if is_made else _made(cls, args, keywords))

        _show_fields(taking, method, cls, others=1)
        return cast("Method[P, Options_co, Result]", taking)

    return decorate


def with_options(
    cls: Callable[P, Options_co],
) -> Callable[[Callable[[Owner, Argument, Options_co], Result]], Callable[Concatenate[Owner, Argument, P], Result]]:
    """Let a method that takes an argument and an object of this class be called with its fields as keywords."""

    def decorate(
        method: Callable[[Owner, Argument, Options_co], Result],
    ) -> Callable[Concatenate[Owner, Argument, P], Result]:
        (_, first, _), call = inspect.signature(method).parameters, cast("Callable[..., Result]", method)

        @wraps(method)
        def taking(self: Owner, *args: Any, **keywords: Any) -> Result:
            if not args and first in keywords:
                args = (keywords.pop(first),)
            return call(self, *args[:1], _made(cls, args[1:], keywords))

        _show_fields(taking, method, cls, others=2)
        return cast("Callable[Concatenate[Owner, Argument, P], Result]", taking)

    return decorate


def with_keywords(
    cls: Callable[P, Options_co],
) -> Callable[[Callable[[Argument, Options_co], Result]], Callable[Concatenate[Argument, P], Result]]:
    """Let a function that takes an argument and an object of this class be called with its fields as keywords."""

    def decorate(function: Callable[[Argument, Options_co], Result]) -> Callable[Concatenate[Argument, P], Result]:
        (first, _), call = inspect.signature(function).parameters, cast("Callable[..., Result]", function)

        @wraps(function)
        def taking(*args: Any, **keywords: Any) -> Result:
            if not args and first in keywords:
                args = (keywords.pop(first),)
            return call(*args[:1], _made(cls, args[1:], keywords))

        _show_fields(taking, function, cls, others=1)
        return cast("Callable[Concatenate[Argument, P], Result]", taking)

    return decorate


def _made(cls: Callable[..., Result], args: tuple[Any, ...], keywords: dict[str, Any]) -> Result:
    """Return an object of a class. An unknown keyword raises a TypeError that names those that there are."""
    try:
        return cls(*args, **keywords)
    except TypeError:
        names = inspect.signature(cls).parameters
        for name in keywords.keys() - names.keys():
            raise TypeError(f"there is no parameter {name}: there are {', '.join(names)}") from None
        raise


def _show_fields(
    taking: Callable[..., Any], method: Callable[..., Any], cls: Callable[..., Any], *, others: int
) -> None:
    """Let `help` show the fields as parameters, after the `others` that the method has."""
    own = inspect.signature(method)
    parameters = [*list(own.parameters.values())[:others], *inspect.signature(cls).parameters.values()]
    taking.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
