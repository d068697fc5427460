"""A proxy in front of the real engine that can require TLS and credentials, and records the requests."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Arrived:
    method: str
    path: str
    headers: dict[str, str]  # with names in lower case
    body: bytes


class Answer(NamedTuple):
    status: int
    body: bytes = b""
    kind: str = "application/json"
    retry_after: str = ""


Check = Callable[[Arrived], Answer | None]  # None: the engine answers


def nothing_to_check(_: Arrived) -> None:
    """Let every request pass."""


class Gateway:
    """The proxy, as a context manager. It removes `prefix` from the paths."""

    def __init__(
        self, engine: str, check: Check = nothing_to_check, *, tls: ssl.SSLContext | None = None, prefix: str = ""
    ) -> None:
        self.arrived: list[Arrived] = []
        self._engine = urlsplit(engine).netloc
        self._check = check
        self._prefix = prefix
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # a body would wait 40 ms for the acknowledgement of its headers

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65_537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                names = {name.lower(): value for name, value in self.headers.items()}
                answer = gateway.answer(Arrived(self.command, self.path, names, body))
                self.send_response(answer.status)
                self.send_header("content-type", answer.kind)
                self.send_header("content-length", str(len(answer.body)))
                if answer.retry_after:
                    self.send_header("retry-after", answer.retry_after)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """Ignore clients that break off the TLS handshake."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://localhost:{self.port}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def answer(self, arrived: Arrived) -> Answer:
        self.arrived.append(arrived)
        if refusal := self._check(arrived):
            return refusal
        connection = HTTPConnection(self._engine, timeout=60)
        try:
            headers = {name: arrived.headers[name] for name in ("content-type",) if name in arrived.headers}
            connection.request(arrived.method, arrived.path.removeprefix(self._prefix), arrived.body, headers)
            response = connection.getresponse()
            return Answer(response.status, response.read(), response.headers.get("content-type") or "application/json")
        finally:
            connection.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
