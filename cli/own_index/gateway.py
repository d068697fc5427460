"""winnow gateway: a proxy in front of an engine, which gives documents winnow's fields on their way."""

from __future__ import annotations

import asyncio

import click

from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.server_log import start_log
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.gateway.gateway_options import GatewayOptions


@click.command("gateway", cls=DescribedCommand, short_help="Give documents their fields on their way to OpenSearch.")
@declared_options(GatewayOptions, "options")
@key_file_option
def command(options: GatewayOptions) -> None:
    """\b
    Examples:
      winnow gateway --to http://localhost:9200
      winnow gateway --to https://a:9200,b:9200 --port 9300
      winnow gateway --to http://cluster:9200 --host 0.0.0.0 --tls-cert gateway.pem

    A proxy that speaks the API of OpenSearch and Elasticsearch. Programs that write to an index of yours use its
    address instead of the cluster's, and change nothing else: documents for an index that winnow is attached to get
    their fields on the way, a _search?winnow=group folds near-duplicates, and everything else passes as it is.

    The cluster checks the credentials of each request, and the gateway keeps none. Ctrl-C stops the gateway when the
    requests in progress are answered; a second one ends it at once.
    """
    with extra("gateway"):
        from opensearch_winnow.gateway.serving.checked_address import checked_address  # noqa: PLC0415
        from opensearch_winnow.gateway.serving.server import serve  # noqa: PLC0415

    tls = options.tls()
    engine, problem = checked_address(options.to)
    start_log("aiohttp")  # it would print a traceback for malformed HTTP
    with options.listener() as listener:
        here = f"http{'s' if tls else ''}://{options.reachable_host}:{listener.getsockname()[1]}"

        def ready() -> None:
            if problem:
                say(problem)
            say(f"{engine} at {here}\nCtrl-C stops the gateway.")

        asyncio.run(serve(engine, listener, ready, tls=tls, limits=options.limits))
