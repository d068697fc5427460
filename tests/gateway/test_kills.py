"""Gateways are killed in the middle of a load: nothing acknowledged is lost, and nothing is stale unnoticed."""

from __future__ import annotations

import subprocess
import time
from random import Random
from typing import Any

import pytest
from opensearchpy import OpenSearch, TransportError

from opensearch_winnow import Index
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.checked_stamps import check_stamps
from tests.gateway.conftest import new_index
from tests.gateway.gateway_process import WINNOW, GatewayProcess
from tests.gateway.loading import Loader, loading, wait_for_writes
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, attach, text

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("gateway clients")]

KILLS = 8  # in each of eleven runs, of which the first is in the second tier
IDS = 150  # of each loader
SHARED_IDS = 20  # that all loaders write
OPERATIONS = 12  # in a bulk
UNAVAILABLE = (502, 503, 504)
# After a request without an answer, until it is sent again: the engine may still be executing it.
SETTLE_SECONDS = 0.3


Lines = tuple[dict[str, Any], ...]


class PatientLoader(Loader):
    """Writes documents with ids of its own, and some that others write as well.

    What is not acknowledged is written again. `expected` has the documents with ids of its own as they must be.
    """

    def __init__(self, name: str, url: str, index: str) -> None:
        super().__init__(name)
        self.client = OpenSearch(url, timeout=30, max_retries=0)
        self.index = index
        self.random = Random(name)
        self.expected: dict[str, dict[str, Any]] = {}
        self.repeated = 0

    def operations(self) -> dict[str, Lines]:
        """Return the lines of some operations by id. Each may be executed twice, with the same result."""
        lines: dict[str, Lines] = {}
        for _ in range(OPERATIONS):
            name, ids = ("shared", SHARED_IDS) if self.random.random() < 0.1 else (self.name, IDS)
            id_ = f"{name}-{self.random.randrange(ids)}"
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

    def write(self) -> None:
        operations = self.operations()
        while operations:
            try:
                answer = self.client.bulk(body=[line for lines in operations.values() for line in lines])
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

    def expect(self, id_: str, lines: Lines) -> None:
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
def test_a_gateway_that_is_killed_loses_nothing(engine: Running, client: OpenSearch, seed: int) -> None:
    """Two loaders write through a gateway that is killed, one through another gateway, and one to the engine."""
    with new_index(engine, client, shards=3) as own, new_index(engine, client, attached=False, shards=3) as copy:
        check_kills(engine, own, Random(seed))
        check_answers_of_a_fresh_copy(own, copy)


def check_kills(engine: Running, own: OwnIndex, random: Random) -> None:
    with GatewayProcess(engine.url) as killed, GatewayProcess(engine.url) as other:
        urls = {"first": killed.url, "second": killed.url, "other": other.url, "direct": engine.url}
        loaders = [PatientLoader(name, url, own.name) for name, url in urls.items()]
        with loading(loaders):
            for _ in range(KILLS):
                wait_for_writes(loaders[:2])
                time.sleep(random.random() * 0.2)
                killed.kill()
                killed.start()
    for loader in loaders:
        loader.client.close()
        assert loader.acknowledged >= KILLS, loader.name
    assert loaders[0].repeated + loaders[1].repeated >= KILLS / 2
    stamped = check_stamps(own)
    assert stamped.fits > KILLS, stamped
    stored = {id_: source for id_, source in own.without_ours().items() if not id_.startswith("shared")}
    assert stored == {id_: article for loader in loaders for id_, article in loader.expected.items()}


def check_answers_of_a_fresh_copy(own: OwnIndex, copy: OwnIndex) -> None:
    """Bring the index up to date, and compare its answers with those of a copy that is attached afresh."""
    subprocess.run([WINNOW, "attach", str(own.address), "--update", "--quiet"], check=True)
    assert check_stamps(own).stale == 0
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
    own.client.indices.refresh(index=own.name)
    found: dict[str, set[str]] = {}
    for id_, source in own.sources().items():
        found.setdefault(source["winnow.cluster"], set()).add(id_)
    return {frozenset(ids) for ids in found.values()}
