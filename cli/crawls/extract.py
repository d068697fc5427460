"""The command winnow extract: writes captures to a WARC or WACZ file, from the archives that they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.crawls.export import say_no_pages
from opensearch_winnow.cli.options.capture_options import ids_option
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunAnswerOutput
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.sources.archived_record import NOT_THERE
from opensearch_winnow.operations.crawls.extract import ENDINGS, ExtractOptions, ExtractReport


@click.command(
    "extract", cls=DescribedCommand, short_help="Write captures to a WARC or WACZ file, with or without copies."
)
@store_option()
@click.option(
    "--to", "out", metavar="OUT", required=True, help=f"The file to write: a name that ends in {', '.join(ENDINGS)}."
)
@declared_options(ExtractOptions)
@ids_option
@declared_options(RunAnswerOutput, "output")
def command(store: str, out: str, options: ExtractOptions, ids: Sequence[str] | None, output: RunAnswerOutput) -> None:
    """\b
    Examples:
      winnow extract --store crawl.winnow --to june.warc.gz --crawl june
      winnow extract --store crawl.winnow --to small.warc.gz --representatives
      winnow extract --store crawl.winnow --to press.wacz --cluster 8c1f0a7be0a44c2f9d6e5b7a31c2d4e5
      winnow extract --store crawl.winnow --to chosen.warc.gz --ids ids.txt --archives /mnt/archive

    Write the chosen captures to OUT: their records, byte by byte, from the web archives they were indexed from. The
    records of ARC files become WARC records. Captures that were not indexed from an archive are left out.

    Only pages are written: pictures, style sheets, redirects, errors and requests of the archives are not, and are
    counted. What was left out, or could not be read, is listed in OUT.left-out.csv; so are revisits of records that are
    in no archive. OUT appears when it is complete. Exits with 1 if nothing was written, if a record could not be read,
    or if a revisit was written without the record that it repeats.
    """
    options = replace(options, ids=ids)
    with Index.open(store, create=False, patient=True) as index:
        with output.progress() as progress:
            report = index.extract(out, **replace(options, progress=progress).keywords())
        if not (report.records or report.left_out or report.failed):
            unknown = index.unknown_filters(options.selection)
            say("\n".join(unknown) or f"No capture{options.words} is chosen by these options")
    if not output.prints(report):
        tell(report, out)
    end(0 if report.records and not report.failed and not report.unresolved else NOTHING_FOUND)


def tell(report: ExtractReport, out: str) -> None:
    """Print the counts of records that were written, left out or unreadable."""
    if report.records:
        revisits = f", {count_of(report.revisits, 'revisit')}" if report.revisits else ""
        originals = f" ({report.originals:,} of them only because a revisit repeats it)" if report.originals else ""
        say(f"{count_of(report.records, 'record')}{originals}{revisits}, {report.bytes:,} bytes: {out}")
    else:
        say(f"No record was written to {out}")
    for what, reasons in (("Left out", report.left_out), ("Could not be read", report.failed)):
        for reason, count in reasons.most_common():
            say(f"{what}: {count_of(count, 'capture')} ({reason})")
    if report.unresolved:
        revisits = count_of(report.unresolved, "revisit was", "revisits were")
        them = "it" if report.unresolved == 1 else "them"
        say(f"{revisits} written without the original, which is in none of the archives: a player cannot show {them}")
    if NOT_THERE in report.failed:
        say("If the archives have moved, name their folder: --archives DIR")
    if report.listed:
        say(f"They are listed in {report.listed}")
    say_no_pages(report.no_pages)
