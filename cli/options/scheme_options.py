"""The options that choose a fingerprinting scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import click

from opensearch_winnow.foundation.scheme import PRESETS, SELECTIONS, Scheme

Command = TypeVar("Command", bound=Callable[..., Any])

CHOICES = ("preset", "noise", "guarantee", "selection", "fold_confusables")
THRESHOLDS = ", ".join(f"{name} {each.noise} and {each.guarantee}" for name, each in PRESETS.items())

noise = click.option(
    "--noise",
    metavar="K",
    type=int,
    show_default=f"{Scheme().noise}, or the preset's",
    help="Ignore shared runs of fewer than K canonical characters (letters and digits; tokens of code).",
)
guarantee = click.option(
    "--guarantee",
    metavar="T",
    type=int,
    show_default=f"{Scheme().guarantee}, or the preset's",
    help="Find every shared run of at least T canonical characters.",
)
preset = click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    default="pages",
    show_default=True,
    help=f"Scheme to start from; other options override it. K and T of each: {THRESHOLDS}.",
)
preset_by_names = click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    show_default="programs for programs, otherwise pages, or that of the store",
    help=f"Scheme to start from; other options override it. K and T of each: {THRESHOLDS}.",
)
# Not a click.Choice: Scheme reports a wrong selection together with everything else that is wrong.
selection = click.option(
    "--selection",
    metavar=f"[{'|'.join(SELECTIONS)}]",
    shell_complete=lambda ctx, param, incomplete: [each for each in SELECTIONS if each.startswith(incomplete)],  # noqa: ARG005
    help="How to select fingerprints from the k-grams.  [default: winnow]",
)
# None without it: the preset decides.
fold_confusables = click.option(
    "--fold-confusables",
    is_flag=True,
    default=None,
    help="Treat letters that look alike as one, such as a Cyrillic а and a Latin a (UTS #39).",
)


def scheme_options(
    *options: Callable[[Command], Command], optional: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options; its function gets the resulting `scheme`.

    With `optional`, it gets None if the user gave none of the options.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_scheme(**arguments: Any) -> Any:
            use_default = optional and all(map(_is_default, CHOICES))
            start = Scheme.preset(arguments.pop("preset") or "pages")
            choices = {name: arguments.pop(name, None) for name in CHOICES if name != "preset"}
            made = replace(start, **{name: value for name, value in choices.items() if value is not None})
            return function(scheme=None if use_default else made, **arguments)

        decorated: Any = with_scheme
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def _is_default(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source in (None, click.core.ParameterSource.DEFAULT)
