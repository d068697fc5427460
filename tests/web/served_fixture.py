"""Runs the real `winnow serve` in a process of its own."""

from __future__ import annotations

import csv
import http.client
import io
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from lxml import html

if TYPE_CHECKING:
    from starlette.types import ASGIApp

WINNOW = Path(sys.executable).with_name("winnow")
FORM = "application/x-www-form-urlencoded"
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

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.text, newline="")))

    @property
    def tree(self) -> Any:
        return html.document_fromstring(self.body)

    @property
    def heading(self) -> str:
        (found,) = self.tree.iter("h1")
        return str(found.text_content())


@dataclass(frozen=True, slots=True)
class Asking:
    """Sends requests to a server on this machine."""

    address: str  # http://127.0.0.1:PORT

    def url(self, path: str) -> str:
        return self.address + path

    def get(self, path: str, method: str = "GET", **headers: str) -> Reply:
        return self.send(path, None, method=method, **headers)

    def form(self, path: str, **fields: str) -> Reply:
        return self.send(path, urlencode(fields).encode(), content_type=FORM)

    def post(self, path: str, value: Any, **headers: str) -> Reply:
        """Send a value as JSON."""
        return self.send(path, json.dumps(value).encode(), **{"content_type": "application/json", **headers})

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


def head(path: str, length: int, kind: str = "application/json", version: str = "1.1") -> bytes:
    """Return the head of a request that sends something."""
    headers = f"Host: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}"
    return f"POST {path} HTTP/{version}\r\n{headers}\r\n\r\n".encode()


def connected(served: Asking) -> socket.socket:
    """Open a connection for what no client of HTTP would send."""
    address = urlsplit(served.address)
    return socket.create_connection((address.hostname or "", address.port or 0), TIMEOUT_SECONDS)


@contextmanager
def serving(store: str | Path | None, *options: str, **environment: str) -> Iterator[Served]:
    """Run `winnow serve` on a free port until the block ends, with or without a store."""
    named = ["--stateless"] if store is None else ["--store", str(store)]
    command = [str(WINNOW), "serve", "--port", "0", *named, *options]
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
            yield Served(f"http://127.0.0.1:{port}", str(store or ""), process, said)
        finally:
            process.terminate()
            complaints = process.stderr.read()
            process.wait(TIMEOUT_SECONDS)
    # That somebody has sent what is no HTTP is said there, too; a fault of ours may not be.
    assert not re.search("could not answer|Exception in ASGI", complaints), complaints


def serving_stateless(*options: str) -> AbstractContextManager[Served]:
    return serving(None, *options)


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
