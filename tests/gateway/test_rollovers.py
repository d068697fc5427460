"""An alias or a data stream is rolled over again and again while documents are written to it through the gateway."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import count, product
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.mappings.attached_fields import WINNOW_FIELDS
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.engine_fixture import VERSION
from tests.gateway.gateway_process import GatewayProcess
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
from tests.gateway.stamped_documents import check_stamps
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway
from tests.stores.opensearch.own_articles import ARTICLES, FIELDS, OwnIndex, article, attach, text

NUMBERS = count()
OPERATIONS = 8  # in a bulk
MAX_PAUSE_SECONDS = 0.6  # between two rollovers; they come at all moments of the gateway's work, and of its memory
NO_STREAMS = ("7.10.2", "8.19.8", "9.3.1")  # the free builds of Elasticsearch that the tests start


@dataclass(frozen=True)
class Trial:
    """An alias or data stream, and who gives its new indices the mapping of winnow's fields."""

    kind: str  # alias or stream
    mapping: str  # strict or dynamic
    given_by: str  # template; gateway; or nobody, because the gateway may not put mappings

    def __str__(self) -> str:
        return f"{self.kind}-{self.mapping}-{self.given_by}"


KINDS = ["alias"] if VERSION in NO_STREAMS else ["alias", "stream"]
TRIALS = [Trial(*each) for each in product(KINDS, ("strict", "dynamic"), ("template", "gateway", "nobody"))]
SHORT = [Trial("alias", "strict", "gateway"), Trial(KINDS[-1], "dynamic", "nobody")]


@dataclass
class Rolled:
    """The alias or data stream of a trial, in an engine."""

    client: OpenSearch
    url: str
    name: str
    trial: Trial

    def create(self) -> None:
        mapping = {
            "dynamic": "strict" if self.trial.mapping == "strict" else True,
            "_meta": {"owner": "the newsroom"},
            "properties": {"@timestamp": {"type": "date"}, **ARTICLES["properties"]},
        }
        settings = {"number_of_shards": 1, "number_of_replicas": 0, "translog.durability": "async"}
        template: dict[str, Any] = {
            "index_patterns": [self.name if self.trial.kind == "stream" else f"{self.name}-*"],
            "template": {"settings": settings, "mappings": mapping},
        }
        if self.trial.kind == "stream":
            template["data_stream"] = {}
        self.client.indices.put_index_template(name=self.name, body=template)
        if self.trial.kind == "stream":
            self.client.transport.perform_request("PUT", f"/_data_stream/{self.name}")
        else:
            first = {"aliases": {self.name: {"is_write_index": True}}}
            self.client.indices.create(index=f"{self.name}-000001", body=first)
        address = Address.of(f"{self.url}/{self.name}")
        attach(self.client, address, FIELDS, template=self.trial.given_by == "template")

    def roll_over(self) -> None:
        self.client.transport.perform_request("POST", f"/{self.name}/_rollover")

    def delete(self) -> None:
        if self.trial.kind == "stream":
            self.client.transport.perform_request("DELETE", f"/_data_stream/{self.name}")
        else:
            self.client.indices.delete(index=f"{self.name}-*", params={"expand_wildcards": "all"})
        self.client.indices.delete(index=f"winnow.{self.name}.settings", params={"ignore_unavailable": "true"})
        self.client.indices.delete_index_template(name=self.name)
        if self.trial.given_by == "template":
            self.client.cluster.delete_component_template(name=f"winnow.{self.name}")

    def documents(self) -> int:
        self.client.indices.refresh(index=self.name)
        return int(self.client.count(index=self.name)["count"])

    def without_fields(self) -> int:
        query = {"bool": {"must_not": {"exists": {"field": "winnow.id"}}}}
        return int(self.client.count(index=self.name, body={"query": query})["count"])

    def wrong_mappings(self) -> list[str]:
        """Return the indices in which a field of winnow has another type than it should, or some are missing."""
        found = self.client.indices.get_mapping(index=self.name)
        ours = {index: each["mappings"].get("properties", {}).get("winnow") for index, each in found.items()}
        expected = {"properties": WINNOW_FIELDS}
        return [index for index, there in ours.items() if there is not None and there != expected]


@dataclass
class Writer(Thread):
    """Writes documents in one way until it is told to stop."""

    write: Callable[[Writer], None]
    url: str
    rolled: Rolled
    stop: Event
    acknowledged: int = 0
    refused: list[str] = field(default_factory=list)
    error: BaseException | None = None

    def __post_init__(self) -> None:
        super().__init__()
        self.numbers = count()

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        self.connection = HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        try:
            while not self.stop.is_set():
                self.write(self)
        except BaseException as error:
            self.error = error
        finally:
            self.connection.close()

    def article(self) -> tuple[str, dict[str, Any]]:
        """Return an id that is new, and an article."""
        number = next(self.numbers)
        body = text(number % 50, 80)
        id_ = f"{self.write.__name__}-{number}"
        return id_, {"@timestamp": "2026-05-06T10:00:00Z", "headline": f"Article {number}", "body": body}

    def send(self, method: str, path: str, body: bytes) -> Any:
        self.connection.request(method, path, body, {"content-type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def note(self, status: int, answer: Any) -> None:
        if status in (200, 201):
            self.acknowledged += 1
        else:
            self.refused.append(json.dumps(answer))


def single_without_id(writer: Writer) -> None:
    _, written = writer.article()
    writer.note(*writer.send("POST", f"/{writer.rolled.name}/_doc", json.dumps(written).encode()))


def single_with_id(writer: Writer) -> None:
    id_, written = writer.article()
    way = "_create" if writer.rolled.trial.kind == "stream" else "_doc"
    writer.note(*writer.send("PUT", f"/{writer.rolled.name}/{way}/{id_}", json.dumps(written).encode()))


def bulk_without_ids(writer: Writer) -> None:
    _bulk(writer, lambda _: {})


def bulk_with_ids(writer: Writer) -> None:
    _bulk(writer, lambda id_: {"_id": id_})


def _bulk(writer: Writer, target: Callable[[str], dict[str, str]]) -> None:
    kind = "create" if writer.rolled.trial.kind == "stream" else "index"
    lines: list[Any] = []
    for id_, written in (writer.article() for _ in range(OPERATIONS)):
        lines += [{kind: {"_index": writer.rolled.name, **target(id_)}}, written]
    status, answer = writer.send("POST", "/_bulk", bulk_lines(*lines))
    for item in answer["items"] if status == 200 else [answer]:
        writer.note(item[kind]["status"] if status == 200 else status, item)


WRITES = (single_without_id, single_with_id, bulk_without_ids, bulk_with_ids)


def no_mappings(arrived: Arrived) -> Answer | None:
    """Refuse to change mappings, as an engine does for a user who may only write documents."""
    if arrived.method not in ("PUT", "POST") or not arrived.path.partition("?")[0].endswith(
        ("/_mapping", "/_mappings")
    ):
        return None
    reason = "no permissions for [indices:admin/mapping/put] and User [writer]"
    return Answer(403, json.dumps({"error": {"type": "security_exception", "reason": reason}, "status": 403}).encode())


@pytest.fixture
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        yield made


@pytest.mark.check
@pytest.mark.parametrize("given_by", ["template", "gateway"])
@pytest.mark.parametrize("way", ["bulk", "single"])
def test_rollovers_while_one_request_waits(engine: Running, client: OpenSearch, way: str, given_by: str) -> None:
    """The document has fields although its index was not the written one any more, each time it was sent."""
    rolled = Rolled(client, engine.url, f"rolled-{os.getpid()}-{next(NUMBERS)}", Trial("alias", "strict", given_by))
    path = f"/{rolled.name}/_bulk" if way == "bulk" else f"/{rolled.name}/_doc/1"
    waiting = 0

    def roll_over_first(arrived: Arrived) -> None:
        nonlocal waiting
        if waiting and arrived.path.startswith(path):
            waiting -= 1
            rolled.roll_over()

    with ExitStack() as stack:
        stack.callback(rolled.delete)
        rolled.create()
        front = stack.enter_context(Gateway(engine.url, roll_over_first))
        gateway = stack.enter_context(running_gateway(front.url))
        assert ask(gateway, "PUT", f"/{rolled.name}/_doc/0", article(0)).status == 201  # the index is known now
        waiting = 2
        if way == "bulk":
            answer = ask(gateway, "POST", path, bulk_lines({"index": {"_id": "1"}}, article(1)))
            assert not answer.json()["errors"], answer
        else:
            assert ask(gateway, "PUT", path, article(1)).status == 201
        assert (rolled.documents(), rolled.without_fields(), rolled.wrong_mappings()) == (2, 0, [])
        check_stamps(OwnIndex(engine.url, rolled.name, client))


@pytest.mark.check
@pytest.mark.parametrize("trial", SHORT, ids=str)
def test_a_rollover_refuses_no_document(engine: Running, client: OpenSearch, trial: Trial) -> None:
    check_rollovers(engine.url, client, trial, rollovers=5)


@pytest.mark.check
@pytest.mark.soak
@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_many_rollovers_refuse_no_document(
    engine: Running, client: OpenSearch, trial: Trial, record_property: Callable[[str, object], None]
) -> None:
    for name, figure in check_rollovers(engine.url, client, trial, rollovers=50).items():
        record_property(name, figure)


def check_rollovers(url: str, client: OpenSearch, trial: Trial, rollovers: int) -> dict[str, int]:
    """Write in four ways at once while indices come, and return what was counted."""
    rolled = Rolled(client, url, f"rolled-{os.getpid()}-{next(NUMBERS)}", trial)
    stop = Event()
    with ExitStack() as stack:
        to = stack.enter_context(Gateway(url, no_mappings)).url if trial.given_by == "nobody" else url
        stack.callback(rolled.delete)
        rolled.create()
        gateway = stack.enter_context(GatewayProcess(to))
        writers = [Writer(write, gateway.url, rolled, stop) for write in WRITES]
        for writer in writers:
            writer.start()
        try:
            for number in range(rollovers):
                time.sleep(MAX_PAUSE_SECONDS * (number % 7) / 6)
                rolled.roll_over()
            before = [writer.acknowledged for writer in writers]
            while any(
                writer.acknowledged == one and not writer.error for writer, one in zip(writers, before, strict=True)
            ):
                time.sleep(0.01)
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        for writer in writers:
            if writer.error:
                raise writer.error
        counted = ask(gateway.url, "GET", "/_winnow").json()
        figures = {
            "rollovers": rollovers,
            "documents": sum(writer.acknowledged for writer in writers),
            "refused": sum(len(writer.refused) for writer in writers),
            "stored": rolled.documents(),
            "wrong_mappings": len(rolled.wrong_mappings()),
            "without_fields": rolled.without_fields(),
            "counted": counted["without_fields"],
        }
        said = (
            f"{trial}: {figures}; the gateway: {gateway.stop()}; refusals: {[writer.refused[:1] for writer in writers]}"
        )
        assert figures["refused"] == 0, said
        assert figures["stored"] == figures["documents"], said
        assert figures["wrong_mappings"] == 0, said
        assert figures["counted"] == figures["without_fields"], said
        assert (figures["without_fields"] == 0) == (trial.given_by != "nobody"), said
        check_stamps(OwnIndex(url, rolled.name, client))
        return figures
