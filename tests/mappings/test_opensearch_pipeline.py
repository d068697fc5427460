"""The ingest pipeline on a real engine: it derives the fields of a record, and reports what it refuses."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.opensearch_document import document_of, record_of
from opensearch_winnow.mappings.opensearch_mapping import index_settings, mapping
from opensearch_winnow.mappings.opensearch_pipeline import PIPELINE, pipeline
from opensearch_winnow.mappings.record import Record, site_of
from opensearch_winnow.stores.engine.running import Running

Make = Callable[..., Record]
DERIVED = ("site", "url_length", "fingerprint_count", "sketch_count", "fetched_us", "cluster", "latest", "arrival")
URLS = [
    *("http://a.org", "HTTP://user:pass@A.Org:80/x?y#z", "//h/x", "file:///x", "mailto:a@b", "http:/a", "a//b"),
    *("1a://b", "http://[::1]:9200/x", "http://[::1", "http://a?b://c", "http://a@b@c/", "urn:x:y//z"),
    *("http://Ä.org/ß", "h-t+1.://q", "http://a.org#//b", "no address"),
]


@pytest.fixture
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        made.ingest.put_pipeline(id=PIPELINE, body=pipeline())
        yield made


def simulate(client: OpenSearch, *sources: dict[str, Any], id_: str | None = "some-id") -> list[dict[str, Any]]:
    """Return what the pipeline makes of each source: a document or an error."""
    ids = {} if id_ is None else {"_id": id_}
    body = {"docs": [{"_source": source} | ids for source in sources]}
    answers = client.ingest.simulate(id=PIPELINE, body=body)["docs"]
    return [each["doc"]["_source"] if "doc" in each else each["error"] for each in answers]


def minimal_document(record: Record) -> dict[str, Any]:
    """Return the document without the fields that can be derived."""
    whole = document_of(record, arrival=1, latest=True)
    return {name: value for name, value in whole.items() if name not in DERIVED}


def test_missing_fields_are_derived_as_in_a_record(client: OpenSearch, record: Make) -> None:
    one = record(7)
    one.hashes.fingerprints[3] = one.hashes.fingerprints[2]  # a repeated passage
    before = time.time_ns()
    (made,) = simulate(client, minimal_document(one), id_=one.id)
    arrival = made.pop("arrival")
    expected = document_of(one, arrival=0, latest=True)
    del expected["arrival"]
    assert made == expected
    assert made["fingerprint_count"] == len(one.hashes.fingerprints) - 1
    assert type(arrival) is int
    assert abs(arrival - before) < 3_600 * 10**9  # the engine has its own clock
    assert record_of(made) == one


def test_the_site_is_derived_from_the_url(client: OpenSearch, record: Make) -> None:
    sources = [minimal_document(record(1)) | {"url": url} for url in URLS]
    assert [each["site"] for each in simulate(client, *sources)] == [site_of(url) for url in URLS]


def test_given_fields_are_kept(client: OpenSearch, record: Make) -> None:
    said = document_of(record(1, site="other.org", cluster="c" * 32, crawl="mine"), arrival=17, latest=False)
    assert simulate(client, said) == [said]


@pytest.mark.parametrize(
    ("given", "time"),
    [
        ("2024-05-06T12:00:00.123456Z", datetime(2024, 5, 6, 12, 0, 0, 123456, UTC)),
        ("2024-05-06T12:00:00+02:00", datetime(2024, 5, 6, 10, tzinfo=UTC)),
        ("2024-05-06T12:00:00", datetime(2024, 5, 6, 12, tzinfo=UTC)),
        ("2024-05-06", datetime(2024, 5, 6, tzinfo=UTC)),
        ("1969-12-31T23:59:59.9Z", datetime(1969, 12, 31, 23, 59, 59, 900_000, UTC)),
        (1_500, datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)),
    ],
)
def test_microseconds_are_derived_from_the_date(
    client: OpenSearch, record: Make, given: str | int, time: datetime
) -> None:
    (made,) = simulate(client, minimal_document(record(1)) | {"fetched_at": given})
    assert record_of(made).fetched_at == time


def test_the_date_is_derived_from_microseconds(client: OpenSearch, record: Make) -> None:
    source = minimal_document(record(1))
    del source["fetched_at"]
    timed, timeless = simulate(client, source | {"fetched_us": -1_500_000}, source)
    assert timed["fetched_at"] == "1969-12-31T23:59:58.500Z"
    assert "fetched_at" not in timeless
    assert record_of(timeless).fetched_at is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"url": None}, "a page has a url"),
        ({"url": ""}, "a page has a url"),
        ({"url": 5}, "a page has a url"),
        ({"minhash": None}, "it has no minhash: merge all of winnow_fields(text) into the document"),
        ({"shingle_count": None}, "it has no shingle_count: merge all of winnow_fields(text) into the document"),
        ({"sketch": None}, "sketch is a text of hashes: merge all of winnow_fields(text)"),
        ({"bands": "AAAAAAAAAAA abc"}, "bands has a hash that is not 11 characters of base64url: abc"),
        ({"fingerprints": [5]}, "fingerprints is a text of hashes: merge all of winnow_fields(text)"),
        ({"fetched_at": "yesterday"}, "fetched_at is not a time such as 2024-05-06T12:00:00Z: yesterday"),
    ],
)
def test_invalid_documents_are_refused_with_a_reason(
    client: OpenSearch, record: Make, change: dict[str, Any], reason: str
) -> None:
    (answer,) = simulate(client, minimal_document(record(1)) | change)
    assert answer["reason"].endswith(f"winnow-1 refuses the document: {reason}")


def test_a_refused_document_does_not_affect_others(client: OpenSearch, record: Make) -> None:
    client.indices.create(index="piped", body={"settings": index_settings(), "mappings": mapping(Scheme())})
    good, bad, unnamed = (minimal_document(record(number)) for number in (1, 2, 3))
    lines = [{"index": {"_id": record(1).id}}, good, {"index": {"_id": record(2).id}}, bad | {"sketch": "short"}]
    lines += [{"index": {}}, unnamed]
    answer = client.bulk(index="piped", body=lines, params={"refresh": "true"})
    errors = [each["index"].get("error", {}).get("reason", "") for each in answer["items"]]
    for error, said in zip(errors, ("$", "sketch has a hash .*: short", "a page needs an _id"), strict=True):
        assert re.match(said, error.partition("refuses the document: ")[2])
    (hit,) = client.search(index="piped")["hits"]["hits"]
    assert record_of(hit["_source"]) == record(1)
