"""Options that several commands share: whether to replace files and to show progress, and what a run may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

overwrite_option = click.option("--overwrite", is_flag=True, help="Replace output files that exist.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")


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
