"""An answer to which a shard has not contributed is an error, whichever kind of read it answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Filters, Scheme, StoreError
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.requests.client import Engine
from opensearch_winnow.stores.opensearch.requests.retries import Patience
from opensearch_winnow.stores.opensearch.requests.transport import RetryingTransport
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up
from tests.stores.conftest import numbered
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway
from tests.stores.store_questions import candidates, search

pytestmark = pytest.mark.check

NO_SHARD = {"type": "no_shard_available_action_exception", "reason": "No shard available for [get [pages]]"}
GONE = {"type": "node_disconnected_exception", "reason": "gone"}
FAILED = {"shard": 0, "index": "pages", "node": None, "reason": GONE}
LOOKUP = Lookup("fingerprints", numbered(1).hashes.fingerprints, 1)


class PartialGateway(Gateway):
    """Takes a shard out of the engine's answers to paths that end in `spoiled`."""

    spoiled = ""
    timed_out = False

    def answer(self, arrived: Arrived) -> Answer:
        answer = super().answer(arrived)
        if not self.spoiled or not arrived.path.partition("?")[0].endswith(self.spoiled):
            return answer
        document = json.loads(answer.body)
        for part in (document, *document.get("responses", ())):
            if "_shards" in part and self.timed_out and "timed_out" in part:
                part["timed_out"] = True
            elif "_shards" in part:
                part["_shards"] |= {"failed": 1, "failures": [FAILED]}
        if "docs" in document:
            document["docs"][0] = {"_index": "pages", "_id": "1", "error": NO_SHARD}
        return answer._replace(body=json.dumps(document).encode())


@pytest.fixture(scope="module")
def name(engine: Running, client: OpenSearch) -> Iterator[str]:
    name = f"partial-{os.getpid()}"
    set_up(client, name, Scheme(), shards=2)
    with OpenSearchStore.open(f"{engine.url}/{name}") as store:
        store.write([numbered(number) for number in range(20)])
    yield name
    client.indices.delete(index=f"{name}-*,{name}.settings")


READS: dict[str, tuple[str, Callable[[OpenSearchStore], Any]]] = {
    "search": ("_search", lambda store: search(store, Words.of("page"))),
    "count": ("_search", OpenSearchStore.count),
    "aggregations": ("_search", lambda store: store.clusters(limit=5)),
    "several searches": ("_msearch", lambda store: candidates(store, [LOOKUP])),
    "term vectors": ("_mtermvectors", lambda store: store.frequencies([LOOKUP], over=0)),
    "a point in time": ("point_in_time", lambda store: store.view(Words.of("page"), keep_open=True)),
    "pages of a scan": ("_search", lambda store: list(store.scan(Card))),
    "documents": ("_mget", lambda store: store.read([numbered(1).id], Card)),
    "settings": ("_search", lambda store: store.settings.with_prefix()),
    "refresh": ("_refresh", lambda store: store.write([numbered(1)])),
    "statistics": ("translog", OpenSearchStore.statistics),
}


@pytest.mark.parametrize("with_client", [False, True], ids=["winnow's client", "a client of one's own"])
@pytest.mark.parametrize("read", READS)
def test_a_shard_that_fails_is_an_error(
    engine: Running, name: str, read: str, with_client: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RetryingTransport, "patience", Patience(0.0))
    path, ask = READS[read]
    with (
        PartialGateway(engine.url) as gateway,
        OpenSearch(gateway.url, timeout=60) as client,
        OpenSearchStore.open(f"{gateway.url}/{name}", client=client if with_client else None) as store,
    ):
        ask(store)
        gateway.spoiled = path
        with pytest.raises(StoreError, match=r"a part of the index (has answered|is not available)"):
            ask(store)
        gateway.timed_out = True
        if path in ("_search", "_msearch"):
            with pytest.raises(StoreError, match=r"only a part of the index has answered.*time limit"):
                ask(store)


def test_a_scroll_with_a_shard_that_fails_is_an_error(
    engine: Running, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines without points in time are read by scrolling, which is never repeated."""
    monkeypatch.setattr(Engine, "point_in_time", False)
    with PartialGateway(engine.url) as gateway, OpenSearchStore.open(f"{gateway.url}/{name}") as store:
        assert len(list(store.scan(Card))) == 20
        gateway.spoiled = "_search/scroll"
        with pytest.raises(StoreError, match="a part of the index is not available"):
            list(store.scan(Card))


def test_a_whole_answer_is_waited_for(engine: Running, name: str) -> None:
    def mended(_: Arrived) -> None:
        if sum(each.path.partition("?")[0].endswith("_search") for each in gateway.arrived) > 2:
            gateway.spoiled = ""

    with PartialGateway(engine.url, mended) as gateway, OpenSearchStore.open(f"{gateway.url}/{name}") as store:
        gateway.spoiled = "_search"
        assert store.count(Filters()) == 20
