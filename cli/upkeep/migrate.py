"""winnow migrate: move a store on OpenSearch to a new index while it is in use."""

from __future__ import annotations

import click

from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import JsonOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.cli.upkeep.engine_progress import showing_steps
from opensearch_winnow.operations.own_index.attaching import connected
from opensearch_winnow.stores.engine_index import MigratedStore, MigrationOptions
from opensearch_winnow.stores.opening import is_address


@click.command(
    "migrate", cls=DescribedCommand, short_help="Move a store on OpenSearch to a new index while it is in use."
)
@store_option("The store: http://host:9200/name.")
@declared_options(MigrationOptions, "options")
@declared_options(JsonOutput, "output")
def command(store: str, options: MigrationOptions, output: JsonOutput) -> None:
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
        output.prints(MigratedStore(store, None))
        return
    with connected(store) as (client, address), showing_steps() as show:
        from opensearch_winnow.stores.opensearch.requests.client import engine_of  # noqa: PLC0415 (needs opensearch-py)
        from opensearch_winnow.stores.opensearch.upkeep.migrate import migrate  # noqa: PLC0415

        engine_of(client, str(address))  # if nothing answers, the error names the whole address
        done = migrate(client, address.index, progress=show, **options.keywords())
    if output.prints(MigratedStore(str(address), done)):
        return
    click.echo(f"{address.index} is on {done.new} now: {done.pages:,} pages, copied in {done.seconds:.1f} s.")
    click.echo(f"Writers waited for {done.waited:.1f} s.")
    click.echo(f"{done.old} is {'deleted' if done.old_deleted else 'kept, and closed to writes'}.")
