"""The options that choose a scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import click

from opensearch_winnow.cython_core.fingerprints import SELECTIONS
from opensearch_winnow.scheme import PRESETS, Scheme

Command = TypeVar("Command", bound=Callable[..., Any])

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


def scheme_options(*options: Callable[[Command], Command]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options; its function gets the `scheme` that they make."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_scheme(**arguments: Any) -> Any:
            start = Scheme.preset(arguments.pop("preset"))
            choices = {name: arguments.pop(name, None) for name in ("noise", "guarantee", "selection")}
            scheme = replace(start, **{name: value for name, value in choices.items() if value is not None})
            return function(scheme=scheme, **arguments)

        decorated: Any = with_scheme
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate
