"""What a client gets when the engine, the line to it or the client itself fails, and that the gateway survives it.

Every row of the table in docs/gateway-faults.md is a test here.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.broken_line import BrokenLine, Fault
from tests.gateway.conftest import new_index
from tests.gateway.gateway_process import GatewayProcess
from tests.gateway.raw_requests import HEAD, JSON, NDJSON, ask, connected, outcome, raw_answer
from tests.gateway.running_gateway import bulk_lines, running_gateway
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, article, attach, text

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("gateway clients")]

Table = dict[str, str]

SEARCH = json.dumps({"query": {"match_all": {}}, "size": 10}).encode()
DOCUMENT = json.dumps(article(5)).encode()


@pytest.fixture(scope="module")
def line(engine: Running) -> Iterator[BrokenLine]:
    with BrokenLine(engine.url) as started:
        yield started


@pytest.fixture(scope="module")
def gateway(line: BrokenLine) -> Iterator[GatewayProcess]:
    """A gateway behind the line that breaks. It must survive all tests of this module, with all its wits."""
    with GatewayProcess(line.url) as started:
        yield started
        assert started.process is not None
        assert started.process.poll() is None
        errors = started.stop()
        assert "Traceback" not in errors, errors


@pytest.fixture(scope="module")
def own(engine: Running, client: OpenSearch) -> Iterator[OwnIndex]:
    with new_index(engine, client, shards=3) as made:
        made.write((str(number), article(number)) for number in range(20))
        yield made


@pytest.fixture(scope="module")
def table(root: Path) -> Table:
    """The rows of the table in docs/gateway-faults.md: what happens, and what the client gets."""
    docs = (root / "docs" / "gateway-faults.md").read_text(encoding="utf-8")
    section = docs.partition("## What the client gets\n")[2].partition("\n## ")[0]
    rows = [row.strip("|").split(" | ") for row in section.splitlines() if row.startswith("| ")]
    return {row[0].strip(): row[1].strip() for row in rows}


def bulk_of(name: str, documents: int) -> bytes:
    keys = [{"index": {"_index": name, "_id": f"bulk-{number}"}} for number in range(documents)]
    return bulk_lines(*(line for number, key in enumerate(keys) for line in (key, {"body": text(number)})))


def check_all_is_well(gateway: GatewayProcess, own: OwnIndex) -> None:
    assert ask(gateway.url, "POST", f"/{own.name}/_search", SEARCH).status == 200
    assert ask(gateway.url, "PUT", f"/{own.name}/_doc/well?refresh=true", DOCUMENT).status in (200, 201)
    stored = ask(gateway.url, "GET", f"/{own.name}/_doc/well").json()
    assert stored["_source"]["winnow"]["stamp"].startswith(f"{stored['_version']}-")


@pytest.fixture(autouse=True)
def _all_is_well(gateway: GatewayProcess, own: OwnIndex) -> Iterator[None]:
    """Check that the gateway works before and after each test."""
    check_all_is_well(gateway, own)
    yield
    check_all_is_well(gateway, own)


# --- the line to the engine -------------------------------------------------------------------------------------------

IN_THE_ANSWER = "The connection to the engine breaks in the middle of the answer"
WITH_FIELDS = "The same, if documents of the request got fields: the gateway reads the whole answer first"
BROKEN = {
    "The connection to the engine breaks before the answer": Fault(answer_bytes=0),
    "The connection to the engine is reset before the answer": Fault(answer_bytes=0, reset=True),
    "The connection to the engine breaks in the middle of a request": Fault(request_bytes=60),
    IN_THE_ANSWER: Fault(answer_bytes=250),
    "The engine answers with something that is not HTTP": Fault(nonsense=b"\x00\xff\x80 what?\r\n\r\n" * 50),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("kind", ["search", "bulk", "bulk of another index", "document"])
def test_a_line_that_breaks(
    what: str, kind: str, line: BrokenLine, gateway: GatewayProcess, own: OwnIndex, table: Table
) -> None:
    requests: dict[str, tuple[Any, ...]] = {
        "search": ("POST", f"/{own.name}/_search", SEARCH),
        "bulk": ("POST", "/_bulk", bulk_of(own.name, 20), NDJSON),
        "bulk of another index": ("POST", "/other-index-of-faults/_bulk", bulk_of("x", 20), NDJSON),
        "document": ("PUT", f"/{own.name}/_doc/broken", DOCUMENT),
    }
    sent = requests[kind]
    with line.fault(replace(BROKEN[what], request=sent[1].encode())):  # not what the gateway asks before
        got = outcome(gateway.url, *sent)
    if what == IN_THE_ANSWER and kind in ("bulk", "document"):
        what = WITH_FIELDS
    assert got == table[what]


def test_a_slow_engine(line: BrokenLine, gateway: GatewayProcess, own: OwnIndex, table: Table) -> None:
    """The gateway has no time limit of its own. If the client gives up, its request to the engine ends as well."""
    with line.fault(Fault(wait_seconds=2.0)):
        assert ask(gateway.url, "POST", f"/{own.name}/_search", SEARCH).status == 200
    with line.fault(Fault(wait_seconds=20.0)):
        got = outcome(gateway.url, "POST", f"/{own.name}/_search", SEARCH, timeout=1.0)
        assert got == table["The engine is slower than the client's own time limit"]
        assert line.abandoned.wait(10), "the gateway goes on waiting for a client that has gone"


# --- an engine that is gone -------------------------------------------------------------------------------------------


def test_an_engine_that_is_gone_and_comes_back(start_engine: Callable[..., Running], table: Table) -> None:
    """Kill the only node in the middle of a load, and start it again."""
    from opensearch_winnow.stores.engine.local_engine import LocalEngine  # noqa: PLC0415

    engine = start_engine(nodes=1)
    (node,) = engine.nodes
    with OpenSearch(engine.url, timeout=60) as client, GatewayProcess(engine.url) as gateway:
        own = OwnIndex(engine.url, "articles", client)
        own.create()
        attach(client, own.address, FIELDS)
        check_all_is_well(gateway, own)
        os.kill(node.pid, signal.SIGKILL)
        while node.process:
            time.sleep(0.05)
        for method, path, body in (
            ("POST", "/articles/_search", SEARCH),
            ("POST", "/articles/_bulk", bulk_of("articles", 5)),
            ("PUT", "/articles/_doc/1", DOCUMENT),
            ("GET", "/", None),
        ):
            got = ""
            for _ in range(11):  # on connections that were open before, or that a dying engine has still accepted
                got = outcome(gateway.url, method, path, body)
                if got != table["The connection to the engine breaks before the answer"]:
                    break
                time.sleep(0.1)
            assert got == table["The engine cannot be reached"]
        LocalEngine(Path(node.folder).parent.parent).start(owner=os.getpid())
        client.cluster.health(params={"wait_for_status": "yellow"})
        check_all_is_well(gateway, own)


def test_a_node_that_is_dead_is_left_out(engine: Running, own: OwnIndex, table: Table) -> None:
    address = f"http://127.0.0.1:{free_port()},{urlsplit(engine.url).netloc}"
    with GatewayProcess(address) as gateway:
        for _ in range(6):
            got = outcome(gateway.url, "POST", f"/{own.name}/_search", SEARCH)
            assert got == table["One of several nodes cannot be reached"].partition(",")[0]
        check_all_is_well(gateway, own)


# --- clients ----------------------------------------------------------------------------------------------------------


def test_bodies_that_are_wrong_get_the_answer_of_the_engine(
    engine: Running, gateway: GatewayProcess, own: OwnIndex, table: Table
) -> None:
    zipped = JSON | {"content-encoding": "gzip"}
    cut, bomb = gzip.compress(DOCUMENT)[:-20], gzip.compress(bytes(101 * 1024 * 1024))
    document, bulk = ("PUT", f"/{own.name}/_doc/1"), ("POST", f"/{own.name}/_bulk")
    search = ("POST", f"/{own.name}/_search")
    cases = {
        "A document that is not JSON": (*document, b'{"body": "no end', JSON),
        "A bulk that is not NDJSON": (*bulk, b"what?\nwhat?\n", NDJSON),
        "A bulk without its last newline": (*bulk, b'{"index": {}}\n{"body": "a"}', NDJSON),
        "A body that is said to be gzip and is not: the engine closes the connection": (*document, DOCUMENT, zipped),
        "The same with a few bytes only": (*document, b"{}", zipped),
        "A body of gzip that is cut off": (*document, cut, zipped),
        "A document without a content type": (*document, DOCUMENT, {}),
        "A search that is cut off": (*search, b'{"query":', JSON),
        "A body of gzip that has more than that when it is unpacked": ("POST", "/_bulk", bomb, zipped),
        "A search that is not JSON": (*search, b"what?", JSON),
        "A search of an index that does not exist": ("POST", "/no-such-index/_search", SEARCH, JSON),
    }
    for what, request in cases.items():
        got = outcome(gateway.url, *request)
        assert (what, got) == (what, table[what].removesuffix(", from the engine"))
        if table[what].endswith(", from the engine"):
            assert (what, outcome(engine.url, *request)) == (what, got)


def test_bytes_that_are_not_http(gateway: GatewayProcess, table: Table) -> None:
    for sent in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\x00" * 5_000, b"what?\r\n\r\n", b"GET\r\n\r\n"):
        received = raw_answer(gateway.url, sent, half_closed=True)
        assert re.match(rb"HTTP/1\.[01] 400 |$", received), received
        assert not received or b'"type":"illegal_argument_exception"' in received, received
    assert table["A client sends bytes that are not HTTP"] == "400 `illegal_argument_exception`"


def test_chunks_that_turn_malformed(gateway: GatewayProcess, own: OwnIndex, table: Table) -> None:
    """Otherwise the request would wait for the rest of its body for ever, and hold a connection to the engine."""
    assert table["A body in chunks, one of which is malformed"] == "a connection that breaks"
    for path in ("_bulk", "_search", f"{own.name}/_doc/1", f"{own.name}/_validate/query"):
        head = f"POST /{path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        with connected(gateway.url, f"{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n".encode()) as line:
            time.sleep(0.2)  # for the request to be in progress
            line.sendall(b"zz\r\n")
            with suppress(ConnectionResetError):
                assert (path, line.recv(100)) == (path, b"")


def test_a_path_that_is_an_address_is_not_asked_for(gateway: GatewayProcess) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.settimeout(0.5)
        there = f"127.0.0.1:{stranger.getsockname()[1]}"
        for line in (f"GET http://{there}/", f"GET @{there}/", f"GET //{there}/", f"CONNECT {there}"):
            sent = f"{line} HTTP/1.1\r\nHost: {there}\r\nConnection: close\r\n\r\n".encode()
            raw_answer(gateway.url, sent, half_closed=line.startswith("CONNECT"))
        with pytest.raises(TimeoutError):
            stranger.accept()


def test_long_headers_pass(engine: Running, gateway: GatewayProcess, own: OwnIndex, table: Table) -> None:
    """Engines accept headers of 8 or 16 KB in all. The gateway passes longer ones, and the engine refuses them."""
    for size in (4_000, 20_000, 200_000) * 3:  # those refused must not spoil the connections for others
        headers = {"x-long": "a" * size}
        direct = ask(engine.url, "GET", f"/{own.name}/_count", headers=headers).status
        assert ask(gateway.url, "GET", f"/{own.name}/_count", headers=headers).status == direct
    row = table["Headers of more than 256 KB together, or more than 128 of them"]
    for number, size in ((1, 1_000_000), (200, 1), (3, 90_000)):
        headers = {f"x-{each}": "a" * size for each in range(number)}
        assert (number, outcome(gateway.url, "GET", "/", headers=headers)) == (number, row)


def test_forms_of_http_that_are_refused(
    engine: Running, line: BrokenLine, gateway: GatewayProcess, table: Table
) -> None:
    user, coding, end = HEAD + b"X-User: %b\r\n\r\n", HEAD + b"Transfer-Encoding: %b\r\n\r\n%b\r\n\r\n", HEAD + b"\r\n"
    cases = {
        "A header with bytes that are not UTF-8, or with control characters": [
            *(b"GET /" + user % b"m\xfcller", b"GET /" + user % b"m\x01")
        ],
        "An address instead of a path, as in `GET http://cluster/`": [b"GET http://x/" + end],
        "The same, if that chunk arrives together with the head": [b"POST /_search" + coding % (b"chunked", b"zz")],
        "`CONNECT`, `TRACE`, or a transfer coding other than `chunked`": [
            *(b"CONNECT /" + end, b"TRACE /" + end, b"POST /_bulk" + coding % (b"gzip, chunked", b"0"))
        ],
        "A version of HTTP other than 1.0 and 1.1": [
            *(b"GET /\r\n\r\n", b"GET / HTTP/2.0\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        ],
    }
    for what, requests in cases.items():
        for sent in requests:
            received, _, body = raw_answer(gateway.url, sent).partition(b"\r\n\r\n")
            got = f"{received.split()[1].decode()} `{json.loads(body)['error']['type']}`"
            assert (what, got) == (what, table[what])
    header = b"HTTP/1.1 200 OK\r\nX-User: m\xfcller\r\nContent-Length: 2\r\n\r\n{}"
    with line.fault(Fault(nonsense=header)):
        assert outcome(gateway.url, "GET", "/") == table["The engine answers with such a header"]
    with running_gateway(f"{engine.url}/prefix") as below:
        assert outcome(below, "GET", "/%2e%2e/_cat") == table["A path with `..`, if `--to` has a prefix"]


def test_clients_that_go_away_in_the_middle_of_a_body(gateway: GatewayProcess, own: OwnIndex) -> None:
    head = "POST {} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/x-ndjson\r\nContent-Length: 1000000\r\n\r\n"
    own.client.indices.refresh(index=own.name)
    documents = own.client.count(index=own.name)["count"]
    for path in ("/_bulk", f"/{own.name}/_bulk", f"/{own.name}/_search", "/other-index-of-faults/_bulk"):
        for _ in range(10):
            connected(gateway.url, head.format(path).encode() + bulk_of(own.name, 40)[:50_000]).close()
    check_all_is_well(gateway, own)
    own.client.indices.refresh(index=own.name)
    assert own.client.count(index=own.name)["count"] == documents


def test_200_clients_at_once(gateway: GatewayProcess, own: OwnIndex) -> None:
    def call(number: int) -> int:
        if number % 2:
            return ask(gateway.url, "POST", f"/{own.name}/_search", SEARCH).status
        return ask(gateway.url, "PUT", f"/{own.name}/_doc/many-{number}", json.dumps(article(number)).encode()).status

    with ThreadPoolExecutor(200) as pool:
        assert {*pool.map(call, range(400))} <= {200, 201}


def test_large_bodies_need_little_memory(engine: Running, own: OwnIndex, table: Table) -> None:
    """60 MB pass piece by piece. Only bulks, and documents of attached indices, are read whole."""
    name = f"faults-large-{os.getpid()}"
    with GatewayProcess(engine.url) as gateway:
        ask(gateway.url, "GET", f"/{own.name}/_count")
        before = gateway.peak_bytes
        large = bulk_lines({"index": {}}, {"a": "x" * 1_000_000})
        one = b'{"a": ["' + b'", "'.join([b"x" * 1_000_000] * 60) + b'"]}'
        assert ask(gateway.url, "PUT", f"/{name}/_doc/1?refresh=true", one).status == 201
        assert gateway.peak_bytes - before < 40_000_000
        answer = ask(gateway.url, "GET", f"/{name}/_search")
        assert len(answer.body) > 60_000_000
        assert gateway.peak_bytes - before < 40_000_000
        # A bulk may name other indices in its lines, so it is read whole.
        answer = ask(gateway.url, "POST", f"/{name}/_bulk?filter_path=errors", large * 60, NDJSON)
        assert answer.json() == {"errors": False}
        assert gateway.peak_bytes - before < 4 * len(large) * 60
        too_large = large * 110
        got = outcome(gateway.url, "POST", f"/{name}/_bulk", too_large, NDJSON)
        assert got == outcome(engine.url, "POST", f"/{name}/_bulk", too_large, NDJSON)
        assert got.partition(" ")[0] in table["A body larger than the engine's `http.max_content_length`"]
        attached = b"".join(bulk_lines({"index": {}}, {"body": text(number, 3_000)}) for number in range(1_000))
        answer = ask(gateway.url, "POST", f"/{own.name}/_bulk?filter_path=errors", attached, NDJSON)
        assert answer.json() == {"errors": False}
        assert gateway.peak_bytes - before < 20 * len(attached)
    own.client.indices.delete(index=name)
