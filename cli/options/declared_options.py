"""Gives commands the options that a dataclass declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click
from click.shell_completion import CompletionItem

from opensearch_winnow.cli.command_help import AdvancedOption
from opensearch_winnow.foundation.option_kinds import Kind
from opensearch_winnow.foundation.options import Option, Options


class KindType(click.ParamType[Any]):
    """The type of an option of a kind."""

    def __init__(self, kind: Kind[Any]) -> None:
        self.name = kind.metavar
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):  # a default
            return value
        try:
            return self._kind.parsed(value)
        except ValueError:
            self.fail(f"{value!r} is not {self._kind.what}", param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 (click passes it)
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        if self._kind.is_path:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(each) for each in self._kind.choices if each.startswith(incomplete)]


def declared_options(
    cls: type[Options], name: str = "options", **defaults: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of a class; its function gets an object of it as `name`.

    `defaults` override the defaults of the class.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_object(**arguments: Any) -> Any:
            made = cls.of(arguments)  # removes the options of the class from `arguments`
            return function(**{name: made}, **arguments)

        decorated: Any = with_object
        for each in reversed(list(cls.options())):
            decorated = click_option(each, defaults.get(each.name, each.default))(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def declared_option(cls: type[Options], name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command one of the options of a class; its function gets the value."""
    (found,) = (each for each in cls.options() if each.name == name)
    return click_option(found, found.default)


def click_option(option: Option, default: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the click option of a declared option."""
    names, join = (*option.flag.split(), option.name), option.kind.join
    described: dict[str, Any] = {
        "help": f"{option.help}  [default: {option.unset}]" if option.unset else option.help,
        "cls": AdvancedOption if option.advanced else click.Option,
    }
    if option.variable:
        described |= {"envvar": option.variable, "show_envvar": True}
    if "/" in option.flag:
        return click.option(*names, default=default, show_default=True, **described)
    if option.is_flag:
        return click.option(*names, is_flag=True, flag_value=not default, default=default, **described)
    return click.option(
        *names,
        metavar=option.kind.metavar,
        type=KindType(option.kind),
        multiple=join is not None,
        callback=None if join is None else _joining(join, default),
        show_default=default not in (None, "") and not option.unset and join is None,
        **({"required": True} if option.required else {"default": None if join else _shown(option.kind, default)}),
        **described,
    )


def _shown(kind: Kind[Any], default: Any) -> Any:
    return default if default is None or kind.written is None else kind.written(default)


def _joining(
    join: Callable[[Sequence[Any]], Any], default: Any
) -> Callable[[click.Context, click.Parameter, Sequence[Any]], Any]:
    return lambda _ctx, _param, values: join(values) if values else default
