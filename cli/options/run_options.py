"""Options that several commands share: whether to replace files, and to show progress."""

from __future__ import annotations

import click

from opensearch_winnow.cli.options.declared_options import declared_option
from opensearch_winnow.clusters.options import RunSettings

overwrite_option = declared_option(RunSettings, "overwrite")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
