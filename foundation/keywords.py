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
    """Such a method, as an attribute of its class."""

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


class Decorator(Protocol[P, Options_co]):
    """Takes a function or a method whose last argument is the options, and lets their fields be given as keywords."""

    @overload
    def __call__(
        self, function: Callable[[Owner, Argument, Options_co], Result], /
    ) -> Callable[Concatenate[Owner, Argument, P], Result]: ...
    @overload
    def __call__(
        self, function: Callable[[Argument, Options_co], Result], /
    ) -> Callable[Concatenate[Argument, P], Result]: ...


def with_options(cls: Callable[P, Options_co]) -> Decorator[P, Options_co]:
    """Let a function whose last argument is an object of this class be called with its fields as keywords."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        *others, last = inspect.signature(function).parameters

        @wraps(function)
        def taking(*args: Any, **keywords: Any) -> Any:
            given = dict(zip(others, args, strict=False))
            given |= {name: keywords.pop(name) for name in others if name in keywords and name not in given}
            return function(**given, **{last: _made(cls, args[len(others) :], keywords)})

        _show_fields(taking, function, cls, others=len(others))
        return taking

    return decorate


def _made(cls: Callable[..., Result], args: tuple[Any, ...], keywords: dict[str, Any]) -> Result:
    """Return an object of a class. An unknown keyword raises a TypeError that lists the known ones."""
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
    """Let `help` show the fields as parameters, after the `others` first parameters of the method."""
    own = inspect.signature(method)
    parameters = [*list(own.parameters.values())[:others], *inspect.signature(cls).parameters.values()]
    taking.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
