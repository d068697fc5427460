"""winnow migrate: move a store on OpenSearch to a new index while it is in use."""

from __future__ import annotations

import json

import click

from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.terminal import json_option, say
from opensearch_winnow.cli.upkeep.engine_progress import showing_steps
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.stores.opening import is_address


@click.command("migrate", short_help="Move a store on OpenSearch to a new index while it is in use.")
@store_option("The store: http://host:9200/name.")
@click.option(
    "--shards", metavar="N", type=click.IntRange(1, 1024), help="Shards of the new index.  [default: as the old one]"
)
@click.option(
    "--replicas",
    metavar="N",
    type=click.IntRange(0, 100),
    help="Extra copies of each shard of the new index.  [default: as the old one]",
)
@click.option("--delete-old", is_flag=True, help="Delete the old index afterwards. Scans that still read it fail.")
@json_option
def command(store: str, shards: int | None, replicas: int | None, delete_old: bool, as_json: bool) -> None:
    """\b
    Examples:
      winnow migrate --store http://localhost:9200/pages
      winnow migrate --store http://localhost:9200/pages --shards 6 --delete-old

    Copies all pages to a new index, such as NAME-000002, with the mapping of this version, and then points the alias
    NAME to it. Readers notice nothing; writers wait for a moment at the end. The old index is kept, closed to writes.

    A migration that was stopped or killed has changed nothing: start it again.
    """
    if not is_address(store):
        say(f"{store} is a file, which needs no migration: it is brought up to date when it is opened.")
        if as_json:
            click.echo(json.dumps({"store": store, "old": None, "new": None}))
        return
    # Imported here, because opensearch-py takes a while to load.
    with extra("opensearch"):
        from opensearch_winnow.stores.opensearch.requests.client import Address, connect, engine_of  # noqa: PLC0415
        from opensearch_winnow.stores.opensearch.upkeep.migrate import migrate  # noqa: PLC0415

    address = Address.of(store)
    with connect(address, patient=True) as client, showing_steps() as show:
        engine_of(client, str(address))  # if nothing answers, the error names the whole address
        done = migrate(client, address.index, shards=shards, replicas=replicas, delete_old=delete_old, progress=show)
    if as_json:
        click.echo(json.dumps({"store": str(address), **done._asdict()}))
        return
    click.echo(f"{address.index} is on {done.new} now: {done.pages:,} pages, copied in {done.seconds:.1f} s.")
    click.echo(f"Writers waited for {done.waited:.1f} s.")
    click.echo(f"{done.old} is {'deleted' if done.old_deleted else 'kept, and closed to writes'}.")
