"""An alias or a data stream is rolled over again and again while documents are written to it through the gateway."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, product
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.mappings.attached_fields import WINNOW_FIELDS
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.engine_fixture import VERSION
from tests.gateway.checked_stamps import check_stamps
from tests.gateway.gateway_process import GatewayProcess
from tests.gateway.loading import Loader, loading, wait_for_writes
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
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


class RollingWriter(Loader):
    """Writes documents in one way: one by one or in bulks, with ids or without."""

    def __init__(self, url: str, rolled: Rolled, in_bulks: bool, with_ids: bool) -> None:
        super().__init__(f"{in_bulks}-{with_ids}")
        self.url, self.rolled, self.in_bulks, self.with_ids = url, rolled, in_bulks, with_ids
        self.numbers = count()
        self.refused: list[str] = []

    def article(self) -> tuple[str, dict[str, Any]]:
        number = next(self.numbers)
        fields = {"headline": f"Article {number}", "body": text(number % 50, 80)}
        return f"{self.name}-{number}", {"@timestamp": "2026-05-06T10:00:00Z", **fields}

    def write(self) -> None:
        name, kind = self.rolled.name, "create" if self.rolled.trial.kind == "stream" else "index"
        if self.in_bulks:
            lines: list[Any] = []
            for id_, written in (self.article() for _ in range(OPERATIONS)):
                lines += [{kind: {"_index": name, **({"_id": id_} if self.with_ids else {})}}, written]
            answer = ask(self.url, "POST", "/_bulk", bulk_lines(*lines))
            for item in answer.json()["items"] if answer.status == 200 else [answer.json()]:
                self.note(item[kind]["status"] if answer.status == 200 else answer.status, item)
        else:
            id_, written = self.article()
            way = f"{'_create' if kind == 'create' else '_doc'}/{id_}" if self.with_ids else "_doc"
            answer = ask(self.url, "PUT" if self.with_ids else "POST", f"/{name}/{way}", written)
            self.note(answer.status, answer.json())

    def note(self, status: int, answer: Any) -> None:
        if status in (200, 201):
            self.acknowledged += 1
        else:
            self.refused.append(json.dumps(answer))


def no_mappings(arrived: Arrived) -> Answer | None:
    """Refuse to change mappings, as an engine does for a user who may only write documents."""
    path = arrived.path.partition("?")[0]
    if arrived.method not in ("PUT", "POST") or not path.endswith(("/_mapping", "/_mappings")):
        return None
    error = {"type": "security_exception", "reason": "no permissions for [indices:admin/mapping/put]"}
    return Answer(403, json.dumps({"error": error, "status": 403}).encode())


@contextmanager
def created(client: OpenSearch, url: str, trial: Trial) -> Iterator[Rolled]:
    rolled = Rolled(client, url, f"rolled-{os.getpid()}-{next(NUMBERS)}", trial)
    try:
        rolled.create()
        yield rolled
    finally:
        rolled.delete()


@pytest.mark.check
@pytest.mark.parametrize("given_by", ["template", "gateway"])
@pytest.mark.parametrize("way", ["bulk", "single"])
def test_rollovers_while_one_request_waits(engine: Running, client: OpenSearch, way: str, given_by: str) -> None:
    """The document has fields although its index was not the written one any more, each time it was sent."""
    waiting = 0

    def roll_over_first(arrived: Arrived) -> None:
        nonlocal waiting
        if waiting and arrived.path.startswith(path):
            waiting -= 1
            rolled.roll_over()

    with (
        created(client, engine.url, Trial("alias", "strict", given_by)) as rolled,
        Gateway(engine.url, roll_over_first) as front,
        running_gateway(front.url) as gateway,
    ):
        path = f"/{rolled.name}/_bulk" if way == "bulk" else f"/{rolled.name}/_doc/1"
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
    with (
        Gateway(url, no_mappings) as front,
        created(client, url, trial) as rolled,
        GatewayProcess(front.url if trial.given_by == "nobody" else url) as gateway,
    ):
        writers = [RollingWriter(gateway.url, rolled, *each) for each in product((False, True), repeat=2)]
        with loading(writers):
            for number in range(rollovers):
                time.sleep(MAX_PAUSE_SECONDS * (number % 7) / 6)
                rolled.roll_over()
            wait_for_writes(writers)
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
        said = f"{trial}: {figures}; {gateway.stop()}; refusals: {[writer.refused[:1] for writer in writers]}"
        assert figures["refused"] == 0, said
        assert figures["stored"] == figures["documents"], said
        assert figures["wrong_mappings"] == 0, said
        assert figures["counted"] == figures["without_fields"], said
        assert (figures["without_fields"] == 0) == (trial.given_by != "nobody"), said
        check_stamps(OwnIndex(url, rolled.name, client))
        return figures
