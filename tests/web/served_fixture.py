"""Runs the real `winnow serve` in a process of its own."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp

WINNOW = Path(sys.executable).with_name("winnow")
TIMEOUT_SECONDS = 60  # enough for a busy machine


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]  # by their names in small letters
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Asking:
    """Sends requests to a server on this machine."""

    address: str  # http://127.0.0.1:PORT

    def url(self, path: str) -> str:
        return self.address + path

    def get(self, path: str, method: str = "GET", **headers: str) -> Reply:
        return self.send(path, None, method=method, **headers)

    def send(self, path: str, body: bytes | Iterable[bytes] | None, method: str = "POST", **headers: str) -> Reply:
        """Send one request on its own connection, without following redirects. `_` in header names becomes `-`."""
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=TIMEOUT_SECONDS)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, found, response.read())
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        reply = self.get(path)
        assert reply.status == 200, reply.text
        return reply.json


@dataclass(frozen=True, slots=True)
class Served(Asking):
    store: str  # what it serves
    process: subprocess.Popen[str]
    said: str  # when it was ready


def head(path: str, length: int) -> bytes:
    """Return the head of a request that sends JSON."""
    headers = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}"
    return f"POST {path} HTTP/1.1\r\n{headers}\r\n\r\n".encode()


def connected(served: Asking) -> socket.socket:
    """Open a connection for what no client of HTTP would send."""
    address = urlsplit(served.address)
    return socket.create_connection((address.hostname or "", address.port or 0), TIMEOUT_SECONDS)


@contextmanager
def serving(store: str | Path, *options: str, **environment: str) -> Iterator[Served]:
    """Run `winnow serve` on a free port until the block ends."""
    with _serving(["--store", str(store), *options], str(store), environment) as found:
        yield found


@contextmanager
def serving_stateless(*options: str, **environment: str) -> Iterator[Served]:
    """Run `winnow serve` without a store."""
    with _serving(["--stateless", *options], "", environment) as found:
        yield found


@contextmanager
def _serving(options: Sequence[str], store: str, environment: Mapping[str, str]) -> Iterator[Served]:
    command = [str(WINNOW), "serve", "--port", "0", *options]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONWARNINGS": "error", **environment}
    ) as process:
        assert process.stderr is not None
        try:
            said = ""
            while "Ctrl-C" not in said:  # the last of what it says when it is ready
                line = process.stderr.readline()
                assert line, f"winnow serve has ended: {said}"
                said += line
            found = re.search(r"at (http://[^/\s]+)", said)
            assert found, said
            port = urlsplit(found[1]).port
            yield Served(f"http://127.0.0.1:{port}", store, process, said)
        finally:
            process.terminate()
            complaints = process.stderr.read()
            process.wait(TIMEOUT_SECONDS)
    # That somebody has sent what is no HTTP is said there, too; a fault of ours may not be.
    assert not re.search("could not answer|Exception in ASGI", complaints), complaints


@contextmanager
def serving_app(app: ASGIApp, **config: Any) -> Iterator[Asking]:
    """Run an application in a thread of this process, for faults that cannot be caused from outside."""
    from opensearch_winnow.web.serving.server import AdmittingServer  # noqa: PLC0415

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        server = AdmittingServer(app, listener, log_config=None, **config)
        thread = Thread(target=server.run)
        thread.start()
        try:
            yield Asking(f"http://127.0.0.1:{port}")
        finally:
            server.should_exit = True
            thread.join()
