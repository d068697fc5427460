"""The options of a command that works for some time, and then reports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import click

from opensearch_winnow.cli.options.answer_output import AnswerOutput
from opensearch_winnow.cli.phase_progress import show_phases
from opensearch_winnow.foundation.answers import Answer
from opensearch_winnow.foundation.option_kinds import FLAG
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.foundation.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutput(Options):
    """The options of a run's progress and report."""

    quiet: bool = option(False, FLAG, "Do not show progress.", flag="-q --quiet")
    json: bool = option_of(AnswerOutput, "json")

    def progress(self) -> AbstractContextManager[Progress]:
        """Show how far the run is. A run that is stopped raises Stopped."""
        return show_phases(quiet=self.quiet, color="auto")

    def show(self, report: Answer, lines: Iterable[str]) -> None:
        """Print a report: as JSON, or its `lines`."""
        for line in [json.dumps(report.to_dict())] if self.json else lines:
            click.echo(line)
