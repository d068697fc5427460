"""Options that several commands share: whether to replace files and to show progress, and what a run may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from opensearch_winnow.cli.options.declared_options import declared_option
from opensearch_winnow.clusters.options import RunSettings

UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


class Size(click.ParamType[int]):
    """A number of bytes, such as 10M, 500k or 2000000."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        number, unit = value.rstrip("bB"), ""
        if number and number[-1].lower() in UNITS:
            number, unit = number[:-1], number[-1].lower()
        try:
            size = int(float(number) * UNITS[unit])
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a size such as 500k, 10M or 1G", param, ctx)
        if size < 1:
            self.fail("a size is at least 1 byte", param, ctx)
        return size


overwrite_option = declared_option(RunSettings, "overwrite")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
max_row_size_option = click.option(
    "--max-row-size",
    metavar="SIZE",
    type=Size(),
    default="10M",
    show_default=True,
    help="Rows with a larger text fail.",
)


def resource_options() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options --memory, --threads and --work."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in ("work", "threads", "memory"):
            function = declared_option(RunSettings, name)(function)
        return function

    return decorate
