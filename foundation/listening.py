"""Opens the port that a server listens on."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.option_kinds import Kind, number, text
from opensearch_winnow.foundation.options import Options, option

PORT: Kind[int] = number(0, 65_535)
PORT_HELP = "Port to listen on; 0 picks a free one."


class ServeError(WinnowError):
    """The server cannot be started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenOptions(Options):
    """The options for the address that a server listens on."""

    error = ServeError

    host: str = option("127.0.0.1", text("NAME"), "Address to listen on; 0.0.0.0 is all.")
    port: int = option(0, PORT, PORT_HELP, flag="-p --port")

    @property
    def is_local(self) -> bool:
        """True if only this machine can connect to the host."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    @property
    def reachable_host(self) -> str:
        """The host to use in URLs that are opened on this machine."""
        if self.host in ("0.0.0.0", "::"):
            return socket.gethostname()
        return f"[{self.host}]" if ":" in self.host else self.host

    def listener(self) -> socket.socket:
        """Open the port."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # With the protocol named, asyncio sets TCP_NODELAY and sends data at once instead of waiting 40 ms for more.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.host, self.port))
            listener.listen()
        except OSError as error:
            listener.close()
            hint = ": --port 0 picks a free one" if self.port else ""
            raise ServeError(f"cannot listen at {self.host}:{self.port} ({error.strerror or error}){hint}") from error
        return listener
