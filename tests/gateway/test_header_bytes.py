"""The bytes of headers arrive as they were sent, in both directions, or the request is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import example, given, strategies as st

from tests.gateway.faulty_engine import answering_engine
from tests.gateway.raw_requests import raw_answer
from tests.gateway.running_gateway import running_gateway

SENT_BACK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n%b\r\n{}"
VALUES = st.binary(max_size=40).filter(lambda value: not re.search(rb"[\r\n]", value))


class Line(NamedTuple):
    gateway: str
    heads: list[bytes]  # of the requests that have arrived at the engine
    headers: list[bytes]  # that the engine adds to its next answer


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    heads: list[bytes] = []
    headers: list[bytes] = []

    def answer(head: bytes, _: bytes) -> bytes:
        heads.append(head)
        return SENT_BACK % b"".join(b"%b\r\n" % header for header in headers)

    with answering_engine(answer) as url, running_gateway(url) as gateway:
        yield Line(gateway, heads, headers)


def exchanged(line: Line, *headers: bytes, answered: tuple[bytes, ...] = ()) -> tuple[bytes, list[bytes], list[bytes]]:
    """Send a request, and return the status, the headers that arrived at the engine, and those of the answer."""
    line.heads.clear()
    line.headers[:] = answered
    sent = b"".join(b"%b\r\n" % header for header in headers)
    received = raw_answer(line.gateway, b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + sent + b"\r\n")
    arrived = line.heads[0].split(b"\r\n")[2:-2] if line.heads else []
    head = received.partition(b"\r\n\r\n")[0].split(b"\r\n")
    return head[0].split()[1], arrived, [each for each in head if each.startswith(b"X-")]


@given(VALUES)
@example(b"m\xfcller")
@example("müller €".encode())
@example(b"\xed\xa0\x80")  # a surrogate
@example(b"")
def test_what_arrives_is_what_was_sent_or_400(line: Line, value: bytes) -> None:
    status, arrived, _ = exchanged(line, b"X-User: " + value, b"X-Next: 1")
    if status == b"400":
        assert arrived == []
    else:
        assert arrived == [b"X-User: " + value.strip(b" \t"), b"X-Next: 1"]


@given(VALUES)
@example(b"m\xfcller")
@example("müller €".encode())
@example(b"a\x01b")
def test_what_the_client_gets_is_what_the_engine_sent_or_502(line: Line, value: bytes) -> None:
    status, _, got = exchanged(line, answered=(b"X-User: " + value, b"X-Next: 1"))
    if status == b"502":
        assert got == []
    else:
        assert (status, got) == (b"200", [b"X-User: " + value.strip(b" \t"), b"X-Next: 1"])


def test_plain_values_are_not_refused(line: Line) -> None:
    headers = (b"X-User: m\xc3\xbcller\ta  b", b"X-User: again", b"x-case: 1", b"X-Empty: ")
    assert exchanged(line, *headers) == (b"200", list(headers), [])


def test_bytes_that_are_not_utf8_are_refused_by_the_name_of_their_header(line: Line) -> None:
    sent = b"PUT /a/_doc/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Basic \xff\r\nContent-Length: 2\r\n\r\n{}"
    received = raw_answer(line.gateway, sent)
    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"the header Authorization has bytes that are not UTF-8" in received


def test_an_answer_with_very_many_headers_passes(line: Line) -> None:
    warnings = [b"X-Warning: %d" % number for number in range(900)]
    assert exchanged(line, answered=tuple(warnings)) == (b"200", [], warnings)


@pytest.mark.parametrize(
    "headers",
    [[b"X-Many: 1"] * 200, [b"X-%d: " % number + b"a" * 100_000 for number in range(3)]],
    ids=["many", "long"],
)
def test_too_many_headers_and_too_long_ones_are_refused(line: Line, headers: list[bytes]) -> None:
    assert exchanged(line, *headers)[:2] == (b"400", [])
