"""The options that choose a scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import click

from opensearch_winnow.cython_core.fingerprints import SELECTIONS
from opensearch_winnow.foundation.scheme import PRESETS, Scheme

Command = TypeVar("Command", bound=Callable[..., Any])

CHOICES = ("preset", "noise", "guarantee", "selection")
THRESHOLDS = ", ".join(f"{name} {each.noise} and {each.guarantee}" for name, each in PRESETS.items())

noise = click.option(
    "--noise",
    metavar="K",
    type=int,
    show_default=f"{Scheme().noise}, or the preset's",
    help="Shared runs of fewer than K canonical characters (letters and digits; of code, tokens) are noise.",
)
guarantee = click.option(
    "--guarantee",
    metavar="T",
    type=int,
    show_default=f"{Scheme().guarantee}, or the preset's",
    help="Every shared run of at least T canonical characters is found, always.",
)
preset = click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    default="pages",
    show_default=True,
    help=f"The scheme to start from; the other options change it. Their K and T: {THRESHOLDS}.",
)
# Not a click.Choice: Scheme itself refuses what it does not know, together with all else that is wrong.
selection = click.option(
    "--selection",
    metavar=f"[{'|'.join(SELECTIONS)}]",
    shell_complete=lambda ctx, param, incomplete: [each for each in SELECTIONS if each.startswith(incomplete)],  # noqa: ARG005
    help="How fingerprints are picked from the k-grams.  [default: winnow]",
)


def scheme_options(
    *options: Callable[[Command], Command], optional: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options; its function gets the `scheme` that they make.

    If that is `optional`, it gets None where none of them is given.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_scheme(**arguments: Any) -> Any:
            unsaid = optional and all(map(_is_default, CHOICES))
            start = Scheme.preset(arguments.pop("preset"))
            choices = {name: arguments.pop(name, None) for name in CHOICES if name != "preset"}
            made = replace(start, **{name: value for name, value in choices.items() if value is not None})
            scheme = None if unsaid else made
            return function(scheme=scheme, **arguments)

        decorated: Any = with_scheme
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def _is_default(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source in (None, click.core.ParameterSource.DEFAULT)
