"""Limits of the gateway: nothing that a client sends, or does not send, keeps others waiting or takes all memory."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.foundation.client_pace import MIN_BYTES
from opensearch_winnow.gateway import limits as constants
from opensearch_winnow.gateway.engine_connection import MAX_HEADER_BYTES
from opensearch_winnow.gateway.errors import GatewayError
from opensearch_winnow.gateway.limits import MAX_ACTION_BYTES, MAX_DOCUMENT_VALUES, MB, Limits
from opensearch_winnow.gateway.memory_budget import MemoryBudget
from opensearch_winnow.gateway.searching.search_requests import SearchRequests
from opensearch_winnow.gateway.writing.bulk_body import bulk_items
from opensearch_winnow.gateway.writing.document_writes import DocumentWrite, written_document
from opensearch_winnow.ingest.own_index.bulk_action import MalformedBulkError
from tests.gateway.counting_engine import CountingEngine, limited, numbers
from tests.gateway.faulty_engine import faulty_engine
from tests.gateway.gateway_process import GatewayProcess
from tests.gateway.raw_requests import NDJSON, Answer, ask

BULK = b'{"index": {"_index": "a"}}\n{"body": "No egg."}\n'


@pytest.fixture
def engine() -> CountingEngine:
    return CountingEngine()


def grouped(gateway: str, body: bytes, path: str = "/a/_search", **headers: str) -> Answer:
    return ask(gateway, "POST", f"{path}?winnow=group", body, {"content-type": "application/json", **headers})


def test_the_documentation_has_the_limits(root: Path) -> None:
    page = (root / "docs" / "gateway.md").read_text(encoding="utf-8")
    limits = Limits()
    written = [
        f"`--max-memory`: {limits.memory // MB:,} MB, or {constants.MEMORY_PER_BODY} times `--max-body` if",
        f"`--max-body`: {limits.max_body // MB} MB",
        f"documents of one bulk request | {limits.max_documents:,} |",
        f"counted by its commas | {MAX_DOCUMENT_VALUES:,} |",
        f"above {limits.min_bytes_for_ratio // MB} MB | {limits.max_gzip_ratio} times its size",
        f"of a body of gzip | {constants.MAX_GZIP_PARTS:,} |",
        f"{limits.max_search_body // MB} MB, {limits.max_search_keys:,} keys, {limits.max_search_values:,} values",
        f"grouped `_msearch` | {limits.max_searches:,} |",
        f"in progress | {limits.max_grouping} | others wait for up to {limits.turn_seconds:g} s",
        f"{constants.MAX_FILTER_PATH:,} characters, {constants.MAX_FILTER_STEPS:,} keys compared",
        f"{MAX_HEADER_BYTES // 1024} KB in all, and 128 headers",
        f"connections of clients | {limits.max_connections:,}, or",
        f"one for each client, and {limits.gateway_requests} |",
        f"is complete | after {limits.head_seconds:g} s",
        f"moves {MIN_BYTES:,} bytes in {limits.check_seconds:g} s",
        f"without a request | {limits.idle_seconds:g} s",
    ]
    assert [each for each in written if each not in page] == []


# --- memory -----------------------------------------------------------------------------------------------------------


def test_memory_is_given_back(engine: CountingEngine) -> None:
    with limited(engine, max_memory=90_000) as gateway:
        for _ in range(5):
            assert ask(gateway, "POST", "/_bulk", BULK * 10, NDJSON).status == 200
            assert grouped(gateway, b"[" * 100).status == 404
        assert numbers(gateway)["unread"] == 0


def test_without_memory_a_write_passes_unread_and_a_grouped_search_gets_429(engine: CountingEngine) -> None:
    with limited(engine, max_memory=20_000) as gateway:
        assert ask(gateway, "POST", "/_bulk", BULK * 1_000, NDJSON).status == 200
        assert numbers(gateway)["unread"] == 1
        assert engine.arrived == [("/_bulk", BULK * 1_000)]  # nothing was looked up
        engine.arrived.clear()
        answer = grouped(gateway, b'{"query": {"match": {"body": "%s"}}}' % (b"egg " * 6_000))
        assert str(answer) == "429 `circuit_breaking_exception`"
        assert str(grouped(gateway, b"{}")) == "404 `index_not_found_exception`"
    assert [path for path, _ in engine.arrived if path.startswith("/a?")] == [engine.arrived[0][0]]


def test_searches_of_one_request_share_its_memory(engine: CountingEngine) -> None:
    """The engine's answers to the searches are held until the last one is there: those beyond the budget get 429."""
    lines = b'{"index": "a"}\n{"query": {"match_all": {}}}\n' * 40
    with limited(engine, max_memory=50_000) as gateway:
        responses = grouped(gateway, lines, "/_msearch").json()["responses"]
    assert {each["status"] for each in responses} == {404, 429}


def test_an_answer_to_a_look_up_has_a_size(engine: CountingEngine) -> None:
    engine.padding = 200_000
    with limited(engine, max_gateway_answer=100_000) as gateway:
        answer = ask(gateway, "POST", "/_bulk", BULK, NDJSON)
        assert (answer.status, "too large" in answer.headers["warning"]) == (200, True)


# --- one request ------------------------------------------------------------------------------------------------------


def test_bulk_requests_beyond_a_limit_pass_unread(engine: CountingEngine) -> None:
    zipped = {**NDJSON, "content-encoding": "gzip"}
    few, bomb = gzip.compress(BULK * 100), gzip.compress(BULK * 1_000)
    gzip_limits = {"min_bytes_for_ratio": 10_000, "max_gzip_ratio": 20}
    for limits, read, unread, headers in (
        ({"max_documents": 10}, BULK * 9, BULK * 11, NDJSON),
        (gzip_limits, few, bomb, zipped),
    ):
        with limited(engine, **limits) as gateway:
            for number, body in enumerate((read, unread)):
                assert ask(gateway, "POST", "/_bulk", body, headers).status == 200
                assert numbers(gateway)["unread"] == number
        assert engine.arrived[-1] == ("/_bulk", unread)
    with limited(engine, **gzip_limits) as gateway:
        assert grouped(gateway, gzip.compress(b" " * 100_000), **{"content-encoding": "gzip"}).status == 400


@pytest.mark.parametrize(
    "body",
    [b'{"query": [%s]}' % b",".join([b"{}"] * 60), b'{"a": "%s"}' % (b" " * 2_000), b'{"a": [%s]}' % (b"1," * 200)],
    ids=["keys", "bytes", "values"],
)
def test_a_grouped_search_that_is_too_large_is_refused(engine: CountingEngine, body: bytes) -> None:
    with limited(engine, max_search_keys=50, max_search_values=100, max_search_body=1_000) as gateway:
        answer = grouped(gateway, body)
        assert str(answer) == "400 `illegal_argument_exception`"
        assert answer.reason.endswith("at most 1,000 bytes, 50 keys and 100 values")
        assert str(ask(gateway, "POST", "/a/_search", body)) == "404 `index_not_found_exception`"  # others pass
    assert engine.arrived == [("/a/_search", body)]


def test_a_request_with_too_many_searches_is_refused(engine: CountingEngine) -> None:
    with limited(engine, max_searches=3) as gateway:
        assert grouped(gateway, b"{}\n{}\n" * 4, "/_msearch").reason.startswith("4 searches in one request")
        assert len(grouped(gateway, b"{}\n{}\n" * 3, "/_msearch").json()["responses"]) == 3
    assert engine.arrived == []


def test_few_searches_are_grouped_at_a_time() -> None:
    async def check() -> None:
        anything: Any = None
        limits = Limits(max_grouping=2, turn_seconds=0.001)
        requests = SearchRequests(anything, anything, anything, limits, MemoryBudget(0))
        async with requests.turn():
            async with requests.turn():
                with pytest.raises(GatewayError, match="2 grouped searches are in progress") as refused:
                    async with requests.turn():
                        pass
            assert refused.value.status == 429
            async with requests.turn():
                pass

    asyncio.run(check())


@pytest.mark.parametrize("path", ["/a/_search", "/_msearch"])
def test_a_filter_path_has_a_length(engine: CountingEngine, path: str) -> None:
    body = b'{"index": "a"}\n{}\n' if path == "/_msearch" else b"{}"
    with limited(engine) as gateway:
        answer = ask(gateway, "POST", f"{path}?winnow=group&filter_path={'a' * 5_000}", body)
    assert answer.reason.startswith("filter_path has 5,000 characters")
    assert engine.arrived == []


def test_many_names_are_looked_up_on_few_connections(engine: CountingEngine) -> None:
    engine.delay = 0.005
    body = b"".join(b'{"index": {"_index": "n%d"}}\n{}\n' % number for number in range(60))
    with limited(engine, gateway_requests=4) as gateway:
        assert ask(gateway, "POST", "/_bulk", body, NDJSON).status == 200
    assert len(engine.arrived) == 61
    assert engine.most_connections <= 5


def test_an_action_has_a_size() -> None:
    """While one is decoded, nobody else runs."""
    with pytest.raises(MalformedBulkError):
        bulk_items(b'{"index": {"routing": [%s[]]}}\n{}\n' % (b"[]," * MAX_ACTION_BYTES))


def test_a_document_with_too_many_values_gets_no_fields() -> None:
    content = b'{"body": "No egg.", "numbers": [%s1]}' % (b"1," * MAX_DOCUMENT_VALUES)
    nobody: Any = None  # the document is not compared with any index
    written = written_document(DocumentWrite(nobody, "create", "1", content), None)
    assert (written.content, written.has_fields) == (content, False)
    assert written.problem == "it has more than 200,000 values"


@pytest.mark.check
def test_a_few_kilobytes_do_not_take_all_memory(engine: CountingEngine) -> None:
    bodies = {
        "/_msearch?winnow=group": b"{}\n{}\n" * 667_000,
        "/a/_search?winnow=group": b'{"query": [%s{}]}' % (b"{}," * 20_000_000),
        "/_bulk": b'{"index": {}}\n{}\n' * 1_560_000,
    }
    headers = {**NDJSON, "content-encoding": "gzip"}
    with faulty_engine(engine.answer) as url, GatewayProcess(url) as gateway:
        before = gateway.peak_bytes
        for path, body in bodies.items():
            assert ask(gateway.url, "POST", path, gzip.compress(body), headers).status in (200, 400)
        assert gateway.peak_bytes - before < 100_000_000
