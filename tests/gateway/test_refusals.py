"""An engine that is busy refuses with 429: the clients see that as they would without the gateway, and try again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch, helpers

from opensearch_winnow.stores.engine.running import Running
from tests.gateway.clients.programs import run_java, run_javascript
from tests.gateway.clients.steps import StoredArticle
from tests.gateway.conftest import new_index
from tests.gateway.gateway_process import GatewayProcess
from tests.gateway.raw_requests import NDJSON, ask
from tests.gateway.running_gateway import bulk_lines
from tests.stores.opensearch.own_articles import OwnIndex, text

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("gateway clients")]

SHARDS = 16
ARTICLES = [StoredArticle(id=str(number), source={"headline": "", "body": text(number, 40)}) for number in range(800)]
# One thread writes and one write waits: of a bulk for many shards, the engine refuses most.
BUSY = {"thread_pool.write.size": "1", "thread_pool.write.queue_size": "1", "indexing_pressure.memory.limit": "20mb"}


@pytest.fixture(scope="module")
def busy(start_engine: Callable[..., Running]) -> Running:
    return start_engine(nodes=1, settings=BUSY)


@pytest.fixture(scope="module")
def gateway(busy: Running) -> Iterator[GatewayProcess]:
    with GatewayProcess(busy.url) as started:
        yield started


@pytest.fixture
def own(busy: Running) -> Iterator[OwnIndex]:
    with OpenSearch(busy.url, timeout=60) as client, new_index(busy, client, shards=SHARDS) as made:
        yield made


def check_all_is_there(own: OwnIndex) -> None:
    own.client.indices.refresh(index=own.name)
    assert own.without_ours() == {each["id"]: each["source"] for each in ARTICLES}
    assert all("winnow" in source for source in own.sources().values())


def test_items_that_the_engine_refuses_are_refused_by_the_gateway(own: OwnIndex, gateway: GatewayProcess) -> None:
    refused = {}
    lines = [line for each in ARTICLES for line in ({"index": {"_id": each["id"]}}, each["source"])]
    for url in (gateway.engine, gateway.url):
        with OpenSearch(url, timeout=60) as client:
            items = [item["index"] for item in client.bulk(index=own.name, body=lines)["items"]]
        assert {429} < {item["status"] for item in items} <= {200, 201, 429}  # 200 if it was stored before
        refused[url] = {(item["status"], item["error"]["type"]) for item in items if "error" in item}
        assert [item["_id"] for item in items] == [each["id"] for each in ARTICLES]
    assert refused[gateway.url] == refused[gateway.engine] == {(429, "rejected_execution_exception")}


def test_a_request_that_is_refused_as_a_whole_comes_back_byte_by_byte(own: OwnIndex, gateway: GatewayProcess) -> None:
    """The limit of bytes in flight is smaller than this body, for an index that is not attached."""
    body = bulk_lines({"index": {}}, {"body": "x" * 25_000_000})
    direct, passed = (ask(url, "POST", "/plain/_bulk", body, NDJSON) for url in (gateway.engine, gateway.url))
    assert direct.status == passed.status == 429
    assert (direct.headers["content-type"], direct.body) == (passed.headers["content-type"], passed.body)
    assert not own.client.indices.exists(index="plain")


def test_opensearch_py_gets_all_in(own: OwnIndex, gateway: GatewayProcess) -> None:
    actions = ({"_index": own.name, "_id": each["id"], "_source": each["source"]} for each in ARTICLES)
    with OpenSearch(gateway.url, timeout=60) as client:
        options: dict[str, Any] = {"max_retries": 100, "initial_backoff": 0.02, "max_backoff": 0.1}
        done = helpers.streaming_bulk(client, actions, chunk_size=200, raise_on_error=False, **options)
        assert [ok for ok, _ in done] == [True] * len(ARTICLES)
    check_all_is_there(own)


@pytest.mark.parametrize("program", [run_javascript, run_java], ids=["JavaScript", "Java"])
def test_the_official_clients_get_all_in(
    program: Callable[..., dict[str, Any]], own: OwnIndex, gateway: GatewayProcess, tmp_path: Path
) -> None:
    file = tmp_path / "articles.json"
    file.write_text(json.dumps(ARTICLES), encoding="utf-8")
    loaded = program(gateway.url, own.name, str(file), "load")
    assert (loaded["successful"], loaded["failed"]) == (len(ARTICLES), 0)
    assert loaded["retried"] > 0 or program is run_java
    check_all_is_there(own)
