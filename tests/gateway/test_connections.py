"""Connections to the gateway: their number, their heads, and clients that keep it waiting."""

from __future__ import annotations

import resource
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

import pytest
import trustme

from opensearch_winnow.gateway.limits import MAX_HEAD_BYTES, OTHER_DESCRIPTORS, Limits, affordable_connections
from tests.gateway.counting_engine import NOT_FOUND, CountingEngine, limited, numbers
from tests.gateway.faulty_engine import faulty_engine
from tests.gateway.gateway_process import GatewayProcess
from tests.gateway.raw_requests import ask, connected, raw_answer
from tests.gateway.running_gateway import running_gateway

HALF_A_HEAD = b"POST /_bulk HTTP/1.1\r\nHost: x\r\nX-"
WITHOUT_BODY = b"POST /a/_count HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def engine() -> CountingEngine:
    return CountingEngine()


@contextmanager
def opened(gateway: str, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Open connections, and send the beginning of a request on each."""
    with ExitStack() as stack:
        yield [stack.enter_context(connected(gateway, sent)) for _ in range(count)]


def read_answer(line: socket.socket) -> bytes:
    received = b""
    while not received.endswith(NOT_FOUND):
        piece = line.recv(1 << 16)
        assert piece, "the connection is closed"
        received += piece
    return received


def is_closed(line: socket.socket) -> bool:
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD, GET.replace(b"/a", b"/_winnow")])
def test_the_connection_that_has_waited_longest_makes_room(
    engine: CountingEngine, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether it has sent nothing, half a head, or a request that was answered."""
    with limited(engine, max_connections=3) as gateway, opened(gateway, 3, sent) as lines:
        for line in lines if sent.endswith(b"\r\n\r\n") else ():
            answer = HTTPResponse(line)
            answer.begin()
            assert (answer.status, bool(answer.read())) == (200, True)
        for _ in range(6):
            assert numbers(gateway)["passed"] == 0
        assert is_closed(lines[0])
    (said,) = (each for each in caplog.messages if "make room" in each)
    assert said.startswith("3 connections are open")


def test_requests_that_are_being_answered_do_not_make_room(engine: CountingEngine) -> None:
    engine.delay = 0.3
    with limited(engine, max_connections=2) as gateway, opened(gateway, 2, GET) as lines:
        while len(engine.arrived) < 2:
            time.sleep(0.01)
        assert str(ask(gateway, "GET", "/a")) == "503 `rejected_execution_exception`"
        for line in lines:
            assert read_answer(line).startswith(b"HTTP/1.1 404")


def test_a_body_that_does_not_come_makes_room(engine: CountingEngine) -> None:
    with limited(engine, max_connections=2) as gateway, opened(gateway, 2, WITHOUT_BODY) as lines:
        time.sleep(0.6)
        assert numbers(gateway)["passed"] == 2
        assert is_closed(lines[0])


@pytest.mark.parametrize(
    "sent", [b"", HALF_A_HEAD, WITHOUT_BODY + b"abc"], ids=["nothing", "half a head", "half a body"]
)
def test_a_client_that_keeps_the_gateway_waiting_is_closed(engine: CountingEngine, sent: bytes) -> None:
    with limited(engine, check_seconds=0.05, head_seconds=0.1) as gateway, connected(gateway, sent) as line:
        assert is_closed(line)


def test_a_client_that_does_not_read_its_answer_is_closed(engine: CountingEngine) -> None:
    engine.padding = 20_000_000
    with limited(engine, check_seconds=0.1) as gateway, connected(gateway, GET) as line:
        for _ in range(300):
            if engine.arrived and not engine.connections:
                break
            time.sleep(0.01)
        assert engine.connections == 0
        received = 0
        while piece := line.recv(1 << 20):
            received += len(piece)
    assert received < engine.padding


def test_neither_a_slow_engine_nor_an_idle_client_is_closed(engine: CountingEngine) -> None:
    engine.delay = 0.15
    with limited(engine, check_seconds=0.02, head_seconds=0.05) as gateway, connected(gateway, GET) as line:
        assert read_answer(line).startswith(b"HTTP/1.1 404")
        time.sleep(0.15)
        line.sendall(GET)
        assert read_answer(line).startswith(b"HTTP/1.1 404")


def test_a_head_that_comes_in_pieces_has_a_size(engine: CountingEngine) -> None:
    header = b"X-%d: " + b"a" * 100_000 + b"\r\n"
    sent = b"GET /a HTTP/1.1\r\n" + b"".join(header % number for number in range(MAX_HEAD_BYTES // 100_000 + 1))
    with limited(engine) as gateway:
        assert raw_answer(gateway, sent).split()[1] == b"400"
    with limited(engine, max_memory=100_000) as gateway:
        assert raw_answer(gateway, sent) == b""
    assert engine.arrived == []


def test_a_handshake_that_does_not_come_makes_room_and_is_closed(engine: CountingEngine) -> None:
    authority = trustme.CA()
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    limits = Limits(max_connections=2, head_seconds=0.3, check_seconds=0.1)
    with (
        faulty_engine(engine.answer) as url,
        running_gateway(url, tls=server, limits=limits) as gateway,
        opened(gateway, 2, b"\x16\x03") as lines,
    ):
        for _ in range(3):
            connection = HTTPSConnection(urlsplit(gateway).netloc, timeout=30, context=client)
            connection.request("GET", "/_winnow")
            assert connection.getresponse().status == 200
            connection.close()
        assert all(map(is_closed, lines))


def test_connections_are_as_many_as_descriptors_allow() -> None:
    limits = Limits()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        raised = affordable_connections(limits)
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        assert soft >= min(before[1], 2 * limits.max_connections)
        assert 2 * raised + limits.gateway_requests + OTHER_DESCRIPTORS <= soft
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.check
def test_half_sent_heads_do_not_lock_others_out(engine: CountingEngine) -> None:
    with (
        faulty_engine(engine.answer) as url,
        GatewayProcess(url, max_files=1_024) as gateway,
        opened(gateway.url, 1_100, HALF_A_HEAD),
    ):
        for _ in range(20):
            assert ask(gateway.url, "GET", "/a").status == 404
        assert len(gateway.stop().splitlines()) < 10
