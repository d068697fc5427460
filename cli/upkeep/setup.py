"""winnow setup: create what a store on OpenSearch needs, or print the requests that do."""

from __future__ import annotations

import click

from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import JsonOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.foundation.scheme_choice import SchemeChoice
from opensearch_winnow.operations.own_index.attaching import connected
from opensearch_winnow.stores.engine_index import SetupOptions, SetupReport, SetupStep
from opensearch_winnow.stores.opening import is_address


@click.command("setup", cls=DescribedCommand, short_help="Create a store on OpenSearch, or print the requests that do.")
@store_option("The store to create: http://host:9200/name.")
@declared_options(SetupOptions, "options")
@declared_options(SchemeChoice, "choice")
@declared_options(JsonOutput, "output")
def command(store: str, options: SetupOptions, choice: SchemeChoice, output: JsonOutput) -> None:
    """\b
    Examples:
      winnow setup --store http://localhost:9200/pages
      winnow setup --store http://localhost:9200/pages --shards 3 --dry-run
      winnow setup --store https://search.example.org/quotes --preset passages

    Creates what a store on OpenSearch needs. An ingest pipeline, three scripts, a search pipeline and an index template
    belong to the whole cluster. The index NAME-000001 with the alias NAME, and the index NAME.settings, hold the store.
    Existing parts stay; a store with another scheme is refused. `winnow index` does the same for a new store.

    If you lack the permission, --dry-run prints the missing requests for an administrator to send.
    """
    if not is_address(store):
        say(f"{store} is a file, which needs no setup: winnow index creates it.")
        output.prints(SetupReport(store, []))
        return
    with connected(store) as (client, address):
        from opensearch_winnow.stores.opensearch.requests.client import engine_of  # noqa: PLC0415 (needs opensearch-py)
        from opensearch_winnow.stores.opensearch.upkeep.setup import plan, set_up  # noqa: PLC0415

        engine_of(client, str(address))  # if nothing answers, the error names the whole address
        make = plan if options.dry_run else set_up
        results = make(client, address.index, choice.scheme, shards=options.shards, replicas=options.replicas)
    steps = [SetupStep(step.what, step.method, step.path, step.body, outcome) for step, outcome in results]
    if output.prints(SetupReport(str(address), steps)):
        pass
    elif options.dry_run:
        missing = [step for step, outcome in results if outcome == "missing"]
        click.echo("\n\n".join(f"# {step.what}\n{step.console_request()}" for step in missing))
    else:
        click.echo("\n".join(f"{each.outcome}\t{each.what}" for each in steps))
    if all(each.outcome == "there" for each in steps):
        say("Nothing is missing.")
    for line in dict.fromkeys(step.if_refused for step, outcome in results if outcome == "refused"):
        say(line)
    if not options.dry_run:
        next_step("index", "SOURCE")
