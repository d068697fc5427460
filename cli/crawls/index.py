"""winnow index: read a crawl into a store, or into record files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import click

from opensearch_winnow.cli.command_group import INTERRUPTED, NOTHING_FOUND, SOME_FAILED, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.crawls.index_summary import first_words, print_end, print_findings, print_notes, table
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunAnswerOutput
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.progress import shown_progress
from opensearch_winnow.cli.stopped_by_signals import stopped_by_signals
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.cli.typed_options import typed_unless
from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.option_kinds import FLAG, text
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.scheme_choice import SourceSchemeChoice
from opensearch_winnow.ingest.runs.report import OutcomeCount, Report
from opensearch_winnow.operations.asking.notifier import Notifier
from opensearch_winnow.operations.asking.webhook import Webhook
from opensearch_winnow.operations.crawls.destinations import destination_named
from opensearch_winnow.operations.crawls.indexing import IndexingOptions, failed_pages_file, index_sources


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingOptions(Options):
    """The command and the webhook that receive the findings of watches."""

    on_finding: str | None = option(
        None,
        text("COMMAND", 10_000),
        "Run this command when watches find new pages. It gets the findings on stdin, one JSON object a line.",
        variable="WINNOW_ON_FINDING",
        advanced=True,
    )
    webhook: str | None = option(
        None,
        text("URL", 2_000),
        "Post the findings of watches to this address, as JSON.",
        variable="WINNOW_WEBHOOK",
        advanced=True,
    )
    webhook_private: bool = option(
        False,
        FLAG,
        "Allow a webhook on this machine or in a private network.",
        variable="WINNOW_WEBHOOK_PRIVATE",
        advanced=True,
    )

    def notifier(self) -> Notifier:
        webhook = Webhook(self.webhook, private=self.webhook_private) if self.webhook else None
        return Notifier(self.on_finding or None, webhook)


@click.command("index", cls=DescribedCommand, short_help="Read a crawl into a store; every page is accounted for.")
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
@declared_options(IndexingOptions, "options")
@declared_options(SourceSchemeChoice, "choice")
@declared_options(FindingOptions, "findings")
@declared_options(RunAnswerOutput, "output")
def command(
    sources: tuple[str, ...],
    store: str | None,
    to: str | None,
    choice: SourceSchemeChoice,
    options: IndexingOptions,
    findings: FindingOptions,
    output: RunAnswerOutput,
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
    Of each row, the first of these fields that it has is read, unless an option names another
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
    programs, which reads source code, and any other source the preset pages. The first run's choices of --extractor,
    --alt, --title and --text become the defaults of later runs.

    New pages are checked against the watches of the store (winnow watch). Findings are in a log: winnow watch log.

    To continue a run that was stopped, start it again. The exit code is 1 if pages failed, bytes of a source could not
    be read, or all pages were skipped.
    """
    store, to = one_target(store, to)
    with (
        stopped_by_signals() as stop,
        destination_named(store=store, to=to, scheme=choice.scheme) as destination,
        findings.notifier() as notifier,
        shown_progress(quiet=output.quiet, color=output.color) as show,
    ):
        options = replace(options, progress=show, stop=stop, on_findings=notifier.add)
        report = index_sources(destination, sources, options)
        failed = failed_pages_file(destination, options.failed)
    for line in first_words(report):
        if screen := output.screen:
            screen.echo(screen.paint(line, "bold"))
        else:
            say(line)
    output.show(report, lambda _: table(report), OutcomeCount, report.rows())
    print_notes(report, failed, options)
    print_findings(report, notifier.problems)
    print_end(report, destination.name, next_command(report, store, to))
    if report.stopped:
        end(INTERRUPTED)
    if report.failed or report.damaged_ranges:
        end(SOME_FAILED)
    if report.skipped and not report.indexed + report.unchanged:
        end(NOTHING_FOUND)


def one_target(store: str | None, to: str | None) -> tuple[str | None, str | None]:
    """Return `store` or `to`, and None for the other. A store in the environment counts only if `to` is not given."""
    store = typed_unless(store, to)
    if to and store:
        raise click.UsageError("--store and --to both say where the records go: use only one of them")
    if not to and not store:
        raise click.UsageError("say where the records go: add --store crawl.winnow, or --to records.parquet")
    if to and to.endswith(".winnow"):
        raise click.UsageError(f"--to writes Parquet, but {to} is the name of a store: use --store {to}")
    return store or None, to or None


def next_command(report: Report, store: str | None, to: str | None) -> Sequence[str]:
    """Return the words of a command that the user may want to run next."""
    if store and report.finding_count:
        return "watch", "log", "--store", without_credentials(store)
    if store:
        return "similar", report.example_url or "URL", "--store", without_credentials(store)
    return "export", to or "", "--to", "records.jsonl"
