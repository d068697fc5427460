"""winnow attach: find copies in an index of your own, and keep its fingerprints up to date."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.command_group import INTERRUPTED, SOME_FAILED, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunOutput
from opensearch_winnow.cli.options.store_option import STORE_VARIABLE
from opensearch_winnow.cli.phase_progress import Stopped
from opensearch_winnow.cli.terminal import say, suggest
from opensearch_winnow.foundation.option_kinds import FLAG, decimal
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.scheme_choice import SchemeChoice
from opensearch_winnow.operations.own_index.attaching import connected, follow, update
from opensearch_winnow.stores.attach_options import AttachOptions

if TYPE_CHECKING:
    from opensearch_winnow.stores.opensearch.own_index.attach import Plan
    from opensearch_winnow.stores.opensearch.own_index.attach_reports import AttachReport

FEWER_ADDRESSES = 0.97  # as a share of the pages; their number is an estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachRun(Options):
    """The options for the mode of the command: attach once, update again and again, or only print requests."""

    update: bool = option(False, FLAG, "Bring an attached index up to date: new and changed documents only.")
    follow: bool = option(False, FLAG, "Update again and again, until Ctrl-C.")
    every: float = option(10, decimal(1, 86_400, "SECONDS"), "Pause between two updates with --follow.", advanced=True)
    print_template: bool = option(
        False, FLAG, "Change nothing: print winnow's part of a template, to add it yourself.", advanced=True
    )
    dry_run: bool = option(False, FLAG, "Change nothing: print the missing requests, for the Dev Tools console.")


@click.command(
    "attach", cls=DescribedCommand, short_help="Find copies in your index: add fingerprints to its documents."
)
@click.argument("index", metavar="http://HOST:9200/INDEX", envvar=STORE_VARIABLE)
@declared_options(AttachOptions, "options")
@declared_options(SchemeChoice, "choice")
@key_file_option
@declared_options(AttachRun, "run")
@declared_options(RunOutput, "output")
def command(index: str, options: AttachOptions, choice: SchemeChoice, run: AttachRun, output: RunOutput) -> None:
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
    if not (options.text or options.template or run.update or run.follow or run.print_template or run.dry_run):
        raise click.UsageError("say which field holds the text, as in --text body; or --update an attached index")
    options = replace(options, scheme=choice.scheme)
    with connected(index) as (client, address):
        from opensearch_winnow.stores.opensearch.own_index.attach import plan, stale  # noqa: PLC0415 (needs opensearch-py)
        from opensearch_winnow.stores.opensearch.own_index.attached_template import component_template, lacks_template  # noqa: PLC0415

        if run.print_template:
            planned = plan(client, address, replace(options, template=False, pattern=None))
            click.echo(json.dumps(component_template(planned.attachment), indent=2))
            return
        planned = plan(client, address, options)
        if run.dry_run:
            outstanding = stale(client, address) if planned.is_attached else planned.documents
            output.show(planned.answer(outstanding), _plan_lines(planned, outstanding))
            return
        if not output.quiet:
            _say_plan(planned)
        for sentence in dict.fromkeys(step.if_refused for step, outcome in planned.steps if outcome == "refused"):
            say(sentence)
        try:
            with output.progress(quiet=run.follow) as show:
                options, is_attached = replace(options, progress=show), planned.is_attached
                if run.follow:  # until it is stopped
                    say(f"Updating every {run.every:g} s. Ctrl-C stops it.")
                    _say_news(follow(client, address, options, run.every, is_attached=is_attached))
                report = update(client, address, options, is_attached=is_attached)
        except Stopped:
            end(INTERRUPTED, "Stopped. What is done stays; run winnow attach --update to continue.")
        unattached = not (run.update or output.quiet) and lacks_template(client, address, planned.attachment)
    for reason in _reasons(report):
        say(reason)
    if report.addresses < (report.done + report.unchanged) * FEWER_ADDRESSES:
        say(
            f"They have about {report.addresses:,} addresses. Documents with the same address count as captures of one"
            " page: winnow history lists them, and winnow similar leaves them out without --all-captures."
        )
    output.show(report, [_summary(report), *(f"made\t{part}" for part in report.made)])
    if unattached:
        say(
            f"New indices of {address.index} are attached by winnow gateway or the next winnow attach --update; with"
            " --template, from their first document on."
        )
    if report.refused:
        say(f"The other indices are done. When that is fixed, run: winnow attach {address} --update")
    if report.failed or report.refused:
        end(SOME_FAILED)
    suggest("cluster", "--store", str(address))


def _say_news(reports: Iterable[AttachReport]) -> None:
    """Print the outcome of each update, and the reasons for failures that are new."""
    told: list[str] = []
    for report in reports:
        reasons = _reasons(report)
        for reason in reasons:
            if reason not in told:
                say(reason)
        if report.done or reasons != told:
            say(_summary(report))
        told = reasons


def _plan_lines(planned: Plan, stale: int) -> Iterator[str]:
    """Print the plan, and yield its requests."""
    _say_plan(planned)
    for reason in planned.refused.values():
        say(reason)
    missing = [step for step, outcome in planned.steps if outcome == "missing"]
    if missing:
        yield "\n\n".join(f"# {step.what}\n{step.console_request()}" for step in missing)
    if stale:
        say(f"Of the documents, up to {stale:,} get new fields, by partial updates (POST /_bulk).")
    else:
        say("No document needs new fields.")


def _say_plan(planned: Plan) -> None:
    fields = planned.attachment.fields
    say(f"{planned.address}: {count_of(planned.documents, 'document')}; {fields}.")
    if unknown := planned.unknown_formats:
        say(
            f"Times in {fields.time} may be written as {' or '.join(unknown)}, which winnow does not know: such times"
            " are unknown."
        )
    if new := planned.new_indices:
        name, fitting = planned.address.index, " or ".join(new.patterns)
        which, part = (f"of {name}", "") if fitting == name else (f"that fits {fitting}", f" as a part of {name}")
        when = (
            f"will be attached{part}, beginning with the one after {new.after}"
            if new.after
            else f"is attached{part} by its template already"
        )
        say(f"Every new index {which} {when}.")


def _reasons(report: AttachReport) -> list[str]:
    """Return the reasons for missing fields: of whole indices, then of single documents."""
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
