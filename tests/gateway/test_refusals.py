"""An engine that is busy refuses with 429: the clients see that as they would without the gateway, and try again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from opensearchpy import OpenSearch, helpers

from opensearch_winnow.stores.engine.running import Running
from tests.gateway.clients.programs import run_java, run_javascript
from tests.gateway.clients.steps import StoredArticle
from tests.gateway.gateway_process import GatewayProcess
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, attach, text

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
    with OpenSearch(busy.url, timeout=60) as client:
        made = OwnIndex(busy.url, "articles", client)
        made.create(shards=SHARDS)
        attach(client, made.address, FIELDS)
        yield made
        client.indices.delete(index="articles,winnow.articles.settings,plain", params={"ignore_unavailable": "true"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "articles.json").write_text(json.dumps(ARTICLES), encoding="utf-8")
    return tmp_path / "articles.json"


def bulk_body(index: str) -> list[Any]:
    return [line for each in ARTICLES for line in ({"index": {"_index": index, "_id": each["id"]}}, each["source"])]


def check_all_is_there(own: OwnIndex) -> None:
    """Check that all articles are stored, with fields."""
    own.client.indices.refresh(index=own.name)
    assert own.without_ours() == {each["id"]: each["source"] for each in ARTICLES}
    assert all("winnow" in source for source in own.sources().values())


def test_items_that_the_engine_refuses_are_refused_by_the_gateway(own: OwnIndex, gateway: GatewayProcess) -> None:
    refused = {}
    for url in (gateway.engine, gateway.url):
        with OpenSearch(url, timeout=60) as client:
            items = [item["index"] for item in client.bulk(body=bulk_body(own.name))["items"]]
        assert {429} < {item["status"] for item in items} <= {200, 201, 429}  # 200 if it was stored before
        refused[url] = {(item["status"], item["error"]["type"]) for item in items if "error" in item}
        assert [item["_id"] for item in items] == [each["id"] for each in ARTICLES]
    assert refused[gateway.url] == refused[gateway.engine] == {(429, "rejected_execution_exception")}


def test_a_request_that_is_refused_as_a_whole_comes_back_byte_by_byte(own: OwnIndex, gateway: GatewayProcess) -> None:
    """The limit of bytes in flight is smaller than this body, for an index that is not attached."""
    lines = [{"index": {}}, {"body": "x" * 25_000_000}]
    body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    answers = []
    for url in (gateway.engine, gateway.url):
        connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
        connection.request("POST", "/plain/_bulk", body, {"content-type": "application/x-ndjson"})
        response = connection.getresponse()
        answers.append((response.status, response.headers["content-type"], response.read()))
        connection.close()
    assert answers[0] == answers[1]
    assert answers[0][0] == 429
    assert own.client.count(index=own.name)["count"] == 0


def test_opensearch_py_gets_all_in(own: OwnIndex, gateway: GatewayProcess) -> None:
    actions = ({"_index": own.name, "_id": each["id"], "_source": each["source"]} for each in ARTICLES)
    with OpenSearch(gateway.url, timeout=60) as client:
        options: dict[str, Any] = {"max_retries": 100, "initial_backoff": 0.02, "max_backoff": 0.1}
        done = [
            ok for ok, _ in helpers.streaming_bulk(client, actions, chunk_size=200, raise_on_error=False, **options)
        ]
    assert done == [True] * len(ARTICLES)
    check_all_is_there(own)


def test_the_javascript_client_gets_all_in(own: OwnIndex, gateway: GatewayProcess, file: Path) -> None:
    loaded = run_javascript(gateway.url, own.name, str(file), "load")
    assert (loaded["successful"], loaded["failed"]) == (len(ARTICLES), 0)
    assert loaded["retried"] > 0
    check_all_is_there(own)


def test_the_java_client_gets_all_in(own: OwnIndex, gateway: GatewayProcess, file: Path) -> None:
    loaded = run_java(file.parent, gateway.url, own.name, str(file), "load")
    assert (loaded["successful"], loaded["failed"]) == (len(ARTICLES), 0)
    check_all_is_there(own)
