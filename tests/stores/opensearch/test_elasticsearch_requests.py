"""Checks every request of a store against the REST specifications of Elasticsearch 8 and 9.

elasticsearch_requests.json has, of each endpoint that we use, the parameters and the keys of the body. It is made from
the specifications by tools/elasticsearch_requests.py.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Filters, Scheme, StoreError
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore, writes
from opensearch_winnow.stores.opensearch.own_index.attach import detach, stale
from opensearch_winnow.stores.opensearch.requests.client import Address, connect, engine_of
from opensearch_winnow.stores.opensearch.upkeep.migrate import migrate
from tests.engine_fixture import SERVER_ONLY
from tests.stores.conftest import numbered
from tests.stores.opensearch.gateway import Arrived, Gateway
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, attach
from tests.stores.store_questions import candidates, search

pytestmark = pytest.mark.check

TABLE: dict[str, dict[str, dict[str, list[str]]]] = json.loads(
    Path(__file__).with_name("elasticsearch_requests.json").read_text(encoding="utf-8")
)

# What we send to OpenSearch only: `Engine` tells the products apart.
OPENSEARCH_ONLY = re.compile(r"/_search/(pipeline|point_in_time)")
# The specifications do not list it here, but the servers of 8.19.8 and 9.3.1 accept it: this file runs on them, too.
UNLISTED = ("_stats/store,segments,translog", "ignore_unavailable")
NO_OBJECT = ("_bulk", "_msearch")  # the last parts of paths whose bodies are lines


def complaint(version: str, request: Arrived) -> str:
    """Return what a version would not accept of a request; empty if there is nothing."""
    url = urlsplit(request.path)
    for described, accepted in TABLE[version].items():
        method, _, path = described.partition(" ")
        if method == request.method and re.fullmatch(re.sub(r"\{\w+\}", "[^/_][^/]*", path), unquote(url.path)):
            return _complaint_about_names(request, accepted)
    return f"{version} has no {request.method} {url.path}"


def _complaint_about_names(request: Arrived, accepted: dict[str, list[str]]) -> str:
    url = urlsplit(request.path)
    names = [name for name, _ in parse_qsl(url.query, keep_blank_values=True)]
    parameters = {name for name in names if not (url.path.endswith(UNLISTED[0]) and name == UNLISTED[1])}
    if unknown := parameters - set(accepted["parameters"]):
        return f"{request.method} {url.path} has no parameters {unknown}"
    if request.body and "body" in accepted and url.path.rpartition("/")[2] not in NO_OBJECT:
        content: dict[str, Any] = json.loads(request.body)
        if unknown := content.keys() - set(accepted["body"]):
            return f"the body of {request.method} {url.path} has no {unknown}"
    return ""


def complaints(requests: list[Arrived]) -> set[str]:
    ours = [each for each in requests if not OPENSEARCH_ONLY.search(each.path)]
    return {said for version in TABLE for each in ours if (said := complaint(version, each))}


def test_a_store_sends_what_elasticsearch_8_and_9_accept(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writes, "_wait_for_leases", lambda *_: None)  # the engine looks only twice a minute
    with Gateway(engine.url) as gateway:
        name = f"{gateway.url}/requests"
        with OpenSearchStore.open(name, Scheme(), create=True) as store:
            use(store, [numbered(number) for number in range(5)])
        if not SERVER_ONLY:  # such a node has no _reindex
            with connect(Address.of(name)) as client:
                migrate(client, "requests", delete_old=True)
        paths = {urlsplit(each.path).path.rpartition("/")[2] for each in gateway.arrived}
        assert complaints(gateway.arrived) == set()
    assert {"_bulk", "_mget", "_msearch", "_mtermvectors", "_search_shards", "_forcemerge"} <= paths


def use(store: OpenSearchStore, records: list[Record]) -> None:
    assert [each.outcome for each in store.write(records)] == ["added"] * len(records)
    everything = Lookup("fingerprints", records[0].hashes.fingerprints, 1)
    assert candidates(store, [everything])[0]
    assert store.frequencies([everything], over=0)[0]
    words = Words.of("some words")
    assert search(store, words, limit=2).total == len(records)
    assert search(store, words, limit=2, offset=2).total == len(records)
    with store.view(words, keep_open=True) as view:
        pages = view.ranked(0, 3)
        assert len(view.read(pages)) == len(view.sketches(pages)) == len(view.clustered(0, 3)) == 3
        assert view.cluster_count() == (len(records), True)
        assert view.facets(["site", "month"], limit=5)["site"][0].pages == len(records)
    assert store.set_clusters({records[0].id: records[1].id, records[1].id: records[1].id}) == 2
    assert [each.pages for each in store.clusters(limit=3)] == [2]
    assert store.crawls()[0].name == "test"
    store.settings.set({f"number-{number}": number for number in range(3)})
    assert store.settings.with_prefix("number-") == {f"number-{number}": number for number in range(3)}
    assert store.set_fingerprints(records[:2]) == 2
    assert store.statistics().pages == store.count(Filters()) == len(list(store.scan(Record)))
    assert store.read([records[0].id], Record)
    assert store.delete([records[0].id]) == 1
    store.erase()


def test_attaching_sends_what_elasticsearch_8_and_9_accept(articles: OwnIndex) -> None:
    before = articles.sources()
    with Gateway(str(articles.address).rpartition("/")[0]) as gateway:
        address = Address.of(f"{gateway.url}/{articles.name}")
        with connect(address) as client:
            assert attach(client, address, FIELDS).documents
            assert stale(client, address) == 0
            with OpenSearchStore.open(str(address), client=client) as store:
                assert search(store, Words.of("edition"), limit=3).total == 3
            assert detach(client, address).documents
    assert complaints(gateway.arrived) == set()
    assert articles.sources() == before
    scripts = any(b"painless" in each.body for each in gateway.arrived if "_bulk" in each.path)
    assert scripts == engine_of(articles.client).uses_scripts


def test_templates_are_written_as_elasticsearch_8_and_9_accept_it(articles: OwnIndex) -> None:
    client, alias = articles.client, f"{articles.name}-alias"
    client.indices.put_alias(index=articles.name, name=alias)
    with Gateway(str(articles.address).rpartition("/")[0]) as gateway, OpenSearch(gateway.url) as watched:
        address = Address.of(f"{gateway.url}/{alias}")
        attach(watched, address, FIELDS, template=True, pattern=f"{articles.name}*")
        detach(watched, address)
        client.indices.put_index_template(name=alias, body={"index_patterns": [f"{articles.name}*"]})
        try:
            attach(watched, address, FIELDS, template=True)
            detach(watched, address)
        finally:
            client.indices.delete_index_template(name=alias)
    written = {urlsplit(each.path).path.split("/")[1] for each in gateway.arrived if each.method == "PUT"}
    assert {"_index_template", "_component_template", "_template"} <= written
    assert complaints(gateway.arrived) == set()


def test_an_index_with_a_synthetic_source_is_refused(client: OpenSearch, own: OwnIndex) -> None:
    if engine_of(client).version < (8, 18) or engine_of(client).product == "opensearch":
        pytest.skip("only Elasticsearch has them")
    mappings = {"properties": {"headline": {"type": "keyword"}, "body": {"type": "keyword"}}}
    settings = {"index.mapping.source.mode": "synthetic"}
    client.indices.create(index=own.name, body={"mappings": mappings, "settings": settings})
    with pytest.raises(StoreError, match="its _source is"):
        attach(client, own.address, FIELDS)
