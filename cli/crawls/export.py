"""The command winnow export: writes a store, or record files, to a record file, JSON lines, CSV or CDXJ."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.crawls.export_rows import (
    RowsWritten,
    say_left_out,
    say_no_pages,
    write_cdxj,
    write_csv,
    write_json,
    write_parquet,
)
from opensearch_winnow.cli.crawls.export_source import FiledRecords, StoredRecords
from opensearch_winnow.cli.options.capture_options import ChosenCaptures, capture_options
from opensearch_winnow.cli.options.run_options import overwrite_option
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.terminal import json_option, say
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.mappings.capture_row import COLUMNS, TEXT
from opensearch_winnow.mappings.record import as_document
from opensearch_winnow.stores.archive_counts import left_out_of
from opensearch_winnow.stores.opening import open_store

STDOUT = "-"
FORMATS = ("parquet", "jsonl", "csv", "cdxj")


@click.command("export", short_help="Write a store or records as Parquet, JSON lines, CSV or CDXJ.")
@click.argument("records", nargs=-1, type=click.Path())
@store_option("The store to export, instead of RECORDS: a file (crawl.winnow).", required=False)
@click.option("--to", "out", metavar="OUT", required=True, help="The file to write; - is stdout.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    help="What to write. By default, the ending of OUT says it (.parquet, .jsonl, .csv, .cdxj, also with .gz);"
    " stdout gets JSON lines.",
)
@click.option(
    "--columns",
    metavar="C,…",
    help=f"Write a table with these columns instead of whole records: {', '.join((*COLUMNS, TEXT))}.",
)
@click.option("--representatives", is_flag=True, help="Only the representative of each cluster.")
@capture_options
@overwrite_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    records: tuple[str, ...],
    store: str | None,
    out: str,
    kind: str | None,
    columns: str | None,
    representatives: bool,
    chosen: ChosenCaptures,
    overwrite: bool,
    as_json: bool,
) -> None:
    """\b
    Examples:
      winnow export --store crawl.winnow --to crawl.parquet
      winnow export --store crawl.winnow --to pages.csv --columns url,fetched_at,title,cluster
      winnow export --store crawl.winnow --to index.cdxj.gz --crawl june
      winnow export monday.parquet tuesday.parquet --to week.parquet
      winnow export crawl/ --to example.jsonl.gz --site example.org
      winnow export crawl.parquet --to - | jq -r .url

    Writes a store, or RECORDS (record files or folders of them), to one file. Whole records go to a record file
    (.parquet) or to JSON lines, one document per record. CSV has a row for each capture, without hashes and text. CDXJ
    is the sorted index of the web archives that the captures came from, for pywb and other players. If several RECORDS
    have the same id (one URL, fetched at one time), the one in the later file counts.

    OUT appears when it is complete. Exit code 1 if no capture matches; then nothing is written.
    """
    start = time.monotonic()
    kind = kind or kind_of(out, ctx)
    names = column_names(columns, kind, ctx)
    if out == STDOUT and as_json:
        raise click.UsageError("--to - and --json both want stdout: name a file", ctx)
    if out == STDOUT and kind == "parquet":
        raise click.UsageError("--format parquet needs a file: name one with --to", ctx)
    if records and ctx.get_parameter_source("store") is click.core.ParameterSource.ENVIRONMENT:
        store = None
    if bool(records) == bool(store):
        raise click.UsageError("what to export? Name record files, or --store crawl.winnow: one of both", ctx)
    if records and chosen.needs_store:
        raise click.UsageError(
            "record files can be filtered by --crawl and --site; the other options need --store", ctx
        )
    target = None if out == STDOUT else Path(out)
    with open_store(store, patient=True) if store else nullcontext() as opened:
        found: StoredRecords | FiledRecords
        if opened:
            found = StoredRecords(opened, chosen.where, chosen.ids, representatives=representatives)
        else:
            found = FiledRecords(records, chosen.where.crawl, chosen.where.site, representatives=representatives)
        if target:
            check_files({"--to": out}, [*map(Path, records), *found.files])
            check_output(target, overwrite=overwrite)
        written = RowsWritten(0, 0) if found.is_empty() else write(found, target, kind, names)
        no_pages = left_out_of(opened, written.archives) if opened else Counter()
    if as_json:
        seconds = round(time.monotonic() - start, 3)
        document = {"records": written.rows, "bytes": written.bytes, "seconds": seconds, "to": out}
        if kind == "cdxj":
            document |= {"left_out": dict(written.left_out), "no_pages": dict(no_pages.most_common())}
        click.echo(json.dumps(document))
    elif written.rows:
        say(f"{count_of(written.rows, 'record')}, {written.bytes:,} bytes{'' if out == STDOUT else f': {out}'}")
    say_left_out(written)
    say_no_pages(no_pages)
    if not written.rows:
        say(f"No record{chosen} in {store or ', '.join(records)}; nothing was written")
    ctx.exit(0 if written.rows else NOTHING_FOUND)


def kind_of(out: str, ctx: click.Context) -> str:
    """Return the format that the name of a file says."""
    if out == STDOUT:
        return "jsonl"
    kind = out.removesuffix(".gz").rpartition(".")[2]
    if kind not in FORMATS or out.endswith(".parquet.gz"):
        endings = ", ".join(f".{each}" for each in FORMATS)
        raise click.UsageError(f"--to {out}: a name that ends in {endings}, or --format, says what to write", ctx)
    return kind


def column_names(columns: str | None, kind: str, ctx: click.Context) -> Sequence[str] | None:
    """Return the columns to write; None for whole records."""
    if columns is None:
        return COLUMNS if kind == "csv" else None
    if kind == "cdxj":
        raise click.UsageError("--columns: the fields of CDXJ are fixed", ctx)
    names = list(dict.fromkeys(name.strip() for name in columns.split(",") if name.strip()))
    unknown = [name for name in names if name not in (*COLUMNS, TEXT)]
    if unknown or not names:
        known = ", ".join((*COLUMNS, TEXT))
        raise click.UsageError(f"--columns: {', '.join(unknown) or 'nothing'} is no column; there are {known}", ctx)
    return names


def write(
    found: StoredRecords | FiledRecords, target: Path | None, kind: str, names: Sequence[str] | None
) -> RowsWritten:
    """Write what was found, as whole records or with the columns `names`."""
    if kind == "cdxj":
        return write_cdxj(target, found.rows())
    if names is not None:
        rows = found.rows(text=TEXT in names)
        if kind == "csv":
            return write_csv(target, rows, names)
        return write_parquet(target, rows, names) if target and kind == "parquet" else write_json(target, rows, names)
    if target and kind == "parquet":
        return RowsWritten(found.write_parquet(target), target.stat().st_size)
    return write_json(target, ({"scheme": found.scheme.id, **as_document(each)} for each in found.records()))
