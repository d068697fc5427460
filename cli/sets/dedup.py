"""The command winnow dedup, which writes a data set without its duplicates."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.field_options import field_options
from opensearch_winnow.cli.options.run_options import (
    max_row_size_option,
    overwrite_option,
    quiet_option,
    resource_options,
)
from opensearch_winnow.cli.output_files import check_names
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.sets.dedup_passages import find_passages, refuse_others
from opensearch_winnow.cli.sets.dedup_summary import failed_file, print_end, result_lines, show_rows, show_table
from opensearch_winnow.cli.terminal import color_option, json_option, say, terminal
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.ingest.rows import FieldNames
from opensearch_winnow.operations.sets.deduplication import FileDeduplication, deduplicate
from opensearch_winnow.operations.sets.passage_run import PassageOutputs


@click.command("dedup", short_help="Write a data set without its duplicates.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@declared_options(FileDeduplication)
@click.option("--against-id-field", metavar="NAME", help="The field with the id of a row of OLD, if it differs.")
@click.option("--against-text-field", metavar="NAME", help="The field with the text of a row of OLD, if it differs.")
@overwrite_option
@click.option("--dry-run", is_flag=True, help="Write nothing, only count.")
@field_options
@click.option(
    "--passages",
    "by_passages",
    is_flag=True,
    help="Instead of whole rows, cut passages that several rows have out of the texts.",
)
@declared_options(PassageOutputs, "passages")
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    default="pages",
    show_default=True,
    help="The kind of text: code for programs. Chinese and Japanese need none.",
)
@click.option(
    "--shingle",
    metavar="N",
    type=click.IntRange(1, 1000),
    help=f"Compare runs of N words.  [default: {Scheme().shingle}, or the preset's]",
)
@max_row_size_option
@resource_options()
@quiet_option
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    options: FileDeduplication,
    against_id_field: str | None,
    against_text_field: str | None,
    dry_run: bool,
    fields: FieldNames,
    by_passages: bool,
    passages: PassageOutputs,
    preset: str,
    shingle: int | None,
    quiet: bool,
    as_json: bool,
    color: str,
    **shared: Any,  # options of the run that several commands have
) -> None:
    """\b
    Examples:
      winnow dedup train.jsonl.gz --to kept.jsonl.gz
      winnow dedup parts/*.parquet --to kept/ --threshold 0.8 --keep best:quality
      winnow dedup new.jsonl --against old.jsonl --to added.jsonl
      winnow dedup train.parquet --mark --to marked.parquet
      winnow dedup train.jsonl --match contained --dry-run --json
      winnow dedup mathematics.jsonl --match identical --to kept.jsonl
      winnow dedup train.jsonl --passages --words 50 --to cut.jsonl

    Reads the rows of each SOURCE and writes those that are kept, in the same format and as they were: JSON lines,
    Parquet, CSV (each also compressed where that is usual), or the files of a folder. Of a web archive, --ids lists
    what is kept. Rows are told apart by their place, so ids may be missing or occur twice.

    Every dropped row resembles the row that is kept for it by X or more, or is in it; no two rows that are kept do.
    Case, punctuation and the wrapping of lines do not count, nor do operators: 12 + 5 and 12 * 5 are the same words. A
    warning counts the rows that were dropped as equal to others but for such symbols. With --match identical they stay.

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
    refuse_others(ctx, by_passages=by_passages)
    options = replace(options, fields=fields, **shared)
    if by_passages:
        find_passages(ctx, sources, options, passages, dry_run=dry_run, quiet=quiet, as_json=as_json, color=color)
        return
    if options.mark and not (options.to or dry_run):
        raise click.UsageError("--mark needs --to OUT, which gets the marked rows", ctx)
    if not (options.to or options.ids or options.dropped or dry_run):
        raise click.UsageError("say where the rows that are kept go: add --to, --ids, --dropped or --dry-run", ctx)
    check_names({f"--{name}": getattr(options, name) for name in ("to", "ids", "dropped", "failed")})
    if dry_run:
        options = replace(options, to=None, ids=None, dropped=None, mark=False)
    scheme = Scheme.preset(preset)
    try:
        with show_phases(quiet=quiet, color=color) as progress:
            options = replace(
                options,
                against_fields=replace(
                    fields, id=against_id_field or fields.id, text=against_text_field or fields.text
                ),
                failed=failed_file(options.failed, options.to),
                scheme=scheme if shingle is None else replace(scheme, shingle=shingle),
                progress=progress,
            )
            result = deduplicate(sources, **options.keywords())
    except Stopped:
        say("Stopped: nothing was written.")
        raise
    if as_json:
        click.echo(json.dumps(result.as_document()))
    elif screen := terminal(color):
        show_table(screen, result)
    else:
        show_rows(result_lines(result))
    print_end(result, options.failed, options.to)
    if not result.rows:
        say(f"No rows in {', '.join(sources)}")
        ctx.exit(NOTHING_FOUND)
    if result.failed:
        ctx.exit(SOME_FAILED)
