"""The options for the output of an answer: as JSON, as a table for people or for programs, or in a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from opensearch_winnow.answers.display_text import Span
from opensearch_winnow.answers.tables import write_table
from opensearch_winnow.cli.terminal import Terminal, terminal
from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.foundation.answer_keys import columns_of
from opensearch_winnow.foundation.answers import Answer, Tabular, row_class
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.option_kinds import FLAG, one_of, path
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.record_files.answer_table import AnswerTable, check_table

JSON = ".json"
Lines = Callable[[Terminal], Iterable[list[Span]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonOutput(Options):
    """The option of an answer that is printed in a few lines."""

    json: bool = option(False, FLAG, "Print one JSON object.")

    def prints(self, answer: Answer) -> bool:
        """Print an answer if --json is given, and return whether it is."""
        if self.json:
            click.echo(json.dumps(answer.to_dict()))
        return self.json


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOutput(JsonOutput):
    """The options of an answer that is printed."""

    color: Literal["auto", "always", "never"] = option(
        "auto",
        one_of("auto", "always", "never"),
        "When to use colour. auto: on a terminal, unless NO_COLOR is set. always: print as for a terminal, even in a"
        " pipe, for example to less -R.",
    )

    @property
    def screen(self) -> Terminal | None:
        """The terminal that an answer for people is printed on; None if it is for programs."""
        return None if self.json else terminal(self.color)

    def show(self, answer: Answer, lines: Lines, row: type | None = None, rows: Iterable[Any] = ()) -> None:
        """Print an answer: `lines` for people, and otherwise JSON or the rows of its table, or these `rows`."""
        if self.prints(answer):
            return
        if screen := self.screen:
            show_lines(screen, lines)
        elif row is not None:
            write_table(sys.stdout, row, rows)
        elif isinstance(answer, Tabular):
            write_table(sys.stdout, row_class(type(answer)), answer.rows())


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutput(AnswerOutput):
    """The options of an answer that is a table."""

    to: str | None = option(
        None,
        path("FILE", "file"),
        "Write the answer to FILE: its table as .csv, .jsonl or .parquet, or the whole of it as .json.",
    )
    overwrite: bool = option_of(RunSettings, "overwrite")
    csv: bool = option(False, FLAG, "Print comma-separated values.")
    full: bool = option(False, FLAG, "Do not shorten URLs.", flag="-w --full")

    def __post_init__(self) -> None:
        super(TableOutput, self).__post_init__()
        if self.json + self.csv + (self.to is not None) > 1:
            raise click.UsageError("give one of --to, --json and --csv")
        if self.to is not None:
            check_answer_file(Path(self.to), overwrite=self.overwrite)

    @property
    def screen(self) -> Terminal | None:
        return None if self.json or self.csv or self.to is not None else terminal(self.color)

    def show(self, answer: Answer, lines: Lines, row: type | None = None, rows: Iterable[Any] = ()) -> None:
        assert isinstance(answer, Tabular)
        if self.to is not None:
            write_answer(Path(self.to), answer)
        elif self.csv:
            write_table(sys.stdout, row_class(type(answer)), answer.rows(), ",")
        else:
            super(TableOutput, self).show(answer, lines, row, rows)


def show_lines(screen: Terminal, lines: Lines) -> None:
    for line in lines(screen):
        screen.echo(screen.line(line))


def check_answer_file(target: Path, *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, or that exists and may not be replaced."""
    if target.name.lower().endswith(JSON):
        check_output(target, overwrite=overwrite)
    else:
        check_table(target, overwrite=overwrite, more=(JSON,))


def write_answer(target: Path, answer: Tabular) -> None:
    """Write an answer to a file that appears when it is complete: one JSON object, or its table."""
    if target.name.lower().endswith(JSON):
        with open_new(target) as file:
            file.write(json.dumps(answer.to_dict()).encode() + b"\n")
        return
    columns = columns_of(row_class(type(answer)))
    with AnswerTable(target, {each.name: each.type for each in columns}, overwrite=True) as table:
        for row in answer.rows():
            table.add(*(each.cell(row) for each in columns))
