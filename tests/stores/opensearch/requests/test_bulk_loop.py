"""Properties of the bulk loop, with a simulated clock and a simulated engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.stores.opensearch.requests.bulk_errors import Verdict, retry_after_seconds, verdict_on
from opensearch_winnow.stores.opensearch.requests.bulk_loop import NOT_FOUND, BulkLoop, BulkResponse, Lost, Request
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits, Operation
from opensearch_winnow.stores.store import StoreError, WriteOutcome

OLD = "old"  # the id of a document that exists already, with a high version
BUSY = {"status": 429, "error": {"type": "rejected_execution_exception", "reason": "full"}}
ids = st.sampled_from(["a", "b", "c", "d", "e", "f", OLD])
operations = st.one_of(
    st.builds(lambda name, n: Operation("index", "i", name, {"n": n}), ids, st.integers(0, 10**30)),
    st.builds(lambda name, n: Operation("update", "i", name, {"n": n}), ids, st.integers(0, 9)),
    st.builds(lambda name: Operation("delete", "i", name), ids),
)
FAULTS = ["", "", "lost before", "lost after", "refused", "429", "503", "502 after", "garbage after", "items"]
faults = st.lists(st.sampled_from(FAULTS), max_size=30)
limits = st.builds(BulkLimits, count=st.integers(1, 5), size=st.integers(1, 300), requests=st.integers(1, 3))


class World:
    """A simulated engine: versions of documents by id. Each request meets the next fault, until there are no more.

    It has answers of its own for requests that `refuse` answers, and counts them.
    """

    def __init__(
        self, faults: list[str], refuse: Callable[[Request], BulkResponse | Lost | None] = lambda _: None
    ) -> None:
        self.now = 1_000.0
        self.documents: dict[str, Any] = {OLD: -1}
        self.versions = {OLD: 1_000}
        self.requests: list[Request] = []
        self.refused = 0
        self._faults = iter(faults)
        self._refuse = refuse

    def answer(self, request: Request) -> BulkResponse | Lost:
        if refusal := self._refuse(request):
            self.refused += 1
            return refusal
        self.requests.append(request)
        fault = next(self._faults, "")
        match fault:
            case "lost before":
                return Lost("the connection breaks")
            case "refused":
                return Lost("the connection is refused", maybe_done=False)
            case "429" | "503":
                error = '{"error": {"type": "some_exception", "reason": "no"}}'
                return BulkResponse(int(fault), error, retry_after=2.0)
        busy = [fault == "items" and number % 2 == 0 for number in range(len(request.items))]
        items = [BUSY if no else self.do(item.lines) for no, item in zip(busy, request.items, strict=True)]
        match fault:
            case "lost after":
                return Lost("no answer in time")
            case "502 after":
                return BulkResponse(502, "<html>")
            case "garbage after":
                return answer_of(items[:-1])
        return answer_of(items)

    def do(self, lines: bytes) -> dict[str, Any]:
        action, *source = map(json.loads, lines.decode().splitlines())
        ((kind, where),) = action.items()
        name = where["_id"]
        there = name in self.documents
        if kind == "update" and not there:
            return {"status": 404, "error": {"type": "document_missing_exception", "reason": "missing"}}
        self.versions[name] = self.versions.get(name, 0) + 1
        if kind == "delete":
            self.documents.pop(name, None)
        else:
            self.documents[name] = source[0]["doc"]["n"] if kind == "update" else source[0]["n"]
        status = 201 if kind == "index" and not there else 404 if kind == "delete" and not there else 200
        return {"status": status, "_version": self.versions[name]}


def answer_of(items: list[dict[str, Any]]) -> BulkResponse:
    return BulkResponse(200, json.dumps({"items": [{"index": each} for each in items]}))


def numbered(count: int) -> list[Operation]:
    return [Operation("index", "i", str(number), {"n": number}) for number in range(count)]


def taken(loop: BulkLoop, now: float) -> Request:
    request = loop.take(now)
    assert request
    return request


def carried_out(loop: BulkLoop, world: World, wanted: list[Operation], limits: BulkLimits) -> list[WriteOutcome]:
    """Drive the loop as `bulk` does, except that the last of several requests is answered first."""
    feed = iter(wanted)
    in_flight: list[Request] = []
    written: list[WriteOutcome] = []
    read = 0
    while not loop.finished:
        written += loop.outcomes()
        while request := loop.take(world.now):
            in_flight.append(request)
        if loop.wants_more:
            operation = next(feed, None)
            loop.end() if operation is None else loop.add(operation)
            read += operation is not None
            assert read - len(written) <= (limits.requests + 1) * limits.count
            continue
        assert len(in_flight) == loop.in_flight <= limits.requests
        pause = loop.wait(world.now)
        if in_flight:
            request = in_flight.pop()
            loop.handle(request, world.answer(request), world.now)
        else:
            assert pause is not None, "the loop waits for nothing"
            world.now += pause
    return [*written, *loop.outcomes()]


@given(st.lists(operations, max_size=40), faults, limits, st.floats(0, 1, exclude_max=True))
def test_every_operation_is_executed_in_order(
    wanted: list[Operation], faults: list[str], limits: BulkLimits, random: float
) -> None:
    world, calm = World(faults), World([])
    loop = BulkLoop(limits, lambda: random)
    written = carried_out(loop, world, wanted, limits)
    for operation in wanted:
        calm.do(operation.lines())
    assert not loop.broken
    assert [each.id for each in written] == [each.id for each in wanted]
    assert world.documents == calm.documents
    for request in world.requests:
        assert 1 <= len(request.items) <= limits.count
        assert len(request.items) == 1 or len(request.body) <= limits.size
        assert len({item.key for item in request.items}) == len(request.items)


@given(faults, limits, st.lists(st.booleans(), min_size=1, max_size=30))
def test_outcomes_tell_which_documents_existed(faults: list[str], limits: BulkLimits, there: list[bool]) -> None:
    """Outcomes are right even after requests that were executed but not answered."""
    deletions = [Operation("delete", "i", str(number)) for number in range(len(there))]
    for wanted, otherwise in ((numbered(len(there)), "added"), (deletions, "failed")):
        world = World(faults)
        world.documents = {str(number): -1 for number, is_there in enumerate(there) if is_there}
        world.versions = dict.fromkeys(world.documents, 1_000)
        written = carried_out(BulkLoop(limits, lambda: 0.5), world, wanted, limits)
        assert [each.outcome for each in written] == ["replaced" if each else otherwise for each in there]
        assert {each.reason for each in written if each.outcome == "failed"} <= {NOT_FOUND}


@pytest.mark.parametrize(("version", "outcome"), [(1, "added"), (7, "failed")])
def test_a_creation_that_may_have_been_carried_out(version: int, outcome: str) -> None:
    loop = BulkLoop(BulkLimits(), lambda: 0.0)
    loop.add(Operation("create", "i", "a", {}))
    loop.end()
    loop.handle(taken(loop, 0), Lost("no answer in time"), 0)
    reason = f"[a]: version conflict, document already exists (current version [{version}])"
    error = {"type": "version_conflict_engine_exception", "reason": reason}
    loop.handle(taken(loop, 0), answer_of([{"status": 409, "error": error}]), 0)
    assert [each.outcome for each in loop.outcomes()] == [outcome]


@given(st.integers(1, 20), st.integers(0, 19))
def test_a_document_that_spoils_the_request_is_isolated(count: int, bad: int) -> None:
    """A request that is refused as a whole is halved until the document that causes it is alone."""
    wanted, spoiler, limits = numbered(count), str(bad % count), BulkLimits(count=8)
    refusal = BulkResponse(400, '{"error": {"type": "x", "reason": "that id"}}')
    world = World([], lambda request: refusal if spoiler in {item.key[1] for item in request.items} else None)
    written = carried_out(BulkLoop(limits, lambda: 0.0), world, wanted, limits)
    assert [each.id for each in written if each.outcome == "failed"] == [spoiler]
    assert Counter(each.outcome for each in written)["added"] == count - 1


@pytest.mark.parametrize(
    ("answer", "limits", "reason"),
    [
        (
            BulkResponse(413, ""),  # requests get smaller when the engine says so
            BulkLimits(count=20, requests=1),
            "it is larger than the engine accepts (http.max_content_length)",
        ),
        (
            Lost("the connection breaks"),
            BulkLimits(size=300, count=4, requests=1, give_up_after=60),
            "it has 447 bytes, which may be too many: the connection breaks, each time",
        ),
    ],
)
def test_one_page_that_is_too_large_does_not_stop_the_others(
    answer: BulkResponse | Lost, limits: BulkLimits, reason: str
) -> None:
    wanted = numbered(200)
    wanted.insert(9, Operation("index", "i", "large", {"n": 10**400}))
    world = World([], lambda request: answer if len(request.body) > 300 else None)
    written = carried_out(BulkLoop(limits, lambda: 1.0), world, wanted, limits)
    assert [each for each in written if each.outcome != "added"] == [WriteOutcome("large", "failed", reason)]
    assert isinstance(answer, Lost) or world.refused < 10 < 200 / 20 * 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Lost("the connection is refused", maybe_done=False), "the connection is refused"),
        (BulkResponse(429, ""), "it has more requests than it can handle; "),
        (BulkResponse(502, "<html>Sorry</html>"), "the engine says: what answers says '<html>Sorry</html>'"),
    ],
)
def test_retries_end(answer: BulkResponse | Lost, reason: str) -> None:
    limits = BulkLimits(count=2, requests=1, give_up_after=60, retry_pause=1, max_retry_pause=8)
    world = World([], lambda _: answer if world.requests else None)
    loop = BulkLoop(limits, lambda: 1.0)
    start = world.now
    assert [each.id for each in carried_out(loop, world, numbered(9), limits)] == ["0", "1"]
    assert 60 <= world.now - start <= 60 + limits.max_retry_pause
    error = loop.error("http://host:9200/pages")
    assert isinstance(error, StoreError)
    assert str(error).startswith(f"http://host:9200/pages cannot be written: {reason}")
    assert "(2 of 6 documents are written for sure; " in str(error)


def test_progress_of_other_documents_extends_the_time() -> None:
    """A stuck document does not stop the others at once, but they cannot get far ahead of it."""

    class Stuck(World):
        def answer(self, request: Request) -> BulkResponse | Lost:
            self.requests.append(request)
            self.now += 1
            return answer_of([BUSY if item.key[1] == "0" else self.do(item.lines) for item in request.items])

    limits = BulkLimits(count=2, requests=1, give_up_after=60, retry_pause=1, max_retry_pause=8)
    world = Stuck([])
    loop = BulkLoop(limits, lambda: 1.0)
    assert carried_out(loop, world, numbered(100), limits) == []
    assert sorted(world.documents) == ["1", "2", "3", OLD]
    assert "(3 of 4 documents" in str(loop.error("pages"))


def test_pauses_double_and_the_engine_may_ask_for_longer_ones() -> None:
    limits = BulkLimits(retry_pause=1, max_retry_pause=5, give_up_after=1_000)
    loop = BulkLoop(limits, lambda: 1.0)
    loop.add(Operation("index", "i", "a", {}))
    loop.end()
    now, pauses = 0.0, []
    for retry_after in (0, 0, 0, 0, 30):
        loop.handle(taken(loop, now), BulkResponse(503, "", retry_after=retry_after), now)
        assert not loop.take(now)
        pauses.append(loop.wait(now) or 0.0)
        now += pauses[-1]
    assert pauses == [1, 2, 4, 5, 30]


def test_values_that_json_cannot_express_are_refused() -> None:
    limits = BulkLimits()
    wanted = [Operation("index", "i", "a", {"n": chr(0xD800)}), Operation("index", "i", "b", {"n": float("nan")})]
    written = carried_out(BulkLoop(limits, lambda: 0.0), World([]), wanted, limits)
    assert [(each.id, each.outcome) for each in written] == [("a", "failed"), ("b", "failed")]
    assert all(each.reason.startswith("it cannot be written as JSON: ") for each in written)


@pytest.mark.parametrize(
    ("status", "kind", "reason", "expected"),
    [
        (429, "rejected_execution", "", Verdict.RETRY),
        (429, "es_rejected_execution", "", Verdict.RETRY),
        (429, "circuit_breaking", "", Verdict.RETRY),
        (503, "unavailable_shards", "", Verdict.RETRY),
        (503, "cluster_block", "blocked by: [SERVICE_UNAVAILABLE/2/no master];", Verdict.RETRY),
        (403, "cluster_block", "index [i] blocked by: [FORBIDDEN/8/index write (api)];", Verdict.RETRY),
        (403, "cluster_block", "index [i] blocked by: [FORBIDDEN/5/index read-only (api)];", Verdict.STOP),
        (429, "cluster_block", "blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded …];", Verdict.STOP),
        (403, "cluster_block", "blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];", Verdict.STOP),
        (404, "index_not_found", "", Verdict.STOP),
        (400, "index_closed", "", Verdict.STOP),
        (401, "security", "", Verdict.STOP),
        (403, "security", "", Verdict.STOP),
        (404, "document_missing", "", Verdict.FAIL),
        (400, "mapper_parsing", "", Verdict.FAIL),
        (409, "version_conflict_engine", "", Verdict.FAIL),
        (500, "null_pointer", "", Verdict.RETRY_A_FEW_TIMES),
    ],
)
def test_what_an_error_means(status: int, kind: str, reason: str, expected: Verdict) -> None:
    assert verdict_on(status, {"type": f"{kind}_exception", "reason": reason}) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [(None, 0), ("", 0), ("3", 3), ("0.5", 0.5), ("-1", 0), ("soon", 0), ("Thu, 01 Jan 1970 00:01:30 GMT", 60)],
)
def test_retry_after(header: str | None, expected: float) -> None:
    assert retry_after_seconds(header, wall_clock=30) == expected
