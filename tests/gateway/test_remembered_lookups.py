"""Look-ups of indices: who they count for, how long, and how many there may be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from opensearchpy import OpenSearch, OpenSearchWarning, helpers

from opensearch_winnow.gateway.attached import LOOK_UPS_AT_A_TIME, MAX_REMEMBERED, AttachedIndices, Unusable, find_all
from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.headers import client_of
from opensearch_winnow.gateway.limits import MAX_NAMES_PER_REQUEST
from opensearch_winnow.gateway.routes import Write
from opensearch_winnow.gateway.searching.grouped_search import grouped_search
from opensearch_winnow.gateway.writing.writes import prepare
from opensearch_winnow.mappings.attached_fields import NOTICED_SECONDS
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway
from tests.stores.opensearch.own_articles import OwnIndex, article


class Engine:
    """An engine without attached indices, which notes what it is looked up."""

    def __init__(self, status: int = 200) -> None:
        self.names_sent: list[str] = []
        self.at_a_time = self.most = 0
        self._status = status

    async def send(self, method: str, path: str, body: Any) -> EngineAnswer:
        assert (method, body) == ("GET", None)
        self.names_sent.append(path.partition("?")[0])
        self.at_a_time += 1
        self.most = max(self.most, self.at_a_time)
        await asyncio.sleep(0)
        self.at_a_time -= 1
        return EngineAnswer(self._status, {}, b"{}")


def prepared(names: int, engine: Engine) -> Any:
    lines = [line for number in range(names) for line in ({"index": {"_index": f"n{number}"}}, {"body": "x"})]
    indices = AttachedIndices()

    async def work() -> Any:
        find: Callable[[str], Any] = lambda name: indices.find_to_write(name, engine.send)  # noqa: E731
        return await prepare(Write("bulk"), "/_bulk", {}, bulk_lines(*lines), find, engine.send)

    return asyncio.run(work())


def test_a_request_asks_for_a_few_names_at_a_time_and_for_a_thousand_at_most() -> None:
    engine = Engine()
    assert not prepared(MAX_NAMES_PER_REQUEST, engine).unread
    assert (len(engine.names_sent), engine.most) == (MAX_NAMES_PER_REQUEST, LOOK_UPS_AT_A_TIME)
    engine = Engine()
    passed = prepared(MAX_NAMES_PER_REQUEST + 1, engine)
    assert (passed.unread, passed.body, engine.names_sent) == (True, None, [])
    assert "more than 1,000 indices" in passed.missing_fields().sentence()
    names = ",".join(f"n{number}" for number in range(MAX_NAMES_PER_REQUEST + 1))
    find: Callable[[str], Any] = lambda name: AttachedIndices().find(name, engine.send)  # noqa: E731
    answer = asyncio.run(grouped_search(f"/{names}/_search", {"winnow": "group"}, b"{}", find, engine.send))
    assert (answer.status, engine.names_sent) == (400, [])
    assert "at most 1,000 indices" in answer.json()["error"]["reason"]


def test_a_client_that_the_engine_does_not_know_is_not_looked_up_for_again() -> None:
    engine = Engine(401)
    assert prepared(100, engine).missing_fields().documents == 100
    assert len(engine.names_sent) <= LOOK_UPS_AT_A_TIME


def test_no_index_is_looked_up_for_names_that_none_can_have_and_a_missing_one_each_time() -> None:
    engine, indices = Engine(404), AttachedIndices()
    for name in ("_all", "_cat", "a*", "a,b", "n" * 200_000, "new", "new"):
        assert asyncio.run(indices.find_to_write(name, engine.send)) is None
    assert engine.names_sent == ["/new", "/new"]


def test_few_look_ups_are_remembered_and_none_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, indices, now = Engine(), AttachedIndices(), [time.monotonic()]
    monkeypatch.setattr("opensearch_winnow.gateway.attached.time.monotonic", lambda: now[0])

    async def ask_for(*names: str, client: bytes = b"") -> int:
        before = len(engine.names_sent)
        await find_all(names, lambda name: indices.find(name, engine.send, client))
        return len(engine.names_sent) - before

    async def work() -> None:
        names = [f"n{number}" for number in range(MAX_REMEMBERED)]
        assert await ask_for(*names) == MAX_REMEMBERED
        assert await ask_for(*names) == 0
        assert await ask_for("n0", client=b"another") == 1  # the oldest one makes room: n0 of the first client
        assert len(indices._remembered) == MAX_REMEMBERED
        assert await ask_for("n1", "n2", "n0") == 1
        indices.forget(["n5"])
        assert await ask_for("n5", "n6") == 1
        now[0] += NOTICED_SECONDS + 0.01
        assert await ask_for("n5") == 1
        assert len(indices._remembered) == 1

    asyncio.run(work())


def test_a_refusal_is_not_the_answer_for_others() -> None:
    alice = [(b"Authorization", b"Basic x"), (b"X-Proxy-User", b"alice")]
    assert client_of(alice) == client_of([*alice[::-1], (b"User-Agent", b"curl"), (b"X-Opaque-Id", b"7")])
    assert client_of(alice) == client_of([*alice, (b"Content-Length", b"7"), (b"Accept-Encoding", b"gzip")])
    basic = alice[:1]
    others = [[*basic, (b"X-Proxy-User", b"mallory")], [*basic, (b"Cookie", b"alice")], basic, []]
    others += [[(b"Authorization", b"Basic \xff")], [(b"Authorization", b"Basic \xfe")]]
    assert len({client_of(each) for each in (alice, *others)}) == 7


def test_the_status_of_one_user_of_a_proxy_does_not_decide_for_another(engine: Running, attached: OwnIndex) -> None:
    def check(arrived: Arrived) -> Answer | None:
        is_refused = arrived.method == "GET" and arrived.headers.get("x-proxy-user") == "mallory"
        return Answer(403, b'{"status": 403}') if is_refused else None

    with Gateway(engine.url, check) as front, running_gateway(front.url) as gateway:
        for user in ("mallory", "alice"):
            answer = ask(gateway, "PUT", f"/{attached.name}/_doc/{user}", article(1), x_proxy_user=user)
            assert (answer.status, "warning" in answer.headers) == (201, user == "mallory")


def test_a_gateway_has_noticed_after_two_seconds_that_an_index_is_detached(
    gateway: str, attached: OwnIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.monotonic
    for number, seconds in enumerate((0.0, NOTICED_SECONDS)):
        monkeypatch.setattr("opensearch_winnow.gateway.attached.time.monotonic", lambda late=seconds: clock() + late)
        ask(gateway, "PUT", f"/{attached.name}/_doc/{number}", article(1))
        assert ("winnow" in attached.client.get(index=attached.name, id=str(number))["_source"]) == (number == 0)
        attached.client.indices.put_mapping(index=attached.name, body={"_meta": {}})


def test_a_request_that_took_long_to_prepare_is_prepared_again_if_its_index_is_another_one(
    engine: Running, attached: OwnIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody detaches the index while its documents get their fields, which takes longer than a look-up counts."""
    late, clock = [0.0], time.monotonic
    monkeypatch.setattr("opensearch_winnow.gateway.attached.time.monotonic", lambda: clock() + late[0])

    def check(arrived: Arrived) -> Answer | None:
        if arrived.path == "/_mget":
            late[0] += NOTICED_SECONDS
            attached.client.indices.put_mapping(index=attached.name, body={"_meta": {}})
        return None

    with Gateway(engine.url, check) as front, running_gateway(front.url) as gateway:
        assert ask(gateway, "PUT", f"/{attached.name}/_doc/1", article(1)).status == 201
    assert attached.client.get(index=attached.name, id="1")["_source"] == article(1)


def test_a_bulk_to_110_indices_without_fields_is_stored_once() -> None:
    """Python's http.client refuses answers with more than 100 headers, and clients repeat what is not answered."""
    bulks: list[bytes] = []

    def answer(arrived: Arrived) -> Answer:
        if arrived.method == "GET":
            return Answer(403, b'{"status": 403}')
        bulks.append(arrived.body)
        item = {"index": {"_index": "i", "_id": "1", "status": 201}}
        return Answer(200, msgspec.json.encode({"took": 1, "errors": False, "items": [item] * 110}))

    actions = [{"_index": f"day-{number:03}", "body": "No egg today."} for number in range(110)]
    with Gateway("http://127.0.0.1:1", answer) as front, running_gateway(front.url) as gateway:
        with OpenSearch(gateway) as client, pytest.warns(OpenSearchWarning, match="and 107 more"):
            assert helpers.bulk(client, actions) == (110, [])
        said = ask(gateway, "POST", "/_bulk", bulks[0]).headers["warning"]
        assert ask(gateway, "GET", "/_winnow").json()["without_fields"] == 220
    assert [body.count(b"\n") for body in bulks] == [220, 220]
    assert said.startswith('299 winnow "no fields for 110 documents of 110 indices: day-')
    assert said.endswith(' cannot be looked up: the engine answers with status 403"')
    assert " and 107 more: " in said


def test_an_unusable_name_is_cut_in_what_the_client_reads() -> None:
    async def find(_: str) -> Any:
        return Unusable("x\r\n" * 1_000)

    names = [f"{'ä' * 300}{number}" for number in range(110)]
    lines = [line for name in names for line in ({"index": {"_index": name}}, {"body": "x"})]
    passed = asyncio.run(prepare(Write("bulk"), "/_bulk", {}, bulk_lines(*lines), find, Engine().send))
    missing, sentence = passed.missing_fields(), passed.missing_fields().sentence()
    assert sentence.startswith("no fields for 110 documents of 110 indices: ?")
    assert " and 109 more: x" in sentence  # fewer names, rather than a part of the reason
    assert sentence.count("x") > 50
    assert len(sentence) <= 300
    assert sentence.isascii()
    assert sentence.isprintable()
    assert len(missing.log_lines()) <= 10
    assert max(map(len, missing.log_lines())) <= 300
