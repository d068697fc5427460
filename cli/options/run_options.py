"""The option of long runs: whether they show progress."""

from __future__ import annotations

import click

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
