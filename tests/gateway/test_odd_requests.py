"""Requests and answers of an odd form: errors have the engine's form, and nothing is taken for something else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from opensearch_winnow.gateway.headers import reader_of
from opensearch_winnow.gateway.proxy import PassedResponse
from tests.gateway.faulty_engine import faulty_engine
from tests.gateway.raw_requests import ask, raw_answer
from tests.gateway.running_gateway import running_gateway

HEAD = b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nWarning: one\r\nWarning: two\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
)


@pytest.fixture
def arrived() -> list[tuple[bytes, bytes]]:
    """The first lines and the bodies of the requests that have arrived at the engine."""
    return []


@pytest.fixture
def gateway(arrived: list[tuple[bytes, bytes]]) -> Iterator[str]:
    """A gateway to an engine that answers everything with an empty object, in chunks."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                size = int(head.partition(b"content-length:")[2].split()[0]) if b"content-length:" in head else 0
                body = await reader.readexactly(size)
                arrived.append((head.partition(b" http/1.1")[0], body))
                writer.write(ANSWER)
        except asyncio.IncompleteReadError:
            writer.close()

    with faulty_engine(answer) as url, running_gateway(url) as started:
        yield started


def error_of(received: bytes) -> tuple[bytes, str]:
    """Return the status of an answer, and the type of its error in the engine's form."""
    head, _, body = received.partition(b"\r\n\r\n")
    return head.split()[1], json.loads(body)["error"]["type"]


@pytest.mark.parametrize(
    "sent",
    [
        b"what?\r\n\r\n",
        b"GET /" + HEAD + b"X-Long: " + b"a" * 300_000 + b"\r\n\r\n",
        b"GET /" + HEAD + b"no header\r\n\r\n",
        b"POST /_bulk" + HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /_search" + HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /_search" + HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n123456",
        b"OPTIONS *" + HEAD + b"\r\n",
    ],
)
def test_what_is_not_http_is_refused_in_the_form_of_engines(
    gateway: str, arrived: list[tuple[bytes, bytes]], sent: bytes
) -> None:
    assert error_of(raw_answer(gateway, sent)) == (b"400", "illegal_argument_exception")
    assert arrived == []


def test_what_follows_a_number_sign_belongs_to_the_path(gateway: str, arrived: list[tuple[bytes, bytes]]) -> None:
    """Otherwise a request would be about another index than the one that it names."""
    raw_answer(gateway, b"DELETE /a#b" + HEAD + b"\r\n")
    assert arrived == [(b"delete /a%23b", b"")]


def test_credentials_may_be_any_bytes(gateway: str) -> None:
    sent = b"PUT /a/_doc/1" + HEAD + b"Authorization: Basic \xff\r\nContent-Length: 2\r\n\r\n{}"
    assert raw_answer(gateway, sent).startswith(b"HTTP/1.1 200 ")
    assert reader_of({"authorization": "Basic \udcff"}) != reader_of({"authorization": "Basic \udcfe"})


@pytest.mark.parametrize("body", [b'{"a": "\xff"}', b'{"a": ' + b"[" * 20_000])
def test_a_grouped_search_that_cannot_be_decoded(gateway: str, body: bytes) -> None:
    answer = ask(gateway, "POST", "/a/_search?winnow=group", body)
    assert str(answer) == "400 `illegal_argument_exception`"


@pytest.mark.parametrize("path", ["/_search", "/_msearch"])
def test_a_search_for_the_word_winnow_passes_as_it_is(
    gateway: str, arrived: list[tuple[bytes, bytes]], path: str
) -> None:
    body = b'{"index": "winnow"}\n{"query": {"term": {"n": 12345678901234567890.10, "tag": "winnow"}}}\n'
    body = body if path == "/_msearch" else body.partition(b"\n")[2]
    assert ask(gateway, "GET", path, body).body == b"{}"
    assert arrived == [(f"get {path}".encode(), body)]


def test_an_answer_in_chunks_to_a_request_of_the_gateway_has_one_length(gateway: str) -> None:
    sent = b'{"ext": {"winnow": {"group": false}}}'
    received = raw_answer(gateway, b"POST /_search" + HEAD + b"Content-Length: %d\r\n\r\n" % len(sent) + sent)
    head, _, body = received.partition(b"\r\n\r\n")
    assert body == b"{}"
    assert b"content-length: 2" in head.lower()
    assert b"transfer-encoding" not in head.lower()
    assert head.count(b"Warning: ") == 2


def test_a_bug_in_the_middle_of_an_answer_breaks_the_connection(gateway: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second answer would be taken for a part of the first, or for that of the next request."""

    async def fail(response: PassedResponse, data: bytes = b"") -> None:
        await PassedResponse.write(response, b"part")
        raise RuntimeError(data)

    monkeypatch.setattr(PassedResponse, "write_eof", fail)
    received = raw_answer(gateway, b"GET /a" + HEAD + b"\r\n")
    assert received.count(b"HTTP/1.1") == 1
    assert not received.endswith(b"0\r\n\r\n")
