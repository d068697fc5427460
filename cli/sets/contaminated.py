"""The command winnow contaminated, which finds passages of evaluation sets in training sets."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path

import click

from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.field_options import field_options
from opensearch_winnow.cli.options.run_options import max_row_size_option, overwrite_option, quiet_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.sets.contaminated_table import as_object, headline, say_left_out, show_rows, show_table
from opensearch_winnow.cli.sets.dedup_summary import failed_file, say_too_large
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.ingest.rows import FieldNames
from opensearch_winnow.operations.sets.contamination import ContaminationOptions, contaminated


class ManyNamesCommand(click.Command):
    """Lets the options in `many_names` take all words up to the next option, so that a shell may expand a pattern."""

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


_FIELDS = re.compile(r"[^/\\*?\[\]]+")  # names of fields after a colon, and not the rest of a path or a pattern


@click.command("contaminated", cls=ManyNamesCommand, short_help="Find passages of evaluation sets in training sets.")
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
@field_options
@max_row_size_option
@overwrite_option
@quiet_option
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    train: tuple[str, ...],
    against: tuple[str, ...],
    options: ContaminationOptions,
    fields: FieldNames,
    max_row_size: int,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow contaminated train.jsonl --against gsm8k.jsonl --eval-field question --eval-field answer
      winnow contaminated train.jsonl --against mmlu.jsonl:question,choices gsm8k.jsonl:question
      winnow contaminated train/*.parquet --against evals/*.jsonl --to contaminated.csv --spans passages.jsonl
      winnow contaminated train.jsonl.gz --against evals/ --clean clean.jsonl.gz
      winnow contaminated train.jsonl --against mmlu.csv --eval-field question --min-share 0.8 --cut --clean out.jsonl

    Finds the rows of TRAIN that hold a passage of at least N words of an evaluation set. Case, punctuation and line
    breaks do not count. TRAIN and EVALS are JSON lines, CSV, Parquet, or folders of texts. Each TRAIN row is read once.

    A changed word ends a passage: a copy with one changed word is found if N words before or after it are equal.
    Evaluation texts that are too short to be looked for are counted.

    Prints the evaluation sets and the contaminated rows; in a pipe, the rows as tab-separated values. Exit code 0 if a
    row is contaminated, 1 if none is or if training rows could not be read.
    """
    if options.cut and not options.clean:
        raise click.UsageError("--cut needs --clean, which names the file to write", ctx)
    options = replace(
        options,
        fields=fields,
        max_row_size=max_row_size,
        overwrite=overwrite,
        failed=failed_file(options.failed, options.clean),
    )
    sets = fields_by_set(against)
    outputs = {f"--{name}": getattr(options, name) for name in ("to", "spans", "clean", "failed")}
    check_files({option: name for option, name in outputs.items() if name}, [Path(name) for name in (*train, *sets)])
    try:
        with show_phases(quiet=quiet, color=color) as progress:
            result = contaminated(train, sets, **replace(options, progress=progress).keywords())
    except Stopped:
        say("Stopped: nothing was written.")
        raise
    if as_json:
        click.echo(json.dumps(as_object(result, listed=options.to is None)))
    elif screen := terminal(color):
        show_table(screen, result)
    else:
        show_rows(result)
    say_left_out(result)
    if result.failed and options.failed:
        say(f"The failed rows are in {options.failed}.")
    say_too_large(result.failed)
    if not result.contaminated:
        if as_json or not terminal(color):  # a table begins with it
            say(headline(result))
        ctx.exit(NOTHING_FOUND)
    remark(f"{count_of(result.rows, 'row')}: {duration(result.seconds)}")
    if result.failed:
        ctx.exit(SOME_FAILED)


def fields_by_set(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the name of each evaluation set with the fields that follow a colon: mmlu.jsonl:question,choices.

    A name that is a file or folder as it stands is one, whatever colons it has.
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
