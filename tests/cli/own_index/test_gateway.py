"""winnow gateway: says where it listens, checks its address, and stops when it is told to."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest
import trustme
from click.testing import CliRunner

from opensearch_winnow.cli import main
from opensearch_winnow.gateway.gateway_options import GatewayOptions
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.running_gateway import ask, bulk_lines
from tests.stores.opensearch.gateway import Gateway

MEGABYTE = 1024 * 1024


@contextmanager
def gateway_process(*options: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Start the command on a free port, and yield its process, its address, and what it said before."""
    command = [sys.executable, "-c", "from opensearch_winnow.cli import main; main()", "gateway", "--port", "0"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        try:
            for line in process.stderr:
                if " at http" in line:
                    yield process, line.rpartition(" ")[2].strip(), said
                    break
                said += line
            else:
                raise AssertionError(said)
        finally:
            process.kill()


def refused(*options: str) -> str:
    done = CliRunner().invoke(main, ["gateway", "--port", "0", *options])
    assert done.exit_code == 2, done.output
    return done.output


def test_it_passes_requests_and_stops(engine: Running) -> None:
    with gateway_process("--to", engine.url) as (process, url, said):
        assert said == ""
        assert ask(url, "GET", "/").json()["tagline"] == ask(engine.url, "GET", "/").json()["tagline"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    """Yield the address of a server that gives one answer, slowly at /slow."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/slow":
                time.sleep(1.5)
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.check
def test_running_requests_are_answered_before_it_stops() -> None:
    with answering(401, b"{}") as slow, gateway_process("--to", slow) as (process, url, _):
        answers: list[int] = []
        asking = Thread(target=lambda: answers.append(ask(url, "GET", "/slow").status))
        asking.start()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        asking.join()
        assert (answers, process.wait(30)) == ([401], 0)


def test_a_wrong_address_is_one_sentence() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WINNOW_CLUSTER", raising=False)
        assert "Missing option '--to'" in refused()
    assert "the address of a cluster starts with http:// or https://" in refused("--to", "localhost:9200")
    assert "there is no host of this name" in refused("--to", "http://no-such-host.invalid:9200")
    assert "tls_key needs tls_cert" in refused("--to", "http://localhost:9200", "--tls-key", "key.pem")
    assert "cannot be used: No such file" in refused("--to", "http://localhost:9200", "--tls-cert", "none.pem")


def test_a_private_key_that_others_can_read_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    issued = trustme.CA().issue_cert("localhost")
    certificate, key = tmp_path / "gateway.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    key.chmod(0o600)
    GatewayOptions(tls_cert=str(certificate), tls_key=str(key)).tls()
    assert caplog.messages == []
    issued.private_key_pem.write_to_path(certificate, append=True)
    certificate.chmod(0o644)
    GatewayOptions(tls_cert=str(certificate)).tls()
    assert [message.split(": ")[-1] for message in caplog.messages] == [f"chmod 600 {certificate}"]


def test_a_path_that_is_no_prefix_of_a_proxy_is_refused(engine: Running) -> None:
    ask(engine.url, "PUT", "/gateway-path")
    try:
        for name in ("gateway-path", "gateway-missing"):
            said = " ".join(refused("--to", f"{engine.url}/{name}").split())
            assert f"no engine answers at the path /{name}; " in said
            assert f"as in {engine.url}" in said
    finally:
        ask(engine.url, "DELETE", "/gateway-path")
    with Gateway(engine.url, prefix="/search") as front, gateway_process("--to", f"{front.url}/search") as (_, url, _):
        assert ask(url, "GET", "/").status == 200


@pytest.mark.check
def test_a_service_that_closes_connections_may_become_an_engine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        Thread(target=close_all, args=[service], daemon=True).start()
        with gateway_process("--to", f"http://127.0.0.1:{service.getsockname()[1]}") as (_, url, said):
            assert "it closed the connection without an answer" in said
            assert ask(url, "GET", "/").json()["error"]["type"] == "node_disconnected_exception"


def close_all(service: socket.socket) -> None:
    """Accept connections, and close them without an answer."""
    with suppress(OSError):  # the test is over
        while True:
            service.accept()[0].close()


@pytest.mark.check
def test_what_is_no_engine_is_refused(tmp_path: Path) -> None:
    with answering(200, b"<html>hello</html>") as page:
        assert "is not OpenSearch; check the address" in refused("--to", page)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["gateway", "--to", f"http://127.0.0.1:{free_port()}", "--port", str(port)])
        assert (done.exit_code, "cannot listen at" in done.output) == (2, True)
    assert not list(tmp_path.iterdir())


def test_an_engine_that_is_down_is_no_obstacle() -> None:
    with gateway_process("--to", f"http://127.0.0.1:{free_port()}") as (_, url, said):
        assert "nothing listens there" in said
        assert "The gateway serves nevertheless" in said
        assert ask(url, "GET", "/").status == 502


@pytest.mark.check
def test_large_bodies_do_not_stay_in_memory(engine: Running) -> None:
    """50 MB in each direction, of an index that is not attached, and of a search."""
    name = "gateway-large"
    ask(engine.url, "PUT", f"/{name}", {"mappings": {"dynamic": False}})
    try:
        ask(engine.url, "POST", f"/{name}/_bulk?refresh=true", bulk_lines({"index": {}}, {"a": "x" * MEGABYTE}) * 50)
        with gateway_process("--to", engine.url) as (process, url, _):
            assert ask(url, "GET", "/").status == 200
            before = psutil.Process(process.pid).memory_info().rss
            assert len(ask(url, "GET", f"/{name}/_search?size=50").body) > 50 * MEGABYTE
            body = b'{"a": "' + b"x" * (50 * MEGABYTE) + b'"}'
            assert ask(url, "PUT", f"/{name}/_doc/1", body).status == 201
            peak = int(Path(f"/proc/{process.pid}/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024
            assert peak - before < 25 * MEGABYTE
    finally:
        ask(engine.url, "DELETE", f"/{name}")
