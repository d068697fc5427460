"""Options that several commands share: whether to replace files and to show progress, and what a run may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

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


overwrite_option = click.option("--overwrite", is_flag=True, help="Replace output files that exist.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
max_row_size_option = click.option(
    "--max-row-size",
    metavar="SIZE",
    type=Size(),
    default="10M",
    show_default=True,
    help="Rows with a larger text fail.",
)


def resource_options(only: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options --memory, --threads and --work. `only` says when they have an effect."""
    note = f" {only}." if only else ""
    options = (
        click.option(
            "--memory",
            metavar="SIZE",
            help="Memory for the comparison, at least 100MB; what does not fit goes to disk. winnow and its libraries"
            f" take up to 0.5 GB besides.{note}  [default: 2GB]",
        ),
        click.option(
            "--threads",
            metavar="N",
            type=click.IntRange(1, 1024),
            help=f"Number of threads.{note}  [default: one for each processor]",
        ),
        click.option(
            "--work",
            metavar="FOLDER",
            type=click.Path(),
            help="Folder for temporary files.  [default: beside the output, or the temporary folder]",
        ),
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
