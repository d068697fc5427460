"""Requests and answers of an odd form: errors have the engine's form, and nothing is taken for something else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from logging import ERROR, LogRecord
from urllib.parse import unquote

import msgspec
import pytest
from aiohttp import ClientConnectionResetError
from aiohttp.http_exceptions import BadStatusLine
from hypothesis import given, strategies as st

from opensearch_winnow.gateway.passing import PassedResponse
from opensearch_winnow.gateway.routes import goes_up
from opensearch_winnow.gateway.serving.server import _is_our_fault
from tests.gateway.faulty_engine import answering_engine
from tests.gateway.raw_requests import HEAD, ask, raw_answer
from tests.gateway.running_gateway import running_gateway

Arrivals = list[tuple[bytes, bytes]]

CHUNK = b"\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nWarning: one\r\nWarning: two\r\n"
    b"Transfer-Encoding: chunked" + CHUNK
)


@pytest.fixture
def arrived() -> Arrivals:
    """The first lines and the bodies of the requests that have arrived at the engine."""
    return []


@pytest.fixture
def engine_url(arrived: Arrivals) -> Iterator[str]:
    """The address of an engine that answers everything with an empty object, in chunks."""

    def answer(head: bytes, body: bytes) -> bytes:
        arrived.append((head.partition(b" HTTP/1.1")[0], body))
        return ANSWER

    with answering_engine(answer) as url:
        yield url


@pytest.fixture
def gateway(engine_url: str) -> Iterator[str]:
    with running_gateway(engine_url) as started:
        yield started


def error_of(received: bytes) -> tuple[bytes, str]:
    """Return the status of an answer, and the type of its error in the engine's form."""
    head, _, body = received.partition(b"\r\n\r\n")
    return head.split()[1], json.loads(body)["error"]["type"]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET @example.org/" + HEAD + b"\r\n",
        b"GET http://example.org/" + HEAD + b"\r\n",
        b"what?\r\n\r\n",
        b"GET /" + HEAD + b"X-Long: " + b"a" * 300_000 + b"\r\n\r\n",
        b"GET /" + HEAD + b"no header\r\n\r\n",
        b"POST /_bulk" + HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /_search" + HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /_search" + HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n123456",
        b"POST /_search" + HEAD + b"Transfer-Encoding: gzip" + CHUNK,
        b"POST /_search" + HEAD + b"Transfer-Encoding: chunked, chunked" + CHUNK,
        b"POST /_search HTTP/1.0\r\nTransfer-Encoding: chunked" + CHUNK,
        b"GET / HTTP/1.2\r\nHost: x\r\n\r\n",
        b"OPTIONS *" + HEAD + b"\r\n",
    ],
)
def test_what_is_not_http_is_refused_in_the_form_of_engines(gateway: str, arrived: Arrivals, sent: bytes) -> None:
    received = raw_answer(gateway, sent)
    assert error_of(received) == (b"400", "illegal_argument_exception")
    assert b"Python" not in received
    assert arrived == []


def test_what_follows_a_number_sign_belongs_to_the_path(gateway: str, arrived: Arrivals) -> None:
    """Otherwise a request would be about another index than the one that it names."""
    raw_answer(gateway, b"DELETE /a#b" + HEAD + b"\r\n")
    assert arrived == [(b"DELETE /a%23b", b"")]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"CONNECT /x" + HEAD + b"Content-Length: 2\r\n\r\n{}", b"501"),
        (b"CONNECT example.org:9200" + HEAD + b"\r\nGET /x" + HEAD + b"\r\n", b"501"),
        (b"TRACE /x" + HEAD + b"\r\n", b"501"),
        (b"POST /_search" + HEAD + b"Transfer-Encoding: gzip, chunked" + CHUNK, b"501"),
        (b"POST /_search HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \r\n\r\n", b"501"),
        (b"GET /x\r\nHost: x\r\n\r\n", b"505"),
        (b"GET /x HTTP/0.9\r\n\r\n", b"505"),
        (b"GET /x HTTP/2.0\r\nHost: x\r\n\r\n", b"505"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"505"),
    ],
)
def test_forms_of_http_that_the_gateway_does_not_speak_are_refused_and_the_connection_closes(
    gateway: str, arrived: Arrivals, sent: bytes, status: bytes
) -> None:
    received = raw_answer(gateway, sent)
    assert received.startswith(b"HTTP/1.1 ")  # and no version that the gateway does not speak
    assert received.count(b"HTTP/1.1 ") == 1
    assert error_of(received) == (status, "illegal_argument_exception")
    assert arrived == []


def test_a_client_of_http_1_0_is_not_told_to_continue(gateway: str, arrived: Arrivals) -> None:
    """It would take that for the answer."""
    sent = b"POST /_refresh HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"
    assert raw_answer(gateway, sent).startswith(b"HTTP/1.0 200 OK\r\n")
    assert arrived == [(b"POST /_refresh", b"{}")]


@pytest.mark.parametrize(
    "path",
    ["/../x", "/..", "/a/%2e%2e/x", "/%2E./x", "/a/..%2f..%2Fx", "/..%5Cx", "/a\\..\\x", "/..;a=b/x", "/%252e%252e/x"],
)
def test_no_path_leads_out_of_the_prefix_of_an_engine(engine_url: str, arrived: Arrivals, path: str) -> None:
    with running_gateway(f"{engine_url}/es") as below, running_gateway(engine_url) as whole:
        for sent in (path, f"{path}?pretty"):
            answer = ask(below, "GET", sent)
            assert (str(answer), arrived) == ("400 `illegal_argument_exception`", [])
            assert ask(whole, "GET", sent).status == 200
            assert arrived.pop()[0] == f"GET {sent}".encode()
        assert ask(whole, "GET", "/_winnow").status == 200
        index = unquote(unquote(path)).strip("/")
        body = msgspec.json.encode({"index": {"_index": index}}) + b"\n{}\n"
        assert ask(below, "POST", "/_bulk", body).status == 200
        assert [first for first, _ in arrived if first != b"GET /es/"] == [b"POST /es/_bulk"]


PARTS = ("a", ".", "%2e", "%252E", "/", "%2F", "%252f", "\\", "%5C", ";", "%3b", "%25", "%2", "5", "?")


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_two_dots_are_found_in_every_encoding(path: str) -> None:
    decoded = path.partition("?")[0]
    for _ in range(9):
        decoded = unquote(decoded)
    assert goes_up(path) == any(part.partition(";")[0] == ".." for part in re.split(r"[/\\]", decoded))


@pytest.mark.parametrize(
    "path", ["/%3Clogs-%7Bnow%2Fd%7D%3E/_doc/1", "/a..b/_doc/..x", "/a/_search?q=../..", "/a/_doc/...", "/a/./b"]
)
def test_names_with_dots_and_dates_stay_below_the_prefix(engine_url: str, arrived: Arrivals, path: str) -> None:
    with running_gateway(f"{engine_url}/es") as below:
        assert ask(below, "GET", path).status == 200
    assert [first for first, _ in arrived] == [f"GET /es{path}".encode()]


@pytest.mark.parametrize("body", [b'{"a": "\xff"}', b'{"a": ' + b"[" * 20_000])
def test_a_grouped_search_that_cannot_be_decoded(gateway: str, body: bytes) -> None:
    assert str(ask(gateway, "POST", "/a/_search?winnow=group", body)) == "400 `illegal_argument_exception`"


@pytest.mark.parametrize("path", ["/_search", "/_msearch"])
def test_a_search_for_the_word_winnow_passes_as_it_is(gateway: str, arrived: Arrivals, path: str) -> None:
    body = b'{"index": "winnow"}\n{"query": {"term": {"n": 12345678901234567890.10, "tag": "winnow"}}}\n'
    body = body if path == "/_msearch" else body.partition(b"\n")[2]
    assert ask(gateway, "GET", path, body).body == b"{}"
    assert arrived == [(f"GET {path}".encode(), body)]


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


def test_no_error_of_a_client_is_logged() -> None:
    """A client may leave while its answer is sent, as often as it likes."""
    for error, is_logged in (
        (ClientConnectionResetError("Cannot write to closing transport"), False),
        (BadStatusLine("no HTTP"), False),
        (ValueError("a bug"), True),
    ):
        record = LogRecord("winnow.gateway.http", ERROR, "", 1, "Error", None, (type(error), error, None))
        assert _is_our_fault(record) == is_logged
