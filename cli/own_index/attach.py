"""winnow attach: find copies in an index of your own, and keep its fingerprints up to date."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.command_group import INTERRUPTED, SOME_FAILED, CommandFailedError
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options import scheme_options as choose
from opensearch_winnow.cli.options.run_options import quiet_option
from opensearch_winnow.cli.options.store_option import STORE_VARIABLE
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.terminal import json_option, say, suggest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.operations.own_index.attaching import connected
from opensearch_winnow.stores.opening import is_address
from opensearch_winnow.stores.store import StoreError

if TYPE_CHECKING:
    from opensearch_winnow.stores.opensearch.own_index.attach import Plan
    from opensearch_winnow.stores.opensearch.own_index.backfill import AttachReport
    from opensearch_winnow.stores.opensearch.requests.client import Address

MAX_PER_SECOND = 1_000_000
FEWER_ADDRESSES = 0.97  # as a share of the pages; their number is an estimate
REPORTED = (
    *("documents", "done", "prepared", "unchanged", "no_text", "failed", "times_unread", "addresses"),
    *("refused", "made"),
)


@click.command("attach", short_help="Find copies in your index: add fingerprints to its documents.")
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
@click.option(
    "--template",
    is_flag=True,
    help="Add winnow's part to the template of an alias or data stream, so that new indices are attached as well.",
)
@click.option(
    "--pattern",
    metavar="NAMES",
    help="Names of new indices, such as 'logs-*', for --template; needed if no template fits them.",
)
@click.option(
    "--print-template", is_flag=True, help="Change nothing: print winnow's part of a template, for those who manage it."
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
    template: bool,
    pattern: str | None,
    print_template: bool,
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
      winnow attach http://localhost:9200/logs --text message --template

    Makes an index that exists a store of winnow, without moving its documents. Adds the field `winnow` to its mapping
    and to every document: fingerprints, sketches and the document's cluster. A document without text gets empty hashes,
    and a cluster of its own. Nothing else in a document changes. INDEX may be an alias of several indices, or a data
    stream. Times are read by the format of their field in the mapping; the report counts those that cannot be read.

    Afterwards the address is a store: winnow similar, search, cluster, serve, watch and stats work with it. Run
    winnow attach --update, for example from cron, after documents were added or changed. Until then, new documents are
    not found, but no answer uses the fingerprints of a text that has changed.

    New indices behind an alias or data stream are attached by the next --update, or from their first document on if
    their template has winnow's part: --template adds it, as a component template that contains nothing but a mapping,
    and --print-template prints this component. If no template fits the indices, --template makes one for --pattern. A
    template that is also for other data streams or aliases is refused, even if there are none yet: make one for INDEX
    alone, with a higher priority.

    A run that was stopped or killed continues where it was. winnow detach takes everything away again.

    Exit code 1 if some documents failed, or an index of several refuses winnow's fields: the others are done. Exit code
    2 if nothing could be done, or if winnow is detached from the index while this runs.
    """
    fields = _fields(ctx, text, title, url, time_field, html, below)
    if fields is None and not (update or follow or template or print_template or dry_run):
        raise click.UsageError("say which field holds the text, as in --text body; or --update an attached index", ctx)
    if not is_address(index):
        raise CommandFailedError(f"{index} is not an address: name an index, as in http://localhost:9200/articles")
    if pattern is not None and not template:
        raise click.UsageError("--pattern needs --template", ctx)
    with connected(index) as (client, address):
        from opensearch_winnow.stores.opensearch.own_index.attach import attach, gone, plan, stale  # noqa: PLC0415 (needs opensearch-py)
        from opensearch_winnow.stores.opensearch.own_index.attached_template import component_template, lacks_template  # noqa: PLC0415

        planned = plan(client, address, fields, scheme, template=template and not print_template, pattern=pattern)
        if print_template:
            click.echo(json.dumps(component_template(planned.attachment), indent=2))
            return
        if dry_run:
            outstanding = stale(client, address) if planned.is_attached else planned.documents
            _print_plan(address, planned, outstanding, as_json)
            return
        if not quiet:
            _say_plan(address, planned)
        for sentence in dict.fromkeys(step.if_refused for step, outcome in planned.steps if outcome == "refused"):
            say(sentence)
        if follow:
            say(f"Updating every {every:g} s. Ctrl-C stops it.")
        was_attached = planned.is_attached
        told: list[str] = []
        while True:
            try:
                with show_phases(quiet=quiet or follow, color="auto") as show:
                    report = attach(
                        client,
                        address,
                        fields,
                        scheme,
                        template=template,
                        pattern=pattern,
                        slices=slices,
                        per_second=per_second,
                        progress=show,
                    )
                if not follow:
                    break
                fields = scheme = None  # if somebody detaches it meanwhile, it is not attached again
                was_attached = True
                reasons = _reasons(report)
                for reason in reasons:
                    if reason not in told:
                        say(reason)
                if report.done or reasons != told:
                    say(_summary(report))
                told = reasons
                time.sleep(every)
            except (Stopped, KeyboardInterrupt):
                say("Stopped. What is done stays; run winnow attach --update to continue.")
                ctx.exit(INTERRUPTED)
            except StoreError as error:
                if was_attached and (reason := gone(client, address)):
                    raise CommandFailedError(reason) from error
                raise
        unattached = not (update or quiet) and lacks_template(client, address, planned.attachment)
    _print_report(address, planned, report, as_json)
    if unattached:
        say(
            f"New indices of {address.index} are attached by winnow gateway or the next winnow attach --update; with"
            " --template, from their first document on."
        )
    if report.refused:
        say(f"The other indices are done. When that is mended, run: winnow attach {address} --update")
    if report.failed or report.refused:
        ctx.exit(SOME_FAILED)
    suggest("cluster", "--store", str(address))


def _fields(
    ctx: click.Context,
    text: tuple[str, ...],
    title: str | None,
    url: str | None,
    time_field: str | None,
    html: bool,
    below: str | None,
) -> AttachedFields | None:
    if not text:
        if title or url or time_field or html or below:
            raise click.UsageError("--title, --url, --time, --html and --below need --text", ctx)
        return None
    return AttachedFields(text=text, title=title, url=url, time=time_field, html=html, below=below or "winnow")


def _print_plan(address: Address, planned: Plan, stale: int, as_json: bool) -> None:
    missing = [step for step, outcome in planned.steps if outcome == "missing"]
    if as_json:
        steps = [{"what": step.what, "method": step.method, "path": step.path, "body": step.body} for step in missing]
        unknown = planned.unknown_formats
        found = {"documents": planned.documents, "stale": stale, "unknown_formats": unknown, "steps": steps}
        click.echo(json.dumps({"store": str(address), **found, "new_indices": planned.new_indices}))
        return
    _say_plan(address, planned)
    for reason in planned.refused.values():
        say(reason)
    if missing:
        click.echo("\n\n".join(f"# {step.what}\n{step.console_request()}" for step in missing))
    if stale:
        say(f"Of the documents, up to {stale:,} get new fields, by partial updates (POST /_bulk).")
    else:
        say("No document needs new fields.")


def _say_plan(address: Address, planned: Plan) -> None:
    say(f"{address}: {count_of(planned.documents, 'document')}; {planned.attachment.fields}.")
    if unknown := planned.unknown_formats:
        say(
            f"Times in {planned.attachment.fields.time} may be written as {' or '.join(unknown)}, which winnow does not"
            " know: such times are unknown."
        )
    if new := planned.new_indices:
        name, is_stream = address.index, new["patterns"] == [address.index]
        which = f"of {name}" if is_stream else f"that fits {' or '.join(new['patterns'])}"
        part = "" if is_stream else f" as a part of {name}"
        after = new["after"]
        when = (
            f"will be attached{part}, beginning with the one after {after}"
            if after
            else f"is attached{part} by its template already"
        )
        say(f"Every new index {which} {when}.")


def _print_report(address: Address, planned: Plan, report: AttachReport, as_json: bool) -> None:
    for reason in _reasons(report):
        say(reason)
    pages = report.done + report.unchanged
    if report.addresses < pages * FEWER_ADDRESSES:
        say(
            f"They have about {report.addresses:,} addresses. Documents with the same address count as captures of one"
            " page: winnow history lists them, and winnow similar leaves them out without --all-captures."
        )
    if as_json:
        counts = {name: getattr(report, name) for name in REPORTED}
        found = {"new_indices": planned.new_indices, "seconds": report.seconds}
        click.echo(json.dumps({"store": str(address), **counts, **found}))
        return
    click.echo(_summary(report))
    for part in report.made:
        click.echo(f"made\t{part}")


def _reasons(report: AttachReport) -> list[str]:
    """Return why documents got no fields: of whole indices, then of single documents."""
    return [*report.refused.values(), *report.failures]


def _summary(report: AttachReport) -> str:
    prepared = f" ({report.prepared:,} of them had their hashes already)" if report.prepared else ""
    times = (
        f", {report.times_unread:,} with a time that cannot be read, or cannot be right" if report.times_unread else ""
    )
    return (
        f"{count_of(report.documents, 'document')}: {report.done:,} fingerprinted{prepared}, {report.unchanged:,}"
        f" unchanged, {report.no_text:,} without text, {report.failed:,} failed{times}, in {duration(report.seconds)}"
    )
