"""Mapping, settings and index template, on a real engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch, RequestError

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.opensearch_document import document_of
from opensearch_winnow.mappings.opensearch_mapping import (
    FIELDS,
    HASH_MAPPINGS,
    index_settings,
    index_template,
    mapping,
    mapping_fragment,
    settings_index,
    written_in,
)
from opensearch_winnow.mappings.record import Record, RecordsError
from opensearch_winnow.mappings.written_scheme import written
from opensearch_winnow.stores.engine.running import Running

Make = Callable[..., Record]
INDEX_BODY = {"settings": index_settings(), "mappings": mapping(Scheme())}


@pytest.fixture
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        yield made


@pytest.fixture
def index(client: OpenSearch, request: pytest.FixtureRequest) -> str:
    name = f"mapping-{request.node.name}".replace("_", "-").lower()
    client.indices.create(index=name, body=INDEX_BODY)
    return name


def test_every_field_of_a_document_is_mapped(record: Make) -> None:
    source = ArchiveLocation("a.warc.gz", 0, 1, "response", 200, "text/html")
    other = "https://example.org/0"
    of_others = {"duplicate": "revisit", "duplicate_of": other, "canonical": other}
    whole = record(1, payload_digest="sha1:A", source=source, **of_others)
    assert set(document_of(whole, arrival=1, latest=True)) == set(FIELDS)
    assert list(FIELDS["source"]["properties"]) == list(ArchiveLocation._fields)


@pytest.mark.parametrize("scheme", [Scheme(), Scheme(noise=20, guarantee=40, key="secret")])
def test_the_engine_keeps_the_scheme_and_not_its_key(client: OpenSearch, scheme: Scheme) -> None:
    name = f"mapping-scheme-{scheme.id}"
    client.indices.create(index=name, body={"settings": index_settings(), "mappings": mapping(scheme)})
    kept = client.indices.get_mapping(index=name)[name]["mappings"]
    assert written_in(kept, name) == written(scheme)
    assert "secret" not in str(kept)
    assert mapping(written(scheme)) == mapping(scheme)


@pytest.mark.parametrize(
    ("meta", "complaint"),
    [
        *((meta, "not a store") for meta in ({}, {"other": 1}, {"winnow": "yes"}, {"winnow": {"format": 1}})),
        ({"winnow": {"format": 2}}, "x has format 2 .* knows 1 only"),
    ],
)
def test_an_index_with_another_mapping_is_refused(meta: dict[str, Any], complaint: str) -> None:
    with pytest.raises(RecordsError, match=complaint):
        written_in({"_meta": meta} if meta else {}, "x")


def test_the_score_of_a_query_is_the_number_of_shared_tokens(client: OpenSearch, index: str, record: Make) -> None:
    for number in range(3):
        source = document_of(record(number), arrival=number, latest=True)
        source["sketch"] = " ".join(["AAAAAAAAAAA", "BBBBBBBBBBB", "CCCCCCCCCCC"][: number + 1])
        client.index(index=index, id=str(number), body=source, params={"pipeline": "_none"})
    client.indices.refresh(index=index)
    should = [{"term": {"sketch": token}} for token in ("AAAAAAAAAAA", "BBBBBBBBBBB", "CCCCCCCCCCC", "DDDDDDDDDDD")]
    hits = client.search(index=index, body={"query": {"bool": {"should": should}}})["hits"]["hits"]
    assert [(hit["_id"], hit["_score"]) for hit in hits] == [("2", 3.0), ("1", 2.0), ("0", 1.0)]


def test_unknown_fields_are_refused_and_long_urls_stored(client: OpenSearch, index: str, record: Make) -> None:
    assert client.cluster.health(index=index, params={"wait_for_status": "green"})["status"] == "green"  # on one node
    with pytest.raises(RequestError, match="strict_dynamic_mapping_exception"):
        client.index(index=index, body={"colour": "blue"}, params={"pipeline": "_none"})
    url = "https://example.org/" + "é" * 40_000
    long = record(1, url=url, payload_digest="x" * 40_000, duplicate="text", duplicate_of=url)
    source = document_of(long, arrival=1, latest=True)
    client.index(index=index, id="1", body=source, params={"pipeline": "_none"})
    assert client.get(index=index, id="1")["_source"] == source


def test_the_template_applies_to_the_next_index(client: OpenSearch) -> None:
    # The name of the second store begins like the index names of the first.
    for name in ("templated", "templated-0x"):
        scheme = Scheme(noise=20 + len(name))
        template = index_template(name, scheme, shards=2, replicas=0)
        client.indices.put_index_template(name=f"winnow-{name}", body=template)
        client.indices.create(index=f"{name}-000007")
        made = client.indices.get(index=f"{name}-000007")[f"{name}-000007"]
        assert written_in(made["mappings"], name) == written(scheme)
        assert made["settings"]["index"]["number_of_shards"] == "2"
        assert made["settings"]["index"]["default_pipeline"] == "winnow-1"


def test_long_settings_are_stored(client: OpenSearch) -> None:
    client.indices.create(index="kept.settings", body=settings_index())
    client.index(index="kept.settings", id="recipe", body={"value": "x" * 100_000}, params={"refresh": "true"})
    (hit,) = client.search(index="kept.settings")["hits"]["hits"]
    assert hit["_source"] == {"value": "x" * 100_000}
    assert "kept.settings" not in client.indices.get(index="kept*")


def test_a_fragment_has_only_our_fields_below_any_field_and_each_mapping_is_made_anew() -> None:
    assert mapping_fragment() == {"properties": {**HASH_MAPPINGS, "cluster": FIELDS["cluster"]}}
    assert mapping_fragment("a.b") == {"properties": {"a": {"properties": {"b": mapping_fragment()}}}}
    mapping_fragment()["properties"]["sketch"]["type"] = "date"
    mapping(Scheme())["properties"]["url"]["type"] = "date"
    assert mapping_fragment()["properties"]["sketch"]["type"] == "text"
    assert mapping(Scheme())["properties"]["url"]["type"] == "keyword"
