"""Everything that is no document of an attached index passes as it is."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.conftest import new_index
from tests.gateway.faulty_engine import faulty_engine, read_request
from tests.gateway.raw_requests import HEAD, Answer, connected, raw_answer
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
from tests.stores.opensearch.own_articles import OwnIndex, article

OF_A_CONNECTION = ("connection", "transfer-encoding", "content-length")


@pytest.fixture(scope="module", params=["plain", "attached"])
def two_articles(engine: Running, client: OpenSearch, request: pytest.FixtureRequest) -> Iterator[OwnIndex]:
    """An index for requests that change nothing."""
    with new_index(engine, client, attached=request.param == "attached") as own:
        own.write([("1", article(1)), ("a/b ä%", article(2))])
        yield own


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/", None),
        ("HEAD", "/", None),
        ("GET", "/_cat/indices/{name}?v&h=index,docs.count", None),
        ("HEAD", "/no-such-index", None),
        ("GET", "/no-such-index/_search", None),
        ("GET", "/{name}/_doc/1?pretty", None),
        ("GET", "/{name}/_doc/a%2Fb%20%C3%A4%25?pretty", None),
        ("GET", "/%3C{name}%3E/_mapping", None),
        ("POST", "/{name}/_search", {"query": {"match": {"body": "valley"}}, "sort": "_doc"}),
        ("GET", "/{name}/_search?filter_path=hits.total", b'{"query": {"match_all": {}}}'),
        ("POST", "/{name}/_search", b"no JSON"),
        ("POST", "/_bulk", b"no JSON\n"),
        ("POST", "/_bulk", b'{"index": {}}'),
        ("POST", "/{name}/_bulk", b'{"index": {"_id": "3"}}\n{"headline": \n'),
        ("PUT", "/{name}/_doc/5", b"[1, 2]"),
        ("PUT", "/{name}/_doc/5", b'{"headline": '),
        ("PUT", "/{name}/_doc/5", b""),
        ("POST", "/{name}/_update/none", {"doc": {"body": "x"}}),
        ("DELETE", "/{name}/_doc/none", None),
        ("PUT", "/_no_such_api/x", {}),
        ("PATCH", "/{name}", {}),
        ("HEAD", "/{name}#more", None),
        ("POST", "/{name}/_search", {"query": {"term": {"author": "winnow"}}}),
    ],
)
def test_an_answer_is_that_of_the_engine(
    gateway: str, engine: Running, two_articles: OwnIndex, method: str, path: str, body: Any
) -> None:
    path = path.replace("{name}", two_articles.name)
    direct, passed = (ask(url, method, path, body, X_Opaque_Id="one") for url in (engine.url, gateway))
    assert passed.status == direct.status
    assert set(passed.headers) - {"connection", "transfer-encoding"} == set(direct.headers) - {"connection"}
    same = [name for name in direct.headers if name not in OF_A_CONNECTION]
    assert {name: passed.headers[name] for name in same} == {name: direct.headers[name] for name in same}
    if b'"took"' not in direct.body and "_seq_no" not in direct.body.decode():
        assert passed.body == direct.body


def test_a_compressed_answer_passes_as_it_is(gateway: str, plain: OwnIndex) -> None:
    plain.write([("1", article(1))])
    answer = ask(gateway, "GET", f"/{plain.name}/_search", accept_encoding="gzip")
    assert answer.headers["content-encoding"] == "gzip"
    assert b'"hits"' in gzip.decompress(answer.body)


def test_documents_of_other_indices_pass_as_they_are(gateway: str, plain: OwnIndex) -> None:
    lines = bulk_lines({"index": {"_index": plain.name, "_id": "1"}}, article(1))
    assert ask(gateway, "POST", "/_bulk", gzip.compress(lines), content_encoding="gzip").status == 200
    assert ask(gateway, "PUT", f"/{plain.name}/_doc/2", article(2)).status == 201
    made = ask(gateway, "POST", f"/{plain.name}/_doc", article(3)).json()
    for number, id_ in enumerate(("1", "2", made["_id"]), 1):
        assert plain.client.get(index=plain.name, id=id_)["_source"] == article(number)


def test_bodies_in_chunks_and_after_100_continue(gateway: str, attached: OwnIndex) -> None:
    body = bulk_lines({"index": {"_id": "1"}}, article(1))
    half = len(body) // 2
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:half], body[half:])) + b"0\r\n\r\n"
    head = f"POST /{attached.name}/_bulk".encode() + HEAD
    assert b" 200 OK" in raw_answer(gateway, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    answer = raw_answer(gateway, head + b"Expect: 100-continue\r\n" + length + body)
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert attached.client.get(index=attached.name, id="1")["_source"]["winnow"]["stamp"].startswith("2-")


def test_many_clients_at_once(gateway: str, attached: OwnIndex) -> None:
    def write(number: int) -> Answer:
        return ask(gateway, "PUT", f"/{attached.name}/_doc/{number % 10}", article(number))

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(write, range(60)))
    assert {answer.status for answer in answers} <= {200, 201, 409}


def test_nodes_that_are_gone_are_passed_over(engine: Running) -> None:
    gone = f"127.0.0.1:{free_port()}"
    with running_gateway(f"http://{gone},{urlsplit(engine.url).netloc},{gone}") as gateway:
        assert [ask(gateway, "GET", "/").status for _ in range(5)] == [200] * 5


def test_nobody_there() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with running_gateway(address) as alone:
        for method, path in (
            *(("GET", "/"), ("POST", "/_bulk"), ("PUT", "/articles/_doc/1"), ("POST", "/any/_search")),
            *(("POST", "/any/_search?winnow=group"), ("POST", "/any/_msearch?winnow=group")),
        ):
            answer = ask(alone, method, path, None if method == "GET" else b"{}\n{}\n" if "msearch" in path else {})
            assert (path, str(answer)) == (path, "502 `connect_exception`")
            assert answer.reason.startswith(f"no connection to {address}: ")
            error = answer.json()["error"]
            assert error["root_cause"] == [{"type": error["type"], "reason": error["reason"]}]
        assert ask(alone, "GET", "/_winnow").json()["passed"] == 6
        assert ask(alone, "HEAD", "/").status == 502


def test_nobody_answers_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opensearch_winnow.gateway.engine_connection.CONNECT_SECONDS", 0.3)
    with socket.socket() as full:  # one connection waits to be accepted, and there is no room for more
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        with connected(url), running_gateway(url) as gateway:
            assert str(ask(gateway, "GET", "/")) == "504 `connect_timeout_exception`"


def test_a_request_is_never_sent_twice() -> None:
    """The second request on a connection gets no answer: it may have been executed."""
    received: list[bytes] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            received.append((await read_request(reader))[0].partition(b"\r\n")[0])
            while len(received) == 1:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                received.append((await read_request(reader))[0].partition(b"\r\n")[0])
        writer.close()

    with faulty_engine(hang_up) as url, running_gateway(url) as gateway:
        assert ask(gateway, "PUT", "/_cluster/settings", {}).status == 200
        assert str(ask(gateway, "PUT", "/_cluster/settings", {})) == "502 `node_disconnected_exception`"
    assert received == [b"PUT /_cluster/settings HTTP/1.1"] * 2


def test_an_answer_that_breaks_off_does_not_seem_whole() -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        await writer.drain()
        writer.close()

    with faulty_engine(break_off) as url, running_gateway(url) as gateway:
        assert not raw_answer(gateway, b"GET /x" + HEAD + b"\r\n").endswith(b"0\r\n\r\n")


def test_a_client_that_goes_away_takes_its_request_with_it() -> None:
    arrived, gone = Event(), Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        await reader.read()  # until the gateway closes the connection
        gone.set()
        writer.close()

    with faulty_engine(wait) as url, running_gateway(url) as gateway:
        with connected(gateway, b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"):
            assert arrived.wait(30)
            assert not gone.is_set()
        assert gone.wait(30)


def test_tls_on_both_sides(
    engine: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attached: OwnIndex
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    with running_gateway(engine.url, tls=tls) as inner:
        assert inner.startswith("https")
        with running_gateway(inner) as stranger:
            answer = ask(stranger, "GET", "/")
            assert (answer.status, "certificate" in answer.reason) == (502, True)
        monkeypatch.setenv("WINNOW_CA_CERTS", str(tmp_path / "ca.pem"))
        with running_gateway(inner) as outer:
            assert ask(outer, "PUT", f"/{attached.name}/_doc/1", article(1)).status == 201
    assert attached.client.get(index=attached.name, id="1")["_source"]["winnow"]["stamp"].startswith("1-")
