"""Candidates on OpenSearch: engine limits, and where their fields are read from."""

from __future__ import annotations

from array import array
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.opensearch_document import document_of
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Field, Lookup
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.stores.opensearch import candidates as candidates_
from opensearch_winnow.stores.store import Sizes, Text
from tests.stores.conftest import START, numbered
from tests.stores.opensearch.conftest import Open, index_of, small
from tests.stores.store_questions import candidates


def test_candidates_from_doc_values_are_those_of_whole_documents(
    fresh: Open, client: OpenSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fresh()
    pages = [numbered(number, sketch=array("Q", range(number % 5))) for number in range(1, 12)]
    store.write([*pages, numbered(20, url=f"https://a.org/{'long/' * 2_000}")])
    for number in (30, 31):  # written by other software, which chooses its own ids and knows nothing of places
        source = document_of(numbered(number), arrival=0, latest=True)
        del source["arrival"]
        body = {"fetched_us": 0, "site": "b.org", "url_length": 1} | source
        client.index(index=index_of(store), id=f"other-{number}", body=body, params={"pipeline": "_none"})
    client.indices.refresh(index=index_of(store))
    every = array("Q", sorted({hash_ for page in store.scan(Record) for hash_ in page.hashes.fingerprints}))
    lookups = [Lookup("fingerprints", every), Lookup("sketch", array("Q", range(5)), 2)]

    def found() -> list[Any]:
        answers = candidates(store, lookups)
        ids = [page.id for page in answers[0].pages]
        return [answers, store.read(ids, Card), store.read(ids, Text), store.read(ids, Sketches)]

    whole = found()
    assert len(whole[0][0].pages) == len(whole[1]) == len(whole[2]) == 14
    for number in (1, 2, 5, 12, 13):
        monkeypatch.setattr(candidates_, "MAX_WHOLE_DOCUMENTS", number)
        assert found() == whole


@pytest.mark.check
def test_pages_that_other_software_has_written_are_counted_and_read(
    fresh: Open, client: OpenSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such pages have places, which the ingest pipeline gives them, but ids of their own."""
    store = fresh()
    tokens = array("Q", range(2_500))
    for number in range(1, 7):
        record = numbered(number, fingerprints=tokens[number:], positions=array("I", range(2_500 - number)))
        body = document_of(record, arrival=number, latest=True)
        client.index(index=index_of(store), id=f"other-{number}", body=body, params={"pipeline": "_none"})
    client.indices.refresh(index=index_of(store))
    for whole in (1, 3, 16):
        monkeypatch.setattr(candidates_, "MAX_WHOLE_DOCUMENTS", whole)
        ((_, every, _),) = candidates(store, [Lookup("fingerprints", tokens)])
        assert [page.shared for page in every] == list(range(2_499, 2_493, -1))
        ((_, found, _),) = candidates(store, [Lookup("fingerprints", tokens, 2_496)])
        assert [page.shared for page in found] == [2_499, 2_498, 2_497, 2_496]
        for cached_until in (float("inf"), 0.0):
            monkeypatch.setattr(store._overlaps, "_until", cached_until)
            cards = store.read([page.id for page in found], Card)
            assert [cards[page.id].id for page in found] == ["other-1", "other-2", "other-3", "other-4"]


def test_pages_of_other_sizes_are_left_out(fresh: Open) -> None:
    store = fresh()
    store.write([small(number, shingle_count=number) for number in range(1, 9)])
    ((_, found, _),) = candidates(store, [Lookup("fingerprints", array("Q", [7]))], sizes=Sizes(3, 5))
    left_out = store._index.engine.searches_doc_values
    assert sorted(page.shingle_count for page in found) == ([3, 4, 5] if left_out else list(range(1, 9)))


@pytest.mark.check
def test_more_tokens_than_fit_in_one_query(fresh: Open) -> None:
    store = fresh(2)
    source = Random(5)
    tokens = array("Q", source.randbytes(8 * 2_500))
    shared = [0, 1, 2, 400, 999, 1_000, 1_001, 2_499, 2_500]
    records = [numbered(number, fingerprints=array("Q", source.sample(tokens, n))) for number, n in enumerate(shared)]
    # A page whose tokens are all in one part, and just too few for one of the minimums below.
    records.append(numbered(100, fingerprints=tokens[:999:3]))
    store.write(records)
    expected = {record.id: len(record.hashes.fingerprints) for record in records}
    where = Filters(site="example.org", crawl="test", since=START, until=START + timedelta(9), latest=True)
    for minimum in (1, 2, 333, 334, 1_000, 2_500):
        ((_, found, _),) = candidates(store, [Lookup("fingerprints", tokens, minimum)], where)
        wanted = {id_: count for id_, count in expected.items() if count >= minimum}
        assert {each.id: each.shared for each in found} == wanted
        assert [each.shared for each in found] == sorted(wanted.values(), reverse=True)
    # Two lookups that just fit in one query, two that just do not, and one with the maximum tokens of a query.
    for size in (500, 975, 979, 980, 1_000):
        pair = [Lookup("fingerprints", tokens[:size], 3), Lookup("sketch", records[5].hashes.sketch, 2)]
        assert candidates(store, pair, where) == [candidates(store, [each], where)[0] for each in pair]
        assert candidates(store, pair, where)[0].pages[0].shared == size


def test_rare_tokens_are_looked_up_in_one_request(fresh: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fresh()
    store.write([small(number, bands=array("Q", range(60))) for number in range(10)])
    wanted: dict[Field, list[int]] = {"fingerprints": [7], "bands": [1, 2, 3], "sketch": []}
    lookups = [Lookup(field, array("Q", tokens)) for field, tokens in wanted.items()]
    found = candidates(store, lookups)
    assert [len(pages) for _, pages, _ in found] == [10, 10, 0]
    transport = store._index.client.transport
    requests: list[str] = []

    def send(method: str, url: str, **rest: Any) -> Any:
        requests.append(url)
        return type(transport).perform_request(transport, method, url, **rest)

    monkeypatch.setattr(transport, "perform_request", send)
    assert candidates(store, lookups, check=FrequencyCheck(10)) == found
    assert len(requests) == 1
    assert candidates(store, lookups, check=FrequencyCheck(9)) == found  # the only token of a lookup is kept
    assert len(requests) > 2
    requests.clear()
    assert candidates(store, lookups[1:], check=FrequencyCheck(9)) == found[1:]
    assert len(requests) == 1


def test_texts_are_read_from_the_current_documents(fresh: Open) -> None:
    store = fresh()
    old, new = small(1), small(1, text="quince")
    lookups = [Lookup("fingerprints", array("Q", [7]))]
    store.write([old, small(2)])
    candidates(store, lookups)
    assert store.read([small(2).id, "f" * 32, old.id], Text) == {small(2).id: Text("plum"), old.id: Text("plum")}
    store.write([new])
    assert store.read([old.id], Text) == {old.id: Text("quince")}
    candidates(store, lookups)
    store.delete([old.id])
    assert store.read([old.id], Text) == {}
