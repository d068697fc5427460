"""Opens the port that a server listens on."""

from __future__ import annotations

import socket
from collections.abc import Callable

import click

from opensearch_winnow.foundation.errors import WinnowError


class ServeError(WinnowError):
    """The server cannot be started."""


def port_option(default: int) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """Return the option --port."""
    return click.option(
        "-p",
        "--port",
        metavar="N",
        type=click.IntRange(0, 65_535),
        default=default,
        show_default=True,
        help="Port to listen on; 0 picks a free one.",
    )


def reachable_host(host: str) -> str:
    """Return the host for a URL that this machine can open."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def listening_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY and sends data at once instead of waiting 40 ms for more.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        hint = ": --port 0 picks a free one" if port else ""
        raise ServeError(f"cannot listen at {host}:{port} ({error.strerror or error}){hint}") from error
    return listener
