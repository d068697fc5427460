"""winnow index: read a crawl into a store, or into record files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from opensearch_winnow.cli.command_group import INTERRUPTED, NOTHING_FOUND, SOME_FAILED
from opensearch_winnow.cli.crawls.index_summary import (
    as_object,
    first_words,
    print_end,
    print_findings,
    print_notes,
    show_rows,
    show_table,
)
from opensearch_winnow.cli.options import scheme_options as choose
from opensearch_winnow.cli.options.declared_options import KindType, declared_options
from opensearch_winnow.cli.options.filter_options import TimePeriodType
from opensearch_winnow.cli.options.run_options import quiet_option
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.progress import shown_progress
from opensearch_winnow.cli.stopped_by_signals import stopped_by_signals
from opensearch_winnow.cli.terminal import color_option, json_option, say, terminal
from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.option_kinds import SIZE
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.time_period import EXAMPLES, TimePeriod
from opensearch_winnow.ingest.extractors import extractor_names
from opensearch_winnow.ingest.runs.index_splits import MAX_PAGE_SECONDS
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.sources import FOLLOW_LINKS, MAX_PIPED
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.operations.asking.notifier import Notifier
from opensearch_winnow.operations.asking.webhook import Webhook
from opensearch_winnow.operations.crawls.indexing import failed_pages_file, index_sources, open_target

Command = TypeVar("Command", bound=Callable[..., Any])


def finding_options(command: Command) -> Command:
    """Give a command --on-finding, --webhook and --webhook-private; `open_notifier` takes their values."""
    for option in (
        click.option(
            "--webhook-private",
            envvar="WINNOW_WEBHOOK_PRIVATE",
            show_envvar=True,
            is_flag=True,
            help="Allow a webhook on this machine or in a private network.",
        ),
        click.option(
            "--webhook",
            metavar="URL",
            envvar="WINNOW_WEBHOOK",
            show_envvar=True,
            help="Post the findings of watches to this address, as JSON.",
        ),
        click.option(
            "--on-finding",
            metavar="COMMAND",
            envvar="WINNOW_ON_FINDING",
            show_envvar=True,
            help="Run this command when watches find new pages. It gets the findings on stdin, one JSON object a line.",
        ),
    ):
        command = option(command)
    return command


def open_notifier(on_finding: str | None, webhook: str | None, *, private: bool) -> Notifier:
    return Notifier(on_finding or None, Webhook(webhook, private=private) if webhook else None)


@click.command("index", short_help="Read a crawl into a store; every page is accounted for.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@store_option(
    "The store to add to: a file (crawl.winnow) or http://host:9200/name. It is created if missing.", required=False
)
@click.option(
    "--to",
    metavar="RECORDS",
    type=click.Path(),
    help="Instead of a store: a Parquet file of records, or a folder of them (RECORDS/). A run adds to it.",
)
@click.option("--crawl", metavar="NAME", default="", help="A name for this crawl, to tell it from others.")
@click.option(
    "--date",
    metavar="DATE",
    type=TimePeriodType(),
    help=f"The time of pages that have none, such as files in a folder: {EXAMPLES}. Without it, indexing such a page"
    " again replaces it.",
)
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, 1024),
    show_default="one for each processor",
    help="Number of processes that read and parse. It does not change the records.",
)
@choose.scheme_options(
    choose.noise, choose.guarantee, choose.preset_by_names, choose.selection, choose.fold_confusables, optional=True
)
@click.option(
    "--extractor",
    metavar="NAME",
    shell_complete=lambda ctx, param, incomplete: [n for n in extractor_names() if n.startswith(incomplete)],  # noqa: ARG005
    help="How to find the text in HTML: lxml, beautifulsoup (lenient), trafilatura (main text only), or a plug-in."
    "  [default: lxml]",
)
@click.option("--alt/--no-alt", default=None, help="Count the alternative text of images as text.  [default: no-alt]")
@click.option(
    "--title/--no-title",
    default=None,
    help="Count the title as part of the text. It is stored in any case.  [default: no-title]",
)
@click.option(
    "--text/--no-text",
    default=None,
    help="Keep the texts. Without them, the store is smaller, but scores are estimates, and there are no passages and "
    "no search."
    "  [default: text]",
)
@declared_options(FieldNames, "fields")
@click.option(
    "--base-url",
    metavar="URL",
    default="",
    help="Put this URL before the names of files in a folder.  [default: file://]",
)
@click.option(
    FOLLOW_LINKS,
    is_flag=True,
    help="Read what symbolic links in a folder lead to, also outside of it. Without this, they are skipped.",
)
@click.option(
    MAX_PIPED,
    metavar="SIZE",
    type=KindType(SIZE),
    default="4G",
    show_default=True,
    help="Read no more than this from standard input or a named pipe, which is kept in a temporary file.",
)
@click.option(
    "--max-page-size",
    metavar="SIZE",
    type=KindType(SIZE),
    default="10M",
    show_default=True,
    help="Pages larger than this, once decoded, fail.",
)
@click.option(
    "--max-page-seconds",
    metavar="S",
    type=click.FloatRange(0.01),
    default=MAX_PAGE_SECONDS,
    show_default=True,
    help="Pages that take more CPU time than this fail.",
)
@click.option(
    "--failed",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file for failed pages: JSON lines, which can be indexed again.  "
    "[default: S.failed.jsonl, or RECORDS.failed.jsonl]",
)
@finding_options
@quiet_option
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    store: str | None,
    to: str | None,
    crawl: str,
    date: TimePeriod | None,
    workers: int | None,
    scheme: Scheme | None,
    extractor: str | None,
    alt: bool | None,
    title: bool | None,
    text: bool | None,
    fields: FieldNames,
    base_url: str,
    follow_symlinks: bool,
    max_stdin: int,
    max_page_size: int,
    max_page_seconds: float,
    failed: Path | None,
    on_finding: str | None,
    webhook: str | None,
    webhook_private: bool,
    quiet: bool,
    as_json: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow index crawl.warc.gz --store crawl.winnow
      winnow index crawl/*.warc.gz mirror/ pages.jsonl.gz --store crawl.winnow --crawl 2026-11
      winnow index stories.csv --store stories.winnow --id-field number --text-field story
      curl … | winnow index - --store crawl.winnow
      winnow index crawl.winnow.failed.jsonl --store crawl.winnow --max-page-seconds 60
      winnow index crawl.warc.gz --to records.parquet

    Reads each SOURCE and makes a record of every page in it: its text, fingerprints and sketches. A SOURCE is a web
    archive (WARC, ARC, WET, also compressed, or WACZ), a folder or zip file of HTML or text files, rows in JSON lines,
    CSV or Parquet, or - for any of these piped in. Its format is recognised by its content, not by its name.

    \b
    Of a row, the first of these fields counts that it has, unless an option names another
      address  url, uri, link, id, _id, doc_id, docid, document_id, docno, qid, uuid; else its file and place in it
      HTML     html, raw_html
      text     text, raw_content, plain_text, content, contents, body, page_content
      time     fetched_at, crawled_at, warc_date, timestamp, date
      title    title

    \b
    Each page ends as one of
      indexed    its record is new, or has changed
      unchanged  this capture is already stored, with the same content
      skipped    not a page to index: status not 200, not HTML or text, empty, or blocked by winnow delete --block
      failed     could not be read; kept in a file, to be tried again

    The first run fixes the scheme of a store. Unless an option chooses it, a folder of programs gets the preset
    programs, with which source code is read, and all else the preset pages. The first run's choices of --extractor,
    --alt, --title and --text become the defaults of later runs.

    New pages are checked against the watches of the store (winnow watch). What they find is in a log: winnow watch log.

    To continue a run that was stopped, start it again. The exit code is 1 if pages failed, bytes of a source could not
    be read, or all pages were skipped.
    """
    store, to = one_target(ctx, store, to)
    with (
        stopped_by_signals() as stop,
        open_target(store=store, to=to, scheme=scheme) as target,
        open_notifier(on_finding, webhook, private=webhook_private) as notifier,
        shown_progress(quiet=quiet, color=color) as show,
    ):
        report = index_sources(
            target,
            sources,
            workers=workers,
            base_url=base_url,
            follow_symlinks=follow_symlinks,
            max_stdin=max_stdin,
            id_field=fields.id,
            text_field=fields.text,
            html_field=fields.html,
            title_field=fields.title,
            url_field=fields.url,
            max_page_seconds=max_page_seconds,
            failed=failed,
            progress=show,
            stop=stop,
            on_findings=notifier.add,
            crawl=crawl,
            date=date and date.start,
            extractor=extractor,
            alt=alt,
            title=title,
            text=text,
            max_page_size=max_page_size,
        )
        failed = failed_pages_file(target, failed)
    screen = terminal(color)
    for line in first_words(report):
        if screen and not as_json:
            screen.echo(screen.paint(line, "bold"))
        else:
            say(line)
    if as_json:
        click.echo(json.dumps(as_object(report)))
    elif screen:
        show_table(screen, report)
    else:
        show_rows(report)
    print_notes(report, failed, crawl=crawl, date=date and date.start)
    print_findings(report, notifier.problems)
    print_end(report, target.name, next_command(report, store, to))
    if report.stopped:
        ctx.exit(INTERRUPTED)
    if report.failed or report.damaged_ranges:
        ctx.exit(SOME_FAILED)
    if report.skipped and not report.indexed + report.unchanged:
        ctx.exit(NOTHING_FOUND)


def one_target(ctx: click.Context, store: str | None, to: str | None) -> tuple[str | None, str | None]:
    """Return `store` or `to`, and None for the other. A store in the environment counts only if `to` is not given."""
    if to and ctx.get_parameter_source("store") is click.core.ParameterSource.ENVIRONMENT:
        store = None
    if to and store:
        raise click.UsageError("--store and --to both say where the records go: use only one of them", ctx)
    if not to and not store:
        raise click.UsageError("say where the records go: add --store crawl.winnow, or --to records.parquet", ctx)
    if to and to.endswith(".winnow"):
        raise click.UsageError(f"--to writes Parquet, but {to} is the name of a store: use --store {to}", ctx)
    return store or None, to or None


def next_command(report: Report, store: str | None, to: str | None) -> Sequence[str]:
    """Return the words of a command that the user may want to run next."""
    if store and report.finding_count:
        return "watch", "log", "--store", without_credentials(store)
    if store:
        return "similar", report.example_url or "URL", "--store", without_credentials(store)
    return "export", to or "", "--to", "records.jsonl"
