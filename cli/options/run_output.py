"""The options of a command that works for some time, and then reports."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import click

from opensearch_winnow.cli.options.answer_output import AnswerOutput, JsonOutput, TableOutput
from opensearch_winnow.cli.phase_progress import show_phases
from opensearch_winnow.foundation.answers import Answer
from opensearch_winnow.foundation.option_kinds import FLAG
from opensearch_winnow.foundation.options import option, option_of
from opensearch_winnow.foundation.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutput(JsonOutput):
    """The options of a run's progress and report."""

    quiet: bool = option(False, FLAG, "Do not show progress.", flag="-q --quiet")

    def progress(self, *, quiet: bool = False) -> AbstractContextManager[Progress]:
        """Show how far the run is. A run that is stopped raises Stopped."""
        return show_phases(quiet=self.quiet or quiet, color="auto")

    def show(self, report: Answer, lines: Iterable[str]) -> None:
        """Print a report: as JSON, or its `lines`."""
        if not self.prints(report):
            for line in lines:
                click.echo(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswerOutput(AnswerOutput):
    """The options of a run's progress, and of its answer."""

    quiet: bool = option_of(RunOutput, "quiet")

    def progress(self, *, quiet: bool = False) -> AbstractContextManager[Progress]:
        """Show how far the run is. A run that is stopped raises Stopped."""
        return show_phases(quiet=self.quiet or quiet, color=self.color)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTableOutput(TableOutput):
    """The options of a run's progress, and of its answer, which is a table."""

    quiet: bool = option_of(RunOutput, "quiet")

    def progress(self, *, quiet: bool = False) -> AbstractContextManager[Progress]:
        """Show how far the run is. A run that is stopped raises Stopped."""
        return show_phases(quiet=self.quiet or quiet, color=self.color)
