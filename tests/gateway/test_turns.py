"""The event loop has its turn while the largest requests are prepared, and small ones do not wait for large ones."""

from __future__ import annotations

import asyncio
import gc
import gzip
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from threading import Event, get_ident
from typing import Any, TypeVar

import msgspec
import pytest

from opensearch_winnow import Scheme
from opensearch_winnow.gateway import threads
from opensearch_winnow.gateway.attached import Found
from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.limits import Limits
from opensearch_winnow.gateway.memory_budget import MemoryBudget
from opensearch_winnow.gateway.request_body import decompressed
from opensearch_winnow.gateway.searching.grouped_msearch import grouped_msearch
from opensearch_winnow.mappings.attached_fields import Attachment
from tests.gateway.bulk_sender import sent_bulk
from tests.gateway.running_gateway import bulk_lines
from tests.stores.opensearch.own_articles import FIELDS

MAX_TURN = 0.03  # seconds of CPU; before, the largest requests took .1 to .4 s
DOCUMENTS = Limits().max_documents - 10
T = TypeVar("T")


def longest_turn(work: Callable[[], Awaitable[T]]) -> tuple[float, T]:
    """Return the most CPU time that the event loop takes before others get their turn, and the result.

    Without the garbage collector, which looks through all that the tests of this process have made.
    """

    async def timed() -> tuple[float, T]:
        task = asyncio.ensure_future(work())
        longest, before = 0.0, time.thread_time()
        while not task.done():
            await asyncio.sleep(0.0005)
            now = time.thread_time()
            longest, before = max(longest, now - before), now
        return longest, task.result()

    gc.disable()
    try:
        return asyncio.run(timed())
    finally:
        gc.enable()


async def no_engine(*_: Any) -> EngineAnswer:
    return EngineAnswer(200, {}, b"{}")


async def attached_nowhere(_: str) -> Found:
    return None


@pytest.mark.parametrize(
    ("options", "line"),
    [({}, b"{}\n{}\n"), ({}, b'{}\n{"knn":{}}\n'), ({"winnow_members": "-7"}, b"{}\n{}\n")],
    ids=["naming nothing", "refused", "with a wrong option"],
)
@pytest.mark.parametrize("searches", [10, Limits().max_searches])
def test_others_have_their_turn_between_the_searches_of_one_request(
    options: Mapping[str, str], line: bytes, searches: int
) -> None:
    query = {"winnow": "group", **options}
    longest, answer = longest_turn(
        lambda: grouped_msearch("/_msearch", query, line * searches, attached_nowhere, no_engine, 1_000)
    )
    assert len(answer.json()["responses"]) == searches
    assert {each["status"] for each in answer.json()["responses"]} == {400}
    assert longest < MAX_TURN


@pytest.mark.parametrize("status", [201, *(pytest.param(each, marks=pytest.mark.check) for each in (400, 403))])
@pytest.mark.parametrize("kind", ["index", "update"])
def test_others_have_their_turn_while_a_large_bulk_request_is_prepared_and_answered(kind: str, status: int) -> None:
    meta = Attachment.of(replace(FIELDS, below="winnow"), Scheme(), "settings").meta()
    described: dict[str, Any] = {"a": {"mappings": {"_meta": {"winnow": meta}}, "settings": {"index.uuid": "1"}}}
    described["a"]["mappings"]["properties"] = {"winnow": {"properties": {"guard": {"type": "keyword"}}}}
    document = {"index": {}, "update": {"doc": {"body": "No egg."}}}[kind]
    ids = [{"_id": str(number)} if kind == "update" else {} for number in range(DOCUMENTS)]
    body = bulk_lines(*(line for each in ids for line in ({kind: each}, document)))
    error = {"error": {"type": "mapper_parsing_exception", "reason": "no"}} if status >= 300 else {}
    items = [{kind: {"_index": "a", "_id": "1", "status": status, **error}}] * DOCUMENTS
    answer = EngineAnswer(200, {}, msgspec.json.encode({"items": items}))

    async def send(method: str, _: str, content: Any) -> EngineAnswer:
        if method == "GET":
            return EngineAnswer(200, {}, msgspec.json.encode(described))
        if isinstance(content, bytes):
            assert content.count(b"\n") == 2 * DOCUMENTS
            return answer
        stored = {"_index": "a", "found": True, "_version": 1, "_source": {"body": "Two eggs."}}
        docs = [stored | {"_id": each["_id"]} for each in content["docs"]]
        return EngineAnswer(200, {}, msgspec.json.encode({"docs": docs}))

    longest, answered = longest_turn(lambda: sent_bulk(send, "a", body))
    assert answered is not None
    assert answered.with_fields == (DOCUMENTS if status == 201 else 0)
    assert longest < MAX_TURN


async def beside(waiting: int, work: Callable[[], Awaitable[T]]) -> T:
    """Do some work while 20 large requests keep their threads."""
    end = Event()
    others = [asyncio.create_task(threads.for_documents(waiting, end.wait)) for _ in range(20)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(10):
            return await work()
    finally:
        end.set()
        await asyncio.gather(*others)


@pytest.mark.parametrize("size", [threads.SMALL_REQUEST, threads.SMALL_REQUEST + 1])
def test_small_requests_do_not_wait_for_large_ones(size: int) -> None:
    work = beside(threads.LARGE_REQUEST + 1, lambda: threads.for_documents(size, lambda: "done"))
    assert asyncio.run(work) == "done"


def test_searches_are_unpacked_in_threads_of_their_own() -> None:
    limits = Limits()

    async def unpack() -> bytes:
        with MemoryBudget(limits.memory).reservation() as memory:
            headers, body = {"content-encoding": "gzip"}, gzip.compress(b"{}")
            return await decompressed(headers, body, limits.max_search_body, limits, memory, is_search=True)

    assert asyncio.run(beside(threads.SMALL_REQUEST + 1, unpack)) == b"{}"


def test_only_small_requests_keep_the_event_loop() -> None:
    async def thread_of(size: int) -> int:
        return await threads.for_documents(size, get_ident)

    assert asyncio.run(thread_of(threads.SMALL_REQUEST)) == get_ident()
    assert asyncio.run(thread_of(threads.SMALL_REQUEST + 1)) != get_ident()
