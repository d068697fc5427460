"""The command winnow dedup, which writes a data set without its duplicates."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED
from opensearch_winnow.cli.options.field_options import field_options
from opensearch_winnow.cli.options.run_options import (
    max_row_size_option,
    overwrite_option,
    quiet_option,
    resource_options,
)
from opensearch_winnow.cli.output_files import check_names
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.sets.dedup_passages import passage_options
from opensearch_winnow.cli.sets.dedup_summary import failed_file, print_end, result_lines, show_rows, show_table
from opensearch_winnow.cli.terminal import color_option, json_option, say, terminal
from opensearch_winnow.clusters.deduplication.options import KEEP_CHOICES, MATCHES, DeduplicationOptions, Match
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.ingest.rows import FieldNames
from opensearch_winnow.operations.sets.deduplication import deduplicate

DEFAULTS = DeduplicationOptions()


@click.command("dedup", short_help="Write a data set without its duplicates.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--to",
    metavar="OUT",
    type=click.Path(),
    help="Write the rows that are kept to this file, or to a file for each source in the folder OUT/.",
)
@click.option(
    "--match",
    type=click.Choice(MATCHES),
    default=DEFAULTS.match,
    show_default=True,
    help="What to drop. identical: rows with the same text. exact: also those with the same words, whatever their"
    " symbols. near: also those that resemble a row that is kept. contained: also those that are in one.",
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=DEFAULTS.threshold,
    show_default=True,
    help="Minimum resemblance to the row that is kept, or with contained the share of the row that is in it.",
)
@click.option(
    "--keep",
    metavar="RULE",
    default=DEFAULTS.keep,
    show_default=True,
    help=f"The row to keep of several: {KEEP_CHOICES}. earliest is by date, and rows without one in their order; source"
    " prefers the sources named first; best takes the highest number in a field.",
)
@click.option(
    "--against",
    metavar="OLD",
    multiple=True,
    type=click.Path(),
    help="Drop rows that this earlier set has. Its rows are not written. Can be repeated.",
)
@click.option("--against-id-field", metavar="NAME", help="The field with the id of a row of OLD, if it differs.")
@click.option("--against-text-field", metavar="NAME", help="The field with the text of a row of OLD, if it differs.")
@click.option(
    "--mark",
    is_flag=True,
    help="Write all rows to OUT, with the columns cluster, keep, representative and similarity.",
)
@click.option(
    "--ids", metavar="OUT", type=click.Path(), help="Write the ids of the rows kept to this file, one a line."
)
@click.option(
    "--dropped",
    metavar="OUT",
    type=click.Path(),
    help="Write a JSON line for each row dropped to this file: its id, why, and for which row.",
)
@overwrite_option
@click.option("--dry-run", is_flag=True, help="Write nothing, only count.")
@field_options
@passage_options
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
@click.option(
    "--failed",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file for rows that cannot be read: JSON lines.  [default: OUT.failed.jsonl]",
)
@max_row_size_option
@resource_options()
@quiet_option
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    to: str | None,
    match: Match,
    threshold: float,
    keep: str,
    against: tuple[str, ...],
    against_id_field: str | None,
    against_text_field: str | None,
    mark: bool,
    ids: str | None,
    dropped: str | None,
    overwrite: bool,
    dry_run: bool,
    fields: FieldNames,
    preset: str,
    shingle: int | None,
    failed: Path | None,
    max_row_size: int,
    memory: str | None,
    threads: int | None,
    work: str | None,
    quiet: bool,
    as_json: bool,
    color: str,
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
    if mark and not (to or dry_run):
        raise click.UsageError("--mark needs --to OUT, which gets the marked rows", ctx)
    if not (to or ids or dropped or dry_run):
        raise click.UsageError("say where the rows that are kept go: add --to, --ids, --dropped or --dry-run", ctx)
    check_names({"--to": to, "--ids": ids, "--dropped": dropped, "--failed": failed})
    if dry_run:
        to = ids = dropped = None
        mark = False
    failed = failed_file(failed, to)
    scheme = Scheme.preset(preset)
    try:
        with show_phases(quiet=quiet, color=color) as progress:
            result = deduplicate(
                sources,
                to,
                against=against,
                against_fields=replace(
                    fields, id=against_id_field or fields.id, text=against_text_field or fields.text
                ),
                mark=mark,
                ids=ids,
                dropped=dropped,
                failed=failed,
                overwrite=overwrite,
                match=match,
                threshold=threshold,
                keep=keep,
                fields=fields,
                scheme=scheme if shingle is None else replace(scheme, shingle=shingle),
                max_row_size=max_row_size,
                memory=memory,
                threads=threads,
                work=work,
                progress=progress,
            )
    except Stopped:
        say("Stopped: nothing was written.")
        raise
    if as_json:
        click.echo(json.dumps(result.as_document()))
    elif screen := terminal(color):
        show_table(screen, result)
    else:
        show_rows(result_lines(result))
    print_end(result, failed, to)
    if not result.rows:
        say(f"No rows in {', '.join(sources)}")
        ctx.exit(NOTHING_FOUND)
    if result.failed:
        ctx.exit(SOME_FAILED)
