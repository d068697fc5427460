"""winnow gateway: a proxy in front of an engine, which gives documents winnow's fields on their way."""

from __future__ import annotations

import asyncio
import ssl

import click

from opensearch_winnow.cli.command_group import CommandFailedError
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.listening import listening_socket, port_option, reachable_host
from opensearch_winnow.cli.server_log import start_log
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.key_file import warn_if_open_to_others

PORT = 9201


@click.command("gateway", short_help="Give documents their fields on their way to OpenSearch.")
@click.option(
    "--to",
    "address",
    metavar="http://HOST:9200",
    envvar="WINNOW_CLUSTER",
    show_envvar=True,
    required=True,
    help="Address of the cluster. Name several nodes as in http://a:9200,b:9200.",
)
@key_file_option
@click.option(
    "--host", metavar="NAME", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 is all."
)
@port_option(PORT)
@click.option("--tls-cert", metavar="FILE", type=click.Path(), help="Certificate to serve TLS with, as PEM.")
@click.option("--tls-key", metavar="FILE", type=click.Path(), help="Its private key, if it is not in the same file.")
@click.option(
    "--max-body",
    metavar="MB",
    type=click.IntRange(1, 2_000),
    default=100,
    show_default=True,
    help="Largest request whose documents get fields, as the cluster's http.max_content_length. Larger ones pass.",
)
@click.option(
    "--max-memory",
    metavar="MB",
    type=click.IntRange(1, 1_000_000),
    show_default="1,000, or 6 times --max-body if that is more",
    help="Memory for all requests together. Writes for which none is left pass without fields, and grouped searches get"
    " status 429.",
)
@click.pass_context
def command(
    ctx: click.Context,
    address: str,
    host: str,
    port: int,
    tls_cert: str | None,
    tls_key: str | None,
    max_body: int,
    max_memory: int | None,
) -> None:
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
        from opensearch_winnow.gateway.limits import MB, Limits  # noqa: PLC0415
        from opensearch_winnow.gateway.serving.checked_address import checked_address  # noqa: PLC0415
        from opensearch_winnow.gateway.serving.server import serve  # noqa: PLC0415

    if tls_key is not None and tls_cert is None:
        raise click.UsageError("--tls-key needs --tls-cert", ctx)
    tls = None if tls_cert is None else _tls(tls_cert, tls_key)
    engine, problem = checked_address(address)
    start_log("aiohttp")  # it would print a traceback for whatever is not HTTP
    limits = Limits(max_body=max_body * MB, max_memory=(max_memory or 0) * MB)
    with listening_socket(host, port) as listener:
        here = f"http{'s' if tls else ''}://{reachable_host(host)}:{listener.getsockname()[1]}"

        def ready() -> None:
            if problem:
                say(problem)
            say(f"{engine} at {here}\nCtrl-C stops the gateway.")

        asyncio.run(serve(engine, listener, ready, tls=tls, limits=limits))


def _tls(certificate: str, key: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise CommandFailedError(f"the certificate {certificate} cannot be used: {error.strerror or error}") from None
    warn_if_open_to_others(key or certificate, "private key")
    return context
