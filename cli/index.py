"""winnow index: from a crawl to records."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from opensearch_winnow.cli import scheme_options as choose
from opensearch_winnow.cli.command_group import INTERRUPTED
from opensearch_winnow.cli.index_summary import as_object, say_the_rest, show_rows, show_table
from opensearch_winnow.cli.progress import shown_progress
from opensearch_winnow.cli.stopped_by_signals import stopped_by_signals
from opensearch_winnow.cli.terminal import color_option, json_option, terminal
from opensearch_winnow.ingest.bulk import CPU_SECONDS, index
from opensearch_winnow.ingest.extractors import extractor_names
from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.scheme import Scheme

SOME_FAILED = 1
# Bytes: of compressed HTML a second or two of work, and some 10 MB of records that wait for their turn.
SPLIT = 16_000_000
SMALLEST_SPLIT = 500_000
UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


class Size(click.ParamType[int]):
    """A number of bytes: 10M, 500k, 2000000."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        number, unit = value.rstrip("bB"), ""
        if number and number[-1].lower() in UNITS:
            number, unit = number[:-1], number[-1].lower()
        try:
            size = int(float(number) * UNITS[unit])
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a size such as 500k, 10M or 1G", param, ctx)
        if size < 1:
            self.fail("a page has at least 1 byte", param, ctx)
        return size


@click.command("index", short_help="From a crawl to records: every page is accounted for.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--to",
    metavar="RECORDS",
    required=True,
    type=click.Path(),
    help="Where to keep the records: a Parquet file, or a folder of them (RECORDS/), which a run adds to.",
)
@click.option("--crawl", metavar="NAME", default="", help="A name for this crawl, to tell it from others.")
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, 1024),
    default=lambda: len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    show_default="one for each processor",
    help="Processes that read and parse. The records are the same for any number.",
)
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset, choose.selection)
@click.option(
    "--extractor",
    metavar="NAME",
    default="lxml",
    show_default=True,
    shell_complete=lambda ctx, param, incomplete: [n for n in extractor_names() if n.startswith(incomplete)],  # noqa: ARG005
    help="What finds the text in HTML: lxml, beautifulsoup (lenient), trafilatura (main text only), or a plug-in.",
)
@click.option("--alt", is_flag=True, help="Take the alternative text of images as text.")
@click.option("--title", is_flag=True, help="Take the title as a part of the text. It is kept beside it in any case.")
@click.option(
    "--base-url",
    metavar="URL",
    default="",
    help="What the names of files in a folder are appended to.  [default: file://]",
)
@click.option(
    "--max-page-size",
    metavar="SIZE",
    type=Size(),
    default="10M",
    show_default=True,
    help="A page with more bytes, once decoded, fails.",
)
@click.option(
    "--max-page-seconds",
    metavar="S",
    type=click.FloatRange(0.01),
    default=CPU_SECONDS,
    show_default=True,
    help="A page that takes more CPU time fails.",
)
@click.option(
    "--failed",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to keep pages that failed, as JSON lines that are a source again.  [default: RECORDS.failed.jsonl]",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    to: str,
    crawl: str,
    workers: int,
    scheme: Scheme,
    extractor: str,
    alt: bool,
    title: bool,
    base_url: str,
    max_page_size: int,
    max_page_seconds: float,
    failed: Path | None,
    quiet: bool,
    as_json: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow index crawl.warc.gz --to records.parquet
      winnow index crawl/*.warc.gz mirror/ pages.jsonl.gz --to records/ --crawl 2026-11
      curl … | winnow index - --to records.parquet
      winnow index records.parquet.failed.jsonl --to records.parquet --max-page-seconds 60

    Reads each SOURCE, and makes a record of every page in it: its text, fingerprints and sketches. A SOURCE is a web
    archive (WARC, ARC, WET, also compressed, or WACZ), a folder of HTML or text files, JSON lines or Parquet with url
    and html or text, or - for any of these piped in; what it is shows in its content, not in its name.

    \b
    Each page ends as one of
      indexed    its record is new, or has changed
      unchanged  this capture is there already with the same content
      skipped    not a page to index: another status, type, or no text
      failed     it could not be read; kept in a file, to be tried again

    A run that was stopped goes on where it was when it is started again. Exit code 1 if pages failed or bytes of a
    source could not be read.
    """
    from opensearch_winnow.mappings.records_file import RecordWriter  # noqa: PLC0415 (Arrow, as in export)

    recipe = Recipe(scheme=scheme, crawl=crawl, extractor=extractor, alt=alt, title=title, page_bytes=max_page_size)
    RecordMaker(recipe)  # complains here about an extractor that is not there, and not in every worker
    dead_letters = failed or Path(f"{to.rstrip('/')}.failed.jsonl")
    with (
        stopped_by_signals() as stop,
        Sources(
            sources, base=base_url, every_text=scheme.form == "code", except_for=[to, str(dead_letters)]
        ) as crawled,
        RecordWriter(to, scheme) as records,
        FailedPages(dead_letters) as kept,
        shown_progress(crawled.size, quiet=quiet, color=color) as show,
    ):
        report = index(
            crawled.splits(split_size(crawled.size, workers)),
            records,
            kept,
            recipe,
            workers=workers,
            cpu_seconds=max_page_seconds,
            progress=show,
            stop=stop,
        )
        records.close()  # before what failed is kept: if that fails too, these are safe
    screen = terminal(color)
    if as_json:
        click.echo(json.dumps(as_object(report)))
    elif screen:
        show_table(screen, report)
    else:
        show_rows(report)
    say_the_rest(report, to, dead_letters)
    if report.stopped:
        ctx.exit(INTERRUPTED)
    if report.failed or report.damaged_places:
        ctx.exit(SOME_FAILED)


def split_size(total: int | None, workers: int) -> int:
    """Several splits for each worker, so that none is left with all the rest; but none so small that it costs more."""
    return SPLIT if total is None else min(max(total // (4 * workers), SMALLEST_SPLIT), SPLIT)
