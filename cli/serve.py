"""winnow serve: serve the search UI and the JSON API of a store."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import re
import secrets
import socket
import sys
import webbrowser
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from opensearch_winnow.answers.display_text import UNSAFE, printable
from opensearch_winnow.cli.command_group import CANNOT_BE_DONE, NOTHING_FOUND
from opensearch_winnow.cli.listening import listening_socket, port_option, reachable_host
from opensearch_winnow.cli.options import scheme_options as choose
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.server_log import start_log
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from starlette.applications import Starlette

    from opensearch_winnow.web.app import ServerOptions

PORT = 8765
MIN_TOKEN_CHARS = 8
GRACE_SECONDS = 3  # for questions in progress when the server is stopped


def check_token(_ctx: click.Context, _option: click.Parameter, token: str | None) -> str | None:
    if token is not None and not re.fullmatch(rf"[!-~]{{{MIN_TOKEN_CHARS},}}", token):
        raise click.BadParameter(
            f"use at least {MIN_TOKEN_CHARS} characters: ASCII letters, digits and punctuation, no spaces."
        )
    return token


@click.command("serve", short_help="Serve the search UI and the JSON API of a store.")
@store_option(required=False)
@click.option(
    "--stateless",
    is_flag=True,
    help="Serve no store: only POST /api/v1/fields and POST /api/v1/compare, with the scheme that the options choose.",
)
@choose.scheme_options(
    choose.noise, choose.guarantee, choose.preset, choose.selection, choose.fold_confusables, optional=True
)
@click.option(
    "--host",
    metavar="NAME",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. If other machines can reach it, a token is required.",
)
@port_option(PORT)
@click.option(
    "--token",
    metavar="TEXT",
    envvar="WINNOW_TOKEN",
    callback=check_token,
    show_envvar=True,
    help="Secret that every visitor needs.  [default: a random one, if other machines can reach the server]",
)
@click.option(
    "--max-seconds",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    default=30,
    show_default=True,
    help="Compare pages for at most S seconds per question, then show what was found until then.",
)
@click.option("--write", is_flag=True, help="Let visitors change the store: watches, boilerplate, clusters.")
@click.option("-o", "--open", "open_browser", is_flag=True, help="Open the search UI in a browser.")
@click.option(
    "--get", metavar="PATH", help="Print the answer to one request, such as /api/v1/search?words=mill, and exit."
)
@click.pass_context
def command(
    ctx: click.Context,
    store: str | None,
    stateless: bool,
    scheme: Scheme | None,
    host: str,
    port: int,
    token: str | None,
    max_seconds: float,
    write: bool,
    open_browser: bool,
    get: str | None,
) -> None:
    """\b
    Examples:
      winnow serve --store crawl.winnow --open
      winnow serve --store http://localhost:9200/pages --port 8000
      winnow serve --store crawl.winnow --get '/api/v1/search?words=mill'
      winnow serve --store crawl.winnow --host 0.0.0.0 --token "$(openssl rand -hex 16)"
      winnow serve --stateless --preset passages

    Serves grouped search results, pages with their near-duplicates and history, two texts side by side, pages that
    quote a pasted text, clusters, statistics and watches: in a browser, and as JSON and CSV at the same addresses.

    With --stateless, it only computes: fields for documents of an index of your own, and comparisons of texts that are
    sent. Nothing is kept.

    By default only this machine can connect, and visitors cannot change the store. Ctrl-C stops the server; a second
    one ends it at once. With --get, the exit code is 1 if the request is refused, and 2 if the store cannot answer it.
    """
    # Imported here, because they are slow to load.
    with extra("web"):
        import uvicorn  # noqa: F401, PLC0415

        from opensearch_winnow.web.app import ServerOptions, make_app, make_stateless_app  # noqa: PLC0415
        from opensearch_winnow.web.served import ServedStore  # noqa: PLC0415
        from opensearch_winnow.web.serving.guard import LOOPBACK  # noqa: PLC0415

    make: Callable[[ServerOptions], Starlette]
    name = ""
    if stateless:
        check_stateless(ctx)
        make = partial(make_stateless_app, with_key(scheme or Scheme()))
    elif store is None:
        raise click.UsageError("name the store with --store, or add --stateless to serve none", ctx)
    elif scheme is not None:
        raise click.UsageError("a store has its scheme: --preset and the like are for --stateless", ctx)
    else:
        with Index.open(store, create=False) as index:  # fails now if there is no store, not at the first request
            name = index.name
        make = partial(make_app, ServedStore.named(store))
    local = is_loopback(host)
    shown = "…"  # a token that somebody has chosen is not printed: what is printed often ends in a log
    if token is None and not local:
        token = shown = secrets.token_urlsafe(18)
    options = ServerOptions(
        may_write=write,
        token=None if get else token,
        max_seconds=max_seconds,
        hosts=LOOPBACK | {host.lower()} if local else None,
    )
    app = make(options)
    if get is not None:
        from opensearch_winnow.web.one_request import one_request  # noqa: PLC0415

        status, body = one_request(app, get)
        if sys.stdout.isatty():
            sys.stdout.write(for_terminal(body))
        else:
            sys.stdout.buffer.write(body)
            sys.stdout.buffer.flush()
        ctx.exit(0 if status < 400 else NOTHING_FOUND if status < 500 else CANNOT_BE_DONE)
    # A signal shuts the server down gracefully, and is raised again after that.
    with suppress(KeyboardInterrupt), listening_socket(host, port) as listener:
        address = f"http://{reachable_host(host)}:{listener.getsockname()[1]}/"
        with_token = address if token is None else f"{address}?token={shown}"

        def ready() -> None:
            what = "Fields and comparisons, without a store," if stateless else name
            say(f"{what} at {with_token}\n{'Visitors may change it. ' if write else ''}Ctrl-C stops the server.")
            if open_browser:
                opened = address if token is None else f"{address}?token={quote(token, safe='')}"
                Thread(target=webbrowser.open, args=[opened], daemon=True).start()

        run(app, listener, ready)


def check_stateless(ctx: click.Context) -> None:
    """Refuse the options of a server with a store."""
    if ctx.get_parameter_source("store") is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--stateless serves no store: leave out --store", ctx)
    for option in ("write", "open_browser"):
        if ctx.params[option]:
            raise click.UsageError(f"--stateless has no store and no screens: leave out --{option.split('_')[0]}", ctx)


def for_terminal(body: bytes) -> str:
    """Return an answer with its control characters made visible; in JSON, escaped."""
    text = body.decode("utf-8", "replace")
    if text.startswith("{"):
        return UNSAFE.sub(lambda unsafe: json.dumps(unsafe[0])[1:-1], text)
    return printable(text.replace("\r\n", "\n"))


def is_loopback(host: str) -> bool:
    """Return whether only this machine can connect to `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def run(app: Starlette, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Run the server until a signal shuts it down gracefully. Calls `ready` when the server accepts requests."""
    from opensearch_winnow.web.serving.server import AdmittingServer  # noqa: PLC0415

    class Server(AdmittingServer):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().call_later(GRACE_SECONDS, app.state.cancel_questions)
            await super().shutdown(sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if self.should_exit:  # the second signal; every write to a store survives this
                os._exit(128 + sig)
            super().handle_exit(sig, frame)

    start_log("opensearch")  # its client would print a line for each page that is not there
    server = Server(
        app,
        listener,
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS + 2,
    )
    server.run()
