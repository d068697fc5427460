"""winnow serve: the search UI and the JSON API of a store."""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
import sys
import webbrowser
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

import click

from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from starlette.applications import Starlette

PORT = 8765
SHORTEST = 8  # characters of a token


class ServeError(WinnowError):
    """A server that cannot be started."""


def check_token(_ctx: click.Context, _option: click.Parameter, token: str | None) -> str | None:
    if token is not None and not re.fullmatch(rf"[!-~]{{{SHORTEST},}}", token):
        raise click.BadParameter(f"it has {SHORTEST} characters at least: ASCII letters, digits and signs, no spaces.")
    return token


@click.command("serve", short_help="The search UI and the JSON API of a store.")
@store_option()
@click.option(
    "--host",
    metavar="NAME",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen. Where others than this machine can ask, they need a token.",
)
@click.option(
    "-p",
    "--port",
    metavar="N",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="0: any that is free.",
)
@click.option(
    "--token",
    metavar="TEXT",
    envvar="WINNOW_TOKEN",
    callback=check_token,
    show_envvar=True,
    help="What everybody has to show.  [default: a new one, where others than this machine can ask]",
)
@click.option("--write", is_flag=True, help="Let visitors change the store: watches, boilerplate, clusters.")
@click.option("-o", "--open", "open_browser", is_flag=True, help="Open it in a browser.")
@click.option("--get", metavar="PATH", help="Print the answer to one request, such as /api/v1/search?q=mill, and end.")
@click.pass_context
def command(
    ctx: click.Context,
    store: str,
    host: str,
    port: int,
    token: str | None,
    write: bool,
    open_browser: bool,
    get: str | None,
) -> None:
    """\b
    Examples:
      winnow serve --store crawl.winnow --open
      winnow serve --store http://localhost:9200/pages --port 8000
      winnow serve --store crawl.winnow --get '/api/v1/search?q=mill'
      winnow serve --store crawl.winnow --host 0.0.0.0 --token "$(openssl rand -hex 16)"

    Search with groups, pages with their near-duplicates and history, two texts side by side, a pasted text and who
    quotes it, clusters, statistics and watches: in a browser, and as JSON and CSV at the same addresses.

    It listens on this machine only, and reads only, unless it is told otherwise. Ctrl-C ends it. With --get the exit
    code is 1 if the request is refused.
    """
    # Only who serves waits for these.
    with extra("web"):
        import uvicorn  # noqa: F401, PLC0415

        from opensearch_winnow.web.app import ServerOptions, make_app  # noqa: PLC0415
        from opensearch_winnow.web.guard import LOOPBACK  # noqa: PLC0415

    with Index.open(store, create=False) as index:  # whether there is one, before anybody asks
        name = index.name
    local = is_loopback(host)
    if token is None and not local:
        token = secrets.token_urlsafe(18)
    options = ServerOptions(
        open_index=lambda: Index.open(store, create=False),
        store=name,
        may_write=write,
        token=None if get else token,
        hosts=LOOPBACK | {host.lower()} if local else None,
    )
    app = make_app(options)
    if get is not None:
        from opensearch_winnow.web.one_request import one_request  # noqa: PLC0415

        status, body = one_request(app, get)
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
        ctx.exit(0 if status < 400 else NOTHING_FOUND)
    # A signal ends it gracefully, and comes again when that is done.
    with suppress(KeyboardInterrupt), listening(host, port) as listener:
        address = f"http://{shown_host(host)}:{listener.getsockname()[1]}/"
        if token is not None:
            address += f"?token={token}"

        def ready() -> None:
            say(f"{name} at {address}\n{'Visitors may change it. ' if write else ''}Ctrl-C ends it.")
            if open_browser:
                Thread(target=webbrowser.open, args=[address], daemon=True).start()

        run(app, listener, ready)


def is_loopback(host: str) -> bool:
    """Whether only this machine can ask there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def shown_host(host: str) -> str:
    """As it stands in an address that can be opened on this machine."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once what it has, instead of waiting 40 ms for more, where the protocol is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        hint = ": --port 0 takes one that is free" if port else ""
        raise ServeError(f"cannot listen at {host}:{port} ({error.strerror or error}){hint}") from error
    return listener


def run(app: Starlette, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Until a signal ends it. `ready` is called when it answers, and a signal ends it gracefully."""
    import uvicorn  # noqa: PLC0415

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not self.should_exit:  # by a second one the index would be left open; it takes seconds at most
                super().handle_exit(sig, frame)

    config = uvicorn.Config(
        app, access_log=False, log_level="warning", server_header=False, timeout_graceful_shutdown=5
    )
    Server(config).run(sockets=[listener])
