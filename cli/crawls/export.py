"""The command winnow export: writes a store, or record files, to a record file, JSON lines, CSV or CDXJ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import JsonOutput
from opensearch_winnow.cli.options.capture_options import ids_option
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.cli.typed_options import typed_unless
from opensearch_winnow.index import Index
from opensearch_winnow.operations.crawls.export import STDOUT, ExportOptions, ExportReport, export
from opensearch_winnow.operations.crawls.export_rows import RowsWritten
from opensearch_winnow.operations.crawls.export_source import FiledRecords

MAX_REASONS = 5  # that are listed


@click.command(
    "export", cls=DescribedCommand, short_help="Write a store or records as Parquet, JSON lines, CSV or CDXJ."
)
@click.argument("records", nargs=-1, type=click.Path())
@store_option("The store to export, instead of RECORDS: a file (crawl.winnow).", required=False)
@click.option("--to", "out", metavar="OUT", required=True, help="The file to write; - is stdout.")
@declared_options(ExportOptions)
@ids_option
@declared_options(JsonOutput, "output")
def command(
    records: tuple[str, ...],
    store: str | None,
    out: str,
    options: ExportOptions,
    ids: Sequence[str] | None,
    output: JsonOutput,
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
    options = replace(options, ids=ids)
    options.format_of(out)  # raises an error for an unknown format before anything is read
    if out == STDOUT and output.json:
        raise click.UsageError("--to - and --json both want stdout: name a file")
    store = typed_unless(store, records)
    if store and not records:
        with Index.open(store, create=False, patient=True) as index:
            report = index.export(out, **options.keywords())
    elif records and not store:
        source = FiledRecords(records, options, representatives=options.representatives)
        if out != STDOUT:
            check_files({"--to": out}, [*map(Path, records), *source.files])
        report = export(source, out, options)
    else:
        raise click.UsageError("name what to export: either record files, or --store crawl.winnow")
    if not output.prints(report) and report.records:
        to = "" if out == STDOUT else f": {out}"
        say(f"{count_of(report.records, 'record')}, {report.bytes:,} bytes{to}")
    say_left_out(report)
    say_no_pages(report.no_pages)
    if not report.records:
        say(f"No record{options.words} in {store or ', '.join(records)}; nothing was written")
    end(0 if report.records else NOTHING_FOUND)


def say_no_pages(no_pages: Mapping[str, int]) -> None:
    """Say how many records of the archives are left out because they are not pages."""
    if no_pages:
        listed = [f"{reason} {count:,}" for reason, count in Counter(no_pages).most_common(MAX_REASONS)]
        if others := len(no_pages) - len(listed):
            listed.append(count_of(others, "other reason"))
        records = count_of(sum(no_pages.values()), "other record")
        say(f"It has only pages. {records} of these archives, besides requests, are left out: {' · '.join(listed)}")


def say_left_out(written: ExportReport | RowsWritten) -> None:
    """Say how many captures an index of archives leaves out, and why; warn of ambiguous names of archives."""
    for reason, count in Counter(written.left_out).most_common():
        say(f"{count_of(count, 'capture')} left out: {reason}")
    if written.ambiguous:
        say(
            "An index names archives without their folders, and several are called"
            f" {Path(written.ambiguous).name}, such as {written.ambiguous}: a player may open the wrong one"
        )
