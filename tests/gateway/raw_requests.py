"""Sends requests byte by byte, as clients do that are broken, slow or hostile."""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple
from urllib.parse import urlsplit

NDJSON = {"content-type": "application/x-ndjson"}
JSON = {"content-type": "application/json"}
HEAD = b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"  # after a method and a path


class Answer(NamedTuple):
    """A whole answer, as it was sent: a status, headers with names in lower case, and the bytes of the body."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def reason(self) -> str:
        return str(self.json()["error"]["reason"])

    def __str__(self) -> str:
        """Return what the table of docs/gateway-faults.md says: the status, and the type of an error."""
        try:
            return f"{self.status} `{self.json()['error']['type']}`"
        except (ValueError, KeyError, TypeError):
            return str(self.status)


def ask(
    url: str, method: str, path: str, body: bytes | None = None, headers: dict[str, str] = JSON, timeout: float = 60
) -> Answer:
    """Send a request on a connection of its own. Raises OSError or HTTPException if there is no whole answer."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=timeout)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, names, response.read())
    finally:
        connection.close()


def outcome(*arguments: Any, **options: Any) -> str:
    """Send a request as `ask` does, and return what the table says of it."""
    try:
        return str(ask(*arguments, **options))
    except TimeoutError:
        return "nothing, until its own time limit"
    except (HTTPException, OSError):
        return "a connection that breaks"


def connected(url: str, sent: bytes = b"") -> socket.socket:
    """Return a connection on which these bytes were sent."""
    address = urlsplit(url)
    line = socket.create_connection((address.hostname, address.port), timeout=60)
    line.sendall(sent)
    return line


def raw_answer(url: str, sent: bytes, *, half_closed: bool = False) -> bytes:
    """Send bytes on a connection of its own, and return all that comes back until the other end closes."""
    with connected(url, sent) as line:
        if half_closed:
            line.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while piece := line.recv(1 << 16):
                received += piece
        except ConnectionResetError:
            pass
        return received
