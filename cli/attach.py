"""winnow attach: find copies in an index of your own, and keep its fingerprints up to date."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from opensearch_winnow.answers.formatting import duration
from opensearch_winnow.cli import scheme_options as choose
from opensearch_winnow.cli.command_group import INTERRUPTED, NOTHING_FOUND, CommandFailedError
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.run_options import quiet_option
from opensearch_winnow.cli.store_option import STORE_VARIABLE
from opensearch_winnow.cli.terminal import json_option, say, suggest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.own_fields import OwnFields
from opensearch_winnow.operations.attaching import connected
from opensearch_winnow.stores.opening import is_address

if TYPE_CHECKING:
    from opensearch_winnow.stores.opensearch.attach import Plan
    from opensearch_winnow.stores.opensearch.backfill import AttachReport
    from opensearch_winnow.stores.opensearch.client import Address

MAX_PER_SECOND = 1_000_000
FEWER_ADDRESSES = 0.97  # as a share of the pages; their number is an estimate
REPORTED = ("documents", "done", "prepared", "unchanged", "no_text", "failed", "addresses")


@click.command("attach", short_help="Find copies in an index of your own: add fingerprints to its documents.")
@click.argument("index", metavar="http://HOST:9200/INDEX", envvar=STORE_VARIABLE)
@key_file_option
@click.option(
    "--text", metavar="FIELD", multiple=True, help="Field with the text. Several are joined; may be repeated."
)
@click.option("--title", metavar="FIELD", help="Field with the title.")
@click.option("--url", metavar="FIELD", help="Field with the address of a page.  [default: the _id]")
@click.option("--time", "time_field", metavar="FIELD", help="Field with the time of a page.")
@click.option("--html", is_flag=True, help="The text is HTML; fingerprint the visible text.")
@click.option("--below", metavar="NAME", help="Name of the object field that gets winnow's fields.  [default: winnow]")
@choose.scheme_options(
    choose.noise, choose.guarantee, choose.preset, choose.selection, choose.fold_confusables, optional=True
)
@click.option("--update", is_flag=True, help="Bring an attached index up to date: new and changed documents only.")
@click.option("--follow", is_flag=True, help="Update again and again, until Ctrl-C.")
@click.option(
    "--every",
    metavar="SECONDS",
    type=click.FloatRange(1, 86_400),
    default=10,
    show_default=True,
    help="Pause between two updates with --follow.",
)
@click.option(
    "--slices",
    metavar="N",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Slices of the index to work on at the same time.",
)
@click.option(
    "--per-second",
    metavar="N",
    type=click.FloatRange(0, MAX_PER_SECOND, min_open=True),
    help="Write at most N documents a second, to leave the cluster time for others.",
)
@click.option("--dry-run", is_flag=True, help="Change nothing: print the missing requests, for the Dev Tools console.")
@quiet_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    index: str,
    text: tuple[str, ...],
    title: str | None,
    url: str | None,
    time_field: str | None,
    html: bool,
    below: str | None,
    scheme: Scheme | None,
    update: bool,
    follow: bool,
    every: float,
    slices: int,
    per_second: float | None,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """\b
    Examples:
      winnow attach http://localhost:9200/articles --text body --title headline
      winnow attach http://localhost:9200/articles --text body --url link --dry-run
      winnow attach http://localhost:9200/articles --text intro --text body --per-second 200
      winnow attach http://localhost:9200/articles --update
      winnow attach http://localhost:9200/articles --update --follow

    Makes an index that exists a store of winnow, without moving its documents. Adds the field `winnow` to its mapping
    and to every document that has a text: fingerprints, sketches and the document's cluster. Nothing else in a document
    changes. INDEX may be an alias of several indices, or a data stream.

    Afterwards the address is a store: winnow similar, search, cluster, serve, watch and stats work with it. Run
    winnow attach --update, for example from cron, after documents were added or changed. Until then, new documents are
    not found, but no answer uses the fingerprints of a text that has changed.

    A run that was stopped or killed continues where it was. winnow detach takes everything away again.

    Exit code 1 if some documents failed.
    """
    fields = _fields(ctx, text, title, url, time_field, html, below)
    if fields is None and not (update or follow):
        raise click.UsageError("say which field holds the text, as in --text body; or --update an attached index", ctx)
    if not is_address(index):
        raise CommandFailedError(f"{index} is not an address: name an index, as in http://localhost:9200/articles")
    with connected(index) as (client, address):
        from opensearch_winnow.stores.opensearch.attach import attach, plan, stale  # noqa: PLC0415 (needs opensearch-py)

        planned = plan(client, address, fields, scheme)
        if dry_run:
            outstanding = stale(client, address) if planned.is_attached else planned.documents
            _print_plan(address, planned, outstanding, as_json)
            return
        if not quiet:
            say(f"{address}: {planned.documents:,} documents; {planned.attachment.fields}.")
        for sentence in dict.fromkeys(step.if_refused for step, outcome in planned.steps if outcome == "refused"):
            say(sentence)
        if follow:
            say(f"Updating every {every:g} s. Ctrl-C stops it.")
        while True:
            try:
                with show_phases(quiet=quiet or follow, color="auto") as show:
                    report = attach(
                        client, address, fields, scheme, slices=slices, per_second=per_second, progress=show
                    )
                if not follow:
                    break
                if report.done or report.failed:
                    say(_summary(report))
                time.sleep(every)
            except (Stopped, KeyboardInterrupt):
                say("Stopped. What is done stays; run winnow attach --update to continue.")
                ctx.exit(INTERRUPTED)
    _print_report(address, report, as_json)
    if report.failed:
        ctx.exit(NOTHING_FOUND)
    suggest("cluster", "--store", str(address))


def _fields(
    ctx: click.Context,
    text: tuple[str, ...],
    title: str | None,
    url: str | None,
    time_field: str | None,
    html: bool,
    below: str | None,
) -> OwnFields | None:
    if not text:
        if title or url or time_field or html or below:
            raise click.UsageError("--title, --url, --time, --html and --below need --text", ctx)
        return None
    return OwnFields(text=text, title=title, url=url, time=time_field, html=html, below=below or "winnow")


def _print_plan(address: Address, planned: Plan, stale: int, as_json: bool) -> None:
    missing = [step for step, outcome in planned.steps if outcome == "missing"]
    if as_json:
        steps = [{"what": step.what, "method": step.method, "path": step.path, "body": step.body} for step in missing]
        found = {"documents": planned.documents, "stale": stale, "steps": steps}
        click.echo(json.dumps({"store": str(address), **found}))
        return
    say(f"{address}: {planned.documents:,} documents; {planned.attachment.fields}.")
    if missing:
        click.echo("\n\n".join(f"# {step.what}\n{step.console_request()}" for step in missing))
    say(f"Of the documents, up to {stale:,} get new fields, by partial updates (POST /_bulk).")


def _print_report(address: Address, report: AttachReport, as_json: bool) -> None:
    for failure in report.failures:
        say(failure)
    pages = report.done + report.unchanged
    if report.addresses < pages * FEWER_ADDRESSES:
        say(
            f"They have about {report.addresses:,} addresses. Documents with the same address count as captures of one"
            " page: winnow history lists them, and winnow similar leaves them out without --all-captures."
        )
    if as_json:
        counts = {name: getattr(report, name) for name in REPORTED}
        click.echo(json.dumps({"store": str(address), **counts, "seconds": report.seconds}))
    else:
        click.echo(_summary(report))


def _summary(report: AttachReport) -> str:
    prepared = f" ({report.prepared:,} of them had their hashes already)" if report.prepared else ""
    return (
        f"{report.documents:,} documents: {report.done:,} fingerprinted{prepared}, {report.unchanged:,} unchanged,"
        f" {report.no_text:,} without text, {report.failed:,} failed, in {duration(report.seconds)}"
    )
