"""winnow setup: create what a store on OpenSearch needs, or print the requests that do."""

from __future__ import annotations

import json

import click

from opensearch_winnow.cli.options import scheme_options as choose
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import json_option, say
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.opening import is_address


@click.command("setup", short_help="Create a store on OpenSearch, or print the requests that do.")
@store_option("The store to create: http://host:9200/name.")
@click.option(
    "--shards",
    metavar="N",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Number of shards of the page index.",
)
@click.option(
    "--replicas",
    metavar="N",
    type=click.IntRange(0, 100),
    help="Extra copies of each shard.  [default: 1 if the cluster has a second node]",
)
@choose.scheme_options(
    choose.noise, choose.guarantee, choose.preset, choose.selection, choose.fold_confusables, optional=True
)
@click.option("--dry-run", is_flag=True, help="Change nothing: print the missing requests, for the Dev Tools console.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    shards: int,
    replicas: int | None,
    scheme: Scheme | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """\b
    Examples:
      winnow setup --store http://localhost:9200/pages
      winnow setup --store http://localhost:9200/pages --shards 3 --dry-run
      winnow setup --store https://search.example.org/quotes --preset passages

    Creates what a store on OpenSearch needs. An ingest pipeline, three scripts, a search pipeline and an index template
    belong to the whole cluster. The index NAME-000001 with the alias NAME, and the index NAME.settings, hold the store.
    What exists already stays; a store with another scheme is refused. `winnow index` does the same for a new store.

    If you lack the permission, --dry-run prints the missing requests for an administrator to send.
    """
    if not is_address(store):
        say(f"{store} is a file, which needs no setup: winnow index creates it.")
        if as_json:
            click.echo(json.dumps({"store": store, "steps": []}))
        return
    # Imported here, because opensearch-py takes a while to load.
    with extra("opensearch"):
        from opensearch_winnow.stores.opensearch.requests.client import Address, connect, engine_of  # noqa: PLC0415
        from opensearch_winnow.stores.opensearch.upkeep.setup import plan, set_up  # noqa: PLC0415

    address = Address.of(store)
    with connect(address, patient=True) as client:
        engine_of(client, str(address))  # if nothing answers, the error names the whole address
        results = (plan if dry_run else set_up)(client, address.index, scheme, shards=shards, replicas=replicas)
    if as_json:
        steps = [{**step._asdict(), "outcome": outcome} for step, outcome in results]
        for each in steps:
            del each["check_path"], each["engine_wide"], each["if_refused"]
        click.echo(json.dumps({"store": str(address), "steps": steps}))
    elif dry_run:
        missing = [step for step, outcome in results if outcome == "missing"]
        click.echo("\n\n".join(f"# {step.what}\n{step.console_request()}" for step in missing))
    else:
        for step, outcome in results:
            click.echo(f"{outcome}\t{step.what}")
    if all(outcome == "there" for _, outcome in results):
        say("Nothing is missing.")
    for line in dict.fromkeys(step.if_refused for step, outcome in results if outcome == "refused"):
        say(line)
    if not dry_run:
        next_step(ctx, "index", "SOURCE")
