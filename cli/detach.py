"""winnow detach: take away what winnow attach has added to an index."""

from __future__ import annotations

import json

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import INTERRUPTED, CommandFailedError
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.run_options import quiet_option
from opensearch_winnow.cli.store_option import STORE_VARIABLE
from opensearch_winnow.cli.terminal import json_option, say
from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.operations.attaching import detach
from opensearch_winnow.stores.opening import is_address


@click.command("detach", short_help="Take away what winnow attach has added to an index.")
@click.argument("index", metavar="http://HOST:9200/INDEX", envvar=STORE_VARIABLE)
@key_file_option
@quiet_option
@json_option
@click.pass_context
def command(ctx: click.Context, index: str, quiet: bool, as_json: bool) -> None:
    """\b
    Examples:
      winnow detach http://localhost:9200/articles

    Removes winnow's fields from all documents, the store's settings (watches, boilerplate, the summary of the last
    clustering), and the scripts and the search pipeline, unless another index needs them. The mapping keeps the names
    of the fields, because engines cannot remove them; they are empty.

    A run that was stopped or killed is simply started again.
    """
    if not is_address(index):
        raise CommandFailedError(f"{index} is not an address: name an index, as in http://localhost:9200/articles")
    try:
        with show_phases(quiet=quiet, color="auto") as show:
            done = detach(index, progress=show)
    except Stopped:
        say("Stopped. Run winnow detach again to remove the rest.")
        ctx.exit(INTERRUPTED)
    if as_json:
        click.echo(json.dumps({"index": without_credentials(index), **done._asdict()}))
        return
    click.echo(f"Removed winnow's fields from {count_of(done.documents, 'document')}.")
    for part in done.removed:
        click.echo(f"removed\t{part}")
    for part in done.kept:
        click.echo(f"kept\t{part}, which another index needs")
