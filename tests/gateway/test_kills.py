"""Gateways are killed in the middle of a load: nothing acknowledged is lost, and nothing is stale unnoticed."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from itertools import count
from random import Random
from threading import Event, Thread
from typing import Any

import pytest
from opensearchpy import OpenSearch, TransportError

from opensearch_winnow import Index
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.gateway_process import WINNOW, GatewayProcess
from tests.gateway.stamped_documents import check_stamps
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, attach, text

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("gateway clients")]

NUMBERS = count()
KILLS = 8  # in each of eleven runs, of which the first is in the second tier
IDS = 150  # of each loader
SHARED_IDS = 20  # that all loaders write
OPERATIONS = 12  # in a bulk
UNAVAILABLE = (502, 503, 504)
# After a request without an answer, until it is sent again: the engine may still be executing it.
SETTLE_SECONDS = 0.3


@pytest.fixture
def own(engine: Running) -> Iterator[OwnIndex]:
    with OpenSearch(engine.url, timeout=60) as client:
        made = OwnIndex(engine.url, f"kills-{os.getpid()}-{next(NUMBERS)}", client)
        made.create()
        attach(client, made.address, FIELDS)
        yield made
        names = f"{made.name},{made.name}-copy,winnow.{made.name}.settings,winnow.{made.name}-copy.settings"
        client.indices.delete(index=names, params={"ignore_unavailable": "true"})


class Loader(Thread):
    """Writes documents with ids of its own, and some that others write as well, until it is told to stop.

    What is not acknowledged is written again. `expected` has the documents with ids of its own as they must be.
    """

    def __init__(self, name: str, url: str, index: str, stop: Event) -> None:
        super().__init__(name=name)
        self.url = url
        self.index = index
        self.stop = stop
        self.random = Random(name)
        self.expected: dict[str, dict[str, Any]] = {}
        self.acknowledged = 0
        self.repeated = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with OpenSearch(self.url, timeout=30, max_retries=0) as client:
                while not self.stop.is_set():
                    self.write(client, self.operations())
        except BaseException as error:
            self.error = error

    def operations(self) -> dict[str, tuple[dict[str, Any], ...]]:
        """Return the lines of some operations by id. Each may be executed twice, with the same result."""
        lines: dict[str, tuple[dict[str, Any], ...]] = {}
        for _ in range(OPERATIONS):
            shared = self.random.random() < 0.1
            id_ = (
                f"shared-{self.random.randrange(SHARED_IDS)}" if shared else f"{self.name}-{self.random.randrange(IDS)}"
            )
            target = {"_index": self.index, "_id": id_}
            # Few different texts, so that there are copies.
            article = {"headline": f"By {self.name}", "body": text(self.random.randrange(300), 120)}
            kind = self.random.random()
            if kind < 0.6:
                lines[id_] = {"index": target}, article
            elif kind < 0.75:
                lines[id_] = {"update": target}, {"doc": {"body": article["body"]}, "upsert": article}
            elif kind < 0.85:
                script = {"source": "ctx._source.author = params.name", "params": {"name": self.name}}
                lines[id_] = {"update": target}, {"script": script}
            else:
                lines[id_] = ({"delete": target},)
        return lines

    def write(self, client: OpenSearch, operations: dict[str, tuple[dict[str, Any], ...]]) -> None:
        """Write until all operations are acknowledged."""
        while operations:
            try:
                answer = client.bulk(body=[line for lines in operations.values() for line in lines])
            except TransportError as error:  # also if there is no connection
                if error.status_code not in ("N/A", *UNAVAILABLE):
                    raise
                self.repeated += 1
                time.sleep(SETTLE_SECONDS)
                continue
            for item in answer["items"]:
                ((kind, result),) = item.items()
                if result["status"] in (200, 201) or (kind != "index" and result["status"] == 404):
                    self.expect(result["_id"], operations.pop(result["_id"]))
                    self.acknowledged += 1
                else:  # two writers of a shared document
                    assert result["status"] == 409, result

    def expect(self, id_: str, lines: tuple[dict[str, Any], ...]) -> None:
        if id_.startswith("shared"):
            return
        match lines:
            case ({"index": _}, article):
                self.expected[id_] = article
            case ({"update": _}, {"doc": doc, "upsert": article}):
                self.expected[id_] = self.expected[id_] | doc if id_ in self.expected else article
            case ({"update": _}, {"script": _}) if id_ in self.expected:
                self.expected[id_] = self.expected[id_] | {"author": self.name}
            case ({"delete": _},):
                self.expected.pop(id_, None)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 11))])
def test_a_gateway_that_is_killed_loses_nothing(engine: Running, own: OwnIndex, seed: int) -> None:
    """Two loaders write through a gateway that is killed, one through another gateway, and one to the engine."""
    random, stop = Random(seed), Event()
    with GatewayProcess(engine.url) as killed, GatewayProcess(engine.url) as other:
        loaders = [
            Loader("first", killed.url, own.name, stop),
            Loader("second", killed.url, own.name, stop),
            Loader("other", other.url, own.name, stop),
            Loader("direct", engine.url, own.name, stop),
        ]
        for loader in loaders:
            loader.start()
        try:
            for _ in range(KILLS):
                wait_for_writes(loaders[:2])
                time.sleep(random.random() * 0.2)
                killed.kill()
                killed.start()
        finally:
            stop.set()
            for loader in loaders:
                loader.join()
    for loader in loaders:
        if loader.error:
            raise loader.error
        assert loader.acknowledged >= KILLS, loader.name
    assert loaders[0].repeated + loaders[1].repeated >= KILLS / 2
    stamped = check_stamps(own)
    assert stamped.fits > KILLS, stamped
    stored = {id_: source for id_, source in own.without_ours().items() if not id_.startswith("shared")}
    assert stored == {id_: article for loader in loaders for id_, article in loader.expected.items()}
    check_answers_of_a_fresh_copy(own)


def wait_for_writes(loaders: list[Loader]) -> None:
    """Wait until each of the loaders has written something through the gateway that was just started."""
    before = [loader.acknowledged for loader in loaders]
    while any(
        loader.acknowledged == count and loader.is_alive() for loader, count in zip(loaders, before, strict=True)
    ):
        time.sleep(0.01)


def check_answers_of_a_fresh_copy(own: OwnIndex) -> None:
    """Bring the index up to date, and compare its answers with those of a copy that is attached afresh."""
    subprocess.run([WINNOW, "attach", str(own.address), "--update", "--quiet"], check=True)
    stamped = check_stamps(own)
    assert stamped.stale == 0
    copy = OwnIndex(str(own.address).rpartition("/")[0], f"{own.name}-copy", own.client)
    copy.create()
    copy.write(own.without_ours().items())
    attach(own.client, copy.address, FIELDS)
    with Index.open(str(own.address), create=False) as ours, Index.open(str(copy.address), create=False) as fresh:
        ids = sorted(copy.sources())
        for id_ in Random(0).sample(ids, 60):
            assert similar(ours, id_) == similar(fresh, id_), id_
        ours.cluster()
        fresh.cluster()
        assert groups(own) == groups(copy)


def similar(index: Index, id_: str) -> list[tuple[str, float]]:
    return sorted((match.url, match.resemblance) for match in index.similar(url=id_))


def groups(own: OwnIndex) -> set[frozenset[str]]:
    """Return the ids of the documents of each cluster."""
    own.client.indices.refresh(index=own.name)
    found: dict[str, set[str]] = {}
    for id_, source in own.sources().items():
        found.setdefault(source["winnow.cluster"], set()).add(id_)
    return {frozenset(ids) for ids in found.values()}
