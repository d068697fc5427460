"""The command winnow contaminated, which finds passages of evaluation sets in training sets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path

import click

from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.answers.sets.contamination import found_words, left_out_words
from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunAnswerOutput
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.phase_progress import all_or_nothing
from opensearch_winnow.cli.sets.contaminated_table import table
from opensearch_winnow.cli.sets.rows_read import failed_file, say_failed, say_other_texts
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.operations.sets.contamination import ContaminatedRow, ContaminationOptions, contaminated


class ManyNamesCommand(DescribedCommand):
    """A command whose options in `many_names` take all words up to the next option: a shell may expand a pattern."""

    many_names: Sequence[str] = ("--against",)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given: list[str] = []
        option = ""
        for i, word in enumerate(args):
            if word == "--":
                given += args[i:]
                break
            if word.startswith("-") and word != "-":
                option = word if word in self.many_names else ""
                given.append(word)
            else:
                # The word right after the option is its value; the others get the option again.
                given += [option, word] if option and given[-1] != option else [word]
        return super().parse_args(ctx, given)


_FIELDS = re.compile(r"[^/\\*?\[\]]+")  # names of fields after a colon, not the rest of a path or a pattern


@click.command(
    "contaminated",
    cls=ManyNamesCommand,
    short_help="Find passages of evaluation sets in training sets.",
)
@click.argument("train", metavar="TRAIN...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--against",
    metavar="EVALS...",
    multiple=True,
    required=True,
    type=click.Path(),
    help="The evaluation sets: files or folders, up to the next option. FILE:FIELD,FIELD names the fields of one set.",
)
@declared_options(ContaminationOptions)
@declared_options(RunAnswerOutput, "output")
def command(
    train: tuple[str, ...], against: tuple[str, ...], options: ContaminationOptions, output: RunAnswerOutput
) -> None:
    """\b
    Examples:
      winnow contaminated train.jsonl --against gsm8k.jsonl --eval-field question --eval-field answer
      winnow contaminated train.jsonl --against mmlu.jsonl:question,choices gsm8k.jsonl:question
      winnow contaminated train/*.parquet --against evals/*.jsonl --to contaminated.csv --spans passages.jsonl
      winnow contaminated train.jsonl.gz --against evals/ --clean clean.jsonl.gz
      winnow contaminated train.jsonl --against mmlu.csv:question --min-containment 0.8 --cut --clean out.jsonl

    Finds the rows of TRAIN that hold a passage of at least N words of an evaluation set. Case, punctuation and line
    breaks do not count. TRAIN and EVALS are JSON lines, CSV, Parquet, or folders of texts. Each TRAIN row is read once.

    A changed word ends a passage: a copy with one changed word is found if N words before or after it are equal.
    Evaluation texts that are too short to be looked for are counted.

    Prints the evaluation sets and the contaminated rows; in a pipe, the rows as tab-separated values. Exit code 0 if a
    row is contaminated, 1 if none is or if training rows could not be read.
    """
    sets = fields_by_set(against)
    options = replace(options, failed=failed_file(options.failed, options.clean))
    outputs = {f"--{name}": getattr(options, name) for name in ("to", "spans", "clean", "failed")}
    check_files(outputs, [Path(name) for name in (*train, *sets)])
    with all_or_nothing(output.progress()) as progress:
        result = contaminated(train, sets, **replace(options, progress=progress).keywords())
    output.show(result, lambda screen: table(result, screen.columns), ContaminatedRow, result.found)
    say_other_texts(result.other_texts)
    for line in left_out_words(result):
        say(line)
    say_failed(result.failures, options.failed)
    if not result.contaminated:
        if not output.screen:  # a table begins with this line
            say(found_words(result))
        end(NOTHING_FOUND)
    remark(f"{count_of(result.rows, 'row')}: {duration(result.seconds)}")
    end(SOME_FAILED if result.failed else 0)


def fields_by_set(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the name of each evaluation set with the fields that follow a colon: mmlu.jsonl:question,choices.

    If a whole name, colons included, is that of a file or folder, it has no fields.
    """
    sets: dict[str, list[str]] = {}
    for name in names:
        path, _, fields = name.rpartition(":")
        named = os.path.exists(path) or has_magic(path) or path.startswith("file://")  # noqa: PTH110 (of any string)
        if os.path.exists(name) or not named or not _FIELDS.fullmatch(fields):  # noqa: PTH110
            path, fields = name, ""
        own = sets.setdefault(path, [])
        own += [each for each in fields.split(",") if each and each not in own]
    return sets
