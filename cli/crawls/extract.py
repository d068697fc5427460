"""The command winnow extract: writes captures to a WARC or WACZ file, from the archives that they came from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.crawls.export_rows import say_no_pages
from opensearch_winnow.cli.options.capture_options import ChosenCaptures, capture_options
from opensearch_winnow.cli.options.run_options import overwrite_option, quiet_option
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.phase_progress import show_phases
from opensearch_winnow.cli.terminal import color_option, json_option, say
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.sources.archived_record import NOT_THERE
from opensearch_winnow.operations.crawls.extract import ENDINGS, ExtractReport


@click.command("extract", short_help="Write captures to a WARC or WACZ file, with or without copies.")
@store_option()
@click.option(
    "--to", "out", metavar="OUT", required=True, help=f"The file to write: a name that ends in {', '.join(ENDINGS)}."
)
@click.option(
    "--representatives",
    is_flag=True,
    help="Only one capture of each cluster, as the last run of winnow cluster made them. Others become revisit records"
    " if their payloads are equal; if not, they are left out and listed.",
)
@click.option("--revisits", is_flag=True, help="Write a capture with the payload of another one as a revisit record.")
@click.option(
    "--archives",
    metavar="DIR",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder to look in, with its subfolders, for archives that are no longer where they were indexed. Can be"
    " given several times.",
)
@capture_options
@overwrite_option
@quiet_option
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    out: str,
    representatives: bool,
    revisits: bool,
    archives: Sequence[Path],
    chosen: ChosenCaptures,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    color: str,
) -> None:
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
    target = Path(out)
    check_output(target, overwrite=overwrite)
    if representatives and chosen.ids is not None:
        raise click.UsageError("--ids names the captures: --representatives cannot choose among them", ctx)
    with Index.open(store, create=False, patient=True) as index, show_phases(quiet=quiet, color=color) as progress:
        if representatives and index.clustering() is None:
            raise QuestionError(f"{index.name} has no clusters yet: run winnow cluster first")
        report = index.extract(
            target,
            where=chosen.where,
            ids=chosen.ids,
            representatives=representatives,
            revisits=revisits,
            archives=archives,
            progress=progress,
        )
        if not (report.records or report.left_out or report.failed):
            say("\n".join(index.unknown_filters(chosen.where)) or f"No capture{chosen} is chosen by these options")
    if as_json:
        click.echo(json.dumps(document(report, out)))
    else:
        tell(report, out)
    ctx.exit(0 if report.records and not report.failed and not report.unresolved else NOTHING_FOUND)


def document(report: ExtractReport, out: str) -> dict[str, object]:
    return {
        "records": report.records,
        "revisits": report.revisits,
        "originals": report.originals,
        "unresolved": report.unresolved,
        "left_out": dict(report.left_out),
        "failed": dict(report.failed),
        "no_pages": dict(report.no_pages.most_common()),
        "bytes": report.bytes if report.records else 0,
        "to": out if report.records else None,
        "list": report.listed and str(report.listed),
    }


def tell(report: ExtractReport, out: str) -> None:
    """Say what was written, and what was not."""
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
