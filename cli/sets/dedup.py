"""The command winnow dedup, which writes a data set without its duplicates, or without its repeated passages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click

from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.answers.sets.deduplication import RowCount, RowsResult, attention_words, row_counts
from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunAnswerOutput
from opensearch_winnow.cli.output_files import check_names
from opensearch_winnow.cli.phase_progress import all_or_nothing
from opensearch_winnow.cli.sets.dedup_table import table
from opensearch_winnow.cli.sets.rows_read import failed_file, say_failed, say_other_texts
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.typed_options import typed_options
from opensearch_winnow.clusters.deduplication.decisions import Deduplication
from opensearch_winnow.foundation.option_kinds import FLAG, number, one_of, text
from opensearch_winnow.foundation.options import option
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.operations.sets.deduplication import FileDeduplication, deduplicate
from opensearch_winnow.operations.sets.passage_run import PassageOutputs, PassageRun, repeated_passages
from opensearch_winnow.operations.sets.row_options import RowOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupCommand(FileDeduplication):
    """The options of a deduplication as the command has them."""

    against_id_field: str | None = option(
        None, text("NAME"), "The field with the id of a row of OLD, if it differs.", advanced=True
    )
    against_text_field: str | None = option(
        None, text("NAME"), "The field with the text of a row of OLD, if it differs.", advanced=True
    )
    preset: str = option(
        "pages", one_of(*PRESETS), "The kind of text: code for programs. Chinese and Japanese need none."
    )
    shingle: int | None = option(
        None, number(1, 1000), "Compare runs of N words.", unset=f"{Scheme().shingle}, or the preset's", advanced=True
    )
    dry_run: bool = option(False, FLAG, "Write nothing, only count.")
    passages: bool = option(False, FLAG, "Instead of whole rows, cut passages that several rows have out of the texts.")

    def of_rows(self) -> FileDeduplication:
        """Return the options for comparing whole rows."""
        scheme, fields = Scheme.preset(self.preset), self.fields
        return replace(
            self.part(FileDeduplication),
            scheme=scheme if self.shingle is None else replace(scheme, shingle=self.shingle),
            against_fields=replace(
                fields, id=self.against_id_field or fields.id, text=self.against_text_field or fields.text
            ),
            mark=self.mark and not self.dry_run,
        )

    def of_passages(self, passages: PassageOutputs) -> PassageRun:
        """Return the options for finding passages."""
        shared = {name: getattr(self, name) for name in ("to", "failed", "overwrite", "work")}
        return passages.extended(PassageRun, **shared, **self.part(RowOptions).keywords())


OF_PASSAGES = {each.name for each in PassageRun.options()}
OF_ROWS = {each.name for each in DedupCommand.options()} - {"dry_run", "passages"}


@click.command("dedup", cls=DescribedCommand, short_help="Write a data set without its duplicates.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@declared_options(DedupCommand)
@declared_options(PassageOutputs, "passages")
@declared_options(RunAnswerOutput, "output")
def command(sources: tuple[str, ...], options: DedupCommand, passages: PassageOutputs, output: RunAnswerOutput) -> None:
    """\b
    Examples:
      winnow dedup train.jsonl.gz --to kept.jsonl.gz
      winnow dedup parts/*.parquet --to kept/ --min-resemblance 0.8 --keep best:quality
      winnow dedup new.jsonl --against old.jsonl --to added.jsonl
      winnow dedup train.parquet --mark --to marked.parquet
      winnow dedup train.jsonl --match contained --dry-run --json
      winnow dedup mathematics.jsonl --match identical --to kept.jsonl
      winnow dedup train.jsonl --passages --words 50 --to cut.jsonl

    Reads the rows of each SOURCE and writes those that are kept, in the same format and as they were: JSON lines,
    Parquet, CSV (each also compressed where that is usual), or the files of a folder. For a web archive, --ids
    lists the kept rows. Rows are identified by their position, so ids may be missing or occur twice.

    Every dropped row resembles the row kept for it by X or more, or is contained in it; no two kept rows do.
    Case, punctuation and the wrapping of lines do not count, nor do operators: 12 + 5 and 12 * 5 are the same words. A
    warning counts the dropped rows that differ from the kept ones in such symbols. With --match identical they stay.

    With --passages, rows are not compared as a whole. Passages that several rows have are cut out of the texts; only a
    row without words left is dropped.

    \b
    Each row ends as one of
      kept     written
      dropped  a duplicate: the same text or words, a near-duplicate, or contained in another row
      failed   could not be read; kept in a file

    Files appear when they are complete. Prints counts: a table on a terminal, tab-separated values in a pipe. Exit code
    1 if rows failed, or if there are none.
    """
    run: FileDeduplication | PassageRun
    refuse_others(by_passages=options.passages)
    if options.passages:
        run, kinds = options.of_passages(passages), ("to", "spans", "attributes")
        advice = "what to write: add --to OUT, --spans OUT, --attributes FOLDER"
    else:
        run, kinds = options.of_rows(), ("to", "ids", "dropped")
        advice = "where the rows that are kept go: add --to, --ids, --dropped"
    outputs = {f"--{kind}": getattr(run, kind) for kind in kinds}
    check_names(outputs | {"--failed": run.failed})
    if options.dry_run:
        nothing: dict[str, Any] = dict.fromkeys(kinds)
        run, outputs = replace(run, **nothing), {}
    elif not any(outputs.values()):
        raise click.UsageError(f"say {advice} or --dry-run")
    with all_or_nothing(output.progress()) as progress:
        run = replace(run, failed=failed_file(run.failed, run.to), progress=progress)
        result: RowsResult
        if isinstance(run, PassageRun):
            result = repeated_passages(sources, **run.keywords())
        else:
            result = deduplicate(sources, **run.keywords())
    output.show(result, lambda screen: table(result, screen.columns), RowCount, row_counts(result))
    for sentence in attention_words(result) if isinstance(result, Deduplication) else ():
        say(sentence)
    say_other_texts(result.other_texts)
    say_failed(result.failures, run.failed)
    if result.failed and not run.failed:
        say(f"{count_of(result.failed, 'row')} could not be read.")
    written = ", ".join(str(name) for name in outputs.values() if name)
    remark(f"{written or 'Nothing was written'}: {duration(result.seconds)}")
    if not result.rows:
        end(NOTHING_FOUND, f"No rows in {', '.join(sources)}")
    end(SOME_FAILED if result.failed else 0)


def refuse_others(*, by_passages: bool) -> None:
    """Refuse options that only count with --passages, or only without it."""
    for name, flag in typed_options().items():
        if not by_passages and name in OF_PASSAGES - OF_ROWS:
            raise click.UsageError(f"{flag} needs --passages")
        if by_passages and name in OF_ROWS - OF_PASSAGES:
            raise click.UsageError(f"{flag} has no effect with --passages: leave one of them out")
