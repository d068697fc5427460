"""winnow setup: what a store on OpenSearch needs, shown or made."""

from __future__ import annotations

import json

import click

from opensearch_winnow.cli import scheme_options as choose
from opensearch_winnow.cli.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import json_option, say
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.opening import is_address


@click.command("setup", short_help="Make a store on OpenSearch, or print the requests that do.")
@store_option("The store to make: http://host:9200/name.")
@click.option("--shards", metavar="N", type=click.IntRange(1, 1024), default=1, show_default=True, help="Of its pages.")
@click.option(
    "--replicas",
    metavar="N",
    type=click.IntRange(0, 100),
    help="Copies of each shard.  [default: 1 where there is a second node for it]",
)
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset, choose.selection, optional=True)
@click.option("--dry-run", is_flag=True, help="Change nothing: print each request, for the console of Dev Tools.")
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

    Makes what a store on OpenSearch needs: an ingest pipeline, three scripts, a search pipeline and a template, which
    are of the whole cluster, and the index NAME-000001 with the alias NAME, and NAME.settings. What is there already
    stays; a store with another scheme is refused. `winnow index` does the same for a store that is not there.

    With --dry-run it prints what is missing, for somebody to send who may.
    """
    if not is_address(store):
        say(f"{store} is a file, which needs no setup: winnow index makes it.")
        if as_json:
            click.echo(json.dumps({"store": store, "steps": []}))
        return
    # opensearch-py takes a while.
    with extra("opensearch"):
        from opensearch_winnow.stores.opensearch.client import Address, connect, engine_of  # noqa: PLC0415
        from opensearch_winnow.stores.opensearch.setup import plan, set_up  # noqa: PLC0415

    address = Address.of(store)
    with connect(address) as client:
        engine_of(client, str(address))  # who does not answer is told here, with the whole address
        done = (plan if dry_run else set_up)(client, address.index, scheme, shards=shards, replicas=replicas)
    if as_json:
        steps = [{**step._asdict(), "outcome": outcome} for step, outcome in done]
        for each in steps:
            del each["looked_up"], each["everywhere"], each["without"]
        click.echo(json.dumps({"store": str(address), "steps": steps}))
    elif dry_run:
        click.echo("\n\n".join(f"# {step.what}\n{step.in_console()}" for step, outcome in done if outcome == "missing"))
    else:
        for step, outcome in done:
            click.echo(f"{outcome}\t{step.what}")
    if all(outcome == "there" for _, outcome in done):
        say("Nothing is missing.")
    for line in dict.fromkeys(step.without for step, outcome in done if outcome == "refused"):
        say(line)
    if not dry_run:
        next_step(ctx, "index", "SOURCE")
