"""The command winnow export: writes a store, or record files, to one record file or to JSON lines."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO, cast

import click

from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.export_source import FiledRecords, StoredRecords
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import json_option, say
from opensearch_winnow.mappings.record import Record, RecordsError, as_document
from opensearch_winnow.record_files.atomic_file import AtomicFile, reporting_os_errors
from opensearch_winnow.stores.opening import open_store

STDOUT = "-"
ENDINGS = (".parquet", ".jsonl", ".jsonl.gz")


@click.command("export", short_help="Write a store or record files to one file, or to JSON lines.")
@click.argument("records", nargs=-1, type=click.Path())
@store_option("The store to export, instead of RECORDS: a file (crawl.winnow).", required=False)
@click.option(
    "--to",
    "out",
    metavar="OUT",
    required=True,
    help="The file to write, which ends in .parquet, .jsonl or .jsonl.gz; - is stdout.",
)
@click.option("--crawl", metavar="NAME", help="Only the records of this crawl.")
@click.option("--site", metavar="HOST", help="Only the records of this site.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    records: tuple[str, ...],
    store: str | None,
    out: str,
    crawl: str | None,
    site: str | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """\b
    Examples:
      winnow export --store crawl.winnow --to crawl.parquet
      winnow export monday.parquet tuesday.parquet --to week.parquet
      winnow export crawl/ --to example.jsonl.gz --site example.org
      winnow export crawl.parquet --to - | jq -r .url

    Writes a store, or RECORDS (record files or folders of them), to one record file (.parquet) or to JSON lines, one
    document per record (.jsonl, .jsonl.gz, or - for stdout). If several RECORDS have the same id (one URL, fetched at
    one time), the one in the later file counts.

    OUT appears when it is complete. Exit code 1 if no record matches; then nothing is written.
    """
    start = time.monotonic()
    if out != STDOUT and not out.endswith(ENDINGS):
        raise click.UsageError(f"--to {out}: a name that ends in {' or '.join(ENDINGS)}, or -, says what to write", ctx)
    if out == STDOUT and as_json:
        raise click.UsageError("--to - and --json both want stdout: name a file", ctx)
    if records and ctx.get_parameter_source("store") is click.core.ParameterSource.ENVIRONMENT:
        store = None
    if bool(records) == bool(store):
        raise click.UsageError("what to export? Name record files, or --store crawl.winnow: one of both", ctx)
    target = None if out == STDOUT else Path(out)
    wanted = (crawl, site and site.lower())
    with open_store(store, patient=True) if store else nullcontext() as opened:
        found = StoredRecords(opened, *wanted) if opened else FiledRecords(records, *wanted)
        if target:
            check(target, records, found.files, overwrite=overwrite)
        count, size = found.count(), 0
        if not count:
            name = opened.name if opened else ", ".join(records)
            say(f"No record{of_these(crawl, site)} in {name}; nothing was written")
        elif target is None:
            count, size = write_lines(sys.stdout.buffer, found.records(), found.scheme.id)
        elif out.endswith(".parquet"):
            count = found.write_parquet(target)
            size = target.stat().st_size
        else:
            count, size = write_json_lines(target, found.records(), found.scheme.id)
    seconds = round(time.monotonic() - start, 3)
    if as_json:
        click.echo(json.dumps({"records": count, "bytes": size, "seconds": seconds, "to": out}))
    elif count:
        say(f"{count:,} record{'s' * (count > 1)}, {size:,} bytes{'' if out == STDOUT else f': {out}'}")
    ctx.exit(0 if count else NOTHING_FOUND)


def check(out: Path, inputs: Sequence[str], files: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse to overwrite a file without `overwrite`, and an input in any case."""
    if out.is_dir():
        raise RecordsError(f"{out} is a folder; name a file")
    if out.exists() and any(file.exists() and out.samefile(file) for file in files):
        raise RecordsError(f"--to {out} would overwrite one of the inputs; name another file")
    folders = [Path(name) for name in inputs if Path(name).is_dir()]
    if out.parent.exists() and any(out.parent.samefile(folder) for folder in folders):
        raise RecordsError(f"--to {out} would become a part of one of the inputs; name a file in another folder")
    if out.exists() and not overwrite:
        raise RecordsError(f"{out} exists; name another file, or add --overwrite to replace it")


def of_these(crawl: str | None, site: str | None) -> str:
    return (f" of crawl {crawl}" if crawl is not None else "") + (f" of site {site}" if site is not None else "")


def write_json_lines(out: Path, records: Iterator[Record], scheme: str) -> tuple[int, int]:
    """Write `records` to the file `out`, and return how many there are and the bytes of the file."""
    with reporting_os_errors(out):
        atomic = AtomicFile(out)
        try:
            with atomic.path.open("wb") as file:
                if out.suffix == ".gz":
                    # Without a name and a time in it: the same records are the same bytes.
                    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                        count, _ = write_lines(cast(BinaryIO, packed), records, scheme)
                else:
                    count, _ = write_lines(file, records, scheme)
                size = file.tell()
            atomic.place()
        finally:
            atomic.discard()
    return count, size


def write_lines(file: BinaryIO, records: Iterator[Record], scheme: str) -> tuple[int, int]:
    """Write a line of JSON for each record, with its scheme; return how many records and bytes."""
    escaped = file.isatty()  # control characters beyond ASCII would act on a terminal
    count, size = 0, 0
    for record in records:
        line = json.dumps({"scheme": scheme, **as_document(record)}, ensure_ascii=escaped)
        size += file.write(f"{line}\n".encode())
        count += 1
    return count, size
