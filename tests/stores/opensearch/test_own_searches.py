"""deduplicate_search_body and group_hits with other people's searches in other people's indices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig, ObjectApiResponse
from opensearchpy import OpenSearch, TransportError

from opensearch_winnow import (
    HitGroups,
    Index,
    Page,
    deduplicate_search_body,
    group_hits,
    mapping_fragment,
    winnow_fields,
)
from opensearch_winnow.queries.dsl import words_query
from opensearch_winnow.queries.dsl.ranked import BY_RANK
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import engine_of

pytestmark = pytest.mark.xdist_group("own-searches")  # all tests share one index
INDEX = "own-searches"
WORDS = [f"word{number}" for number in range(5_000)]
# Texts of three families. One page resembles the first; another shares a bit with it, and resembles the third.
MILL, SEA, SKY = (Random(seed).choices(WORDS, k=300) for seed in range(3))
NEAR, FAR = [*MILL[:280], *SKY[:20]], [*MILL[:60], *SKY[:240]]
# By id: the title (the fewer words, the higher the score), the cluster, and the words of the text.
PAGES: dict[str, tuple[str, str, list[str]]] = {
    "a": ("mill", "a", MILL),
    "b": ("mill one", "a", NEAR),
    "c": ("mill one two", "", SEA),
    "d": ("mill one two three", "d", SEA),
    "e": ("mill one two three four", "", SKY),
    "f": ("mill one two three four five", "a", FAR),
    "g": ("mill one two three four five six", "", []),
}
MATCH = {"match": {"title": "mill"}}


@pytest.fixture(scope="module")
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        fields: dict[str, Any] = {"title": {"type": "text"}, "site": {"type": "keyword"}, "n": {"type": "long"}}
        fields |= {"text": {"type": "text", "index": False}, **mapping_fragment(below="winnow")["properties"]}
        settings = {"number_of_shards": 1, "number_of_replicas": 0}
        made.indices.create(index=INDEX, body={"settings": settings, "mappings": {"properties": fields}})
        for number, (id_, (title, cluster, words)) in enumerate(PAGES.items()):
            text = " ".join(words)
            ours = winnow_fields(text, cluster=cluster)
            document = {"title": title, "text": text, "n": number, "site": "x" if number < 4 else "y", "winnow": ours}
            made.index(index=INDEX, id=id_, body=document)
        made.indices.refresh(index=INDEX)
        yield made


def search(client: OpenSearch, members: int = 10, **body: Any) -> dict[str, Any]:
    search = deduplicate_search_body({"query": MATCH, **body}, field="winnow.cluster", members=members)
    found: dict[str, Any] = client.search(index=INDEX, body=search)
    return found


def ids(groups: HitGroups) -> list[list[str]]:
    return [[group.hit["_id"], *(member.hit["_id"] for member in group.members)] for group in groups]


def test_hits_as_they_are_come_in_groups(client: OpenSearch) -> None:
    found = client.search(index=INDEX, body={"query": MATCH})
    groups = group_hits(found, below="winnow")
    assert ids(groups) == [["a", "b"], ["c", "d"], ["e", "f"], ["g"]]
    assert (groups.total, groups.count) == (7, 4)
    values = ["winnow.minhash", "winnow.shingle_count"]
    bare = client.search(index=INDEX, body={"query": MATCH, "_source": False, "docvalue_fields": values})
    assert ids(group_hits(bare, below="winnow")) == ids(groups)
    first = group_hits(client.search(index=INDEX, body={"query": MATCH, "size": 3}), below="winnow")
    assert (ids(first), first.total, first.count) == ([["a", "b"], ["c"]], 7, None)


def test_responses_of_other_clients_and_their_json(client: OpenSearch) -> None:
    found = search(client)
    meta = ApiResponseMeta(200, "1.1", HttpHeaders(), 0.1, NodeConfig("http", "localhost", 9200))
    wrapped: ObjectApiResponse[Any] = ObjectApiResponse(body=found, meta=meta)  # as elasticsearch-py 8 and 9 return it
    written = json.dumps(found)
    groups = group_hits(found, below="winnow")
    assert groups.about == 5
    assert groups == group_hits(wrapped, below="winnow")
    assert groups == group_hits(written, below="winnow") == group_hits(written.encode(), below="winnow")


def test_an_update_past_winnow_leaves_stale_fields(client: OpenSearch) -> None:
    ours = winnow_fields(" ".join(SEA), cluster="stale")
    texts = {"1": MILL, "2": NEAR, "3": SEA}
    for id_, words in texts.items():
        document = {"title": "stale", "headline": words[0], "parts": [{"text": " ".join(words[1:])}], "winnow": ours}
        client.index(index=f"{INDEX}-stale", id=id_, body=document, refresh=True)
    found = client.search(index=f"{INDEX}-stale", body={"sort": ["_seq_no"]})
    assert ids(group_hits(found, below="winnow")) == [["1", "2", "3"]]  # without the texts, nothing is known
    groups = group_hits(found, below="winnow", text=("headline", "parts.text"))
    assert ids(groups) == [["1", "2"], ["3"]]


def test_clusters_stay_together_and_pages_without_one_are_apart(client: OpenSearch) -> None:
    found = search(client)
    assert [hit["_id"] for hit in found["hits"]["hits"]] == ["a", "c", "d"]  # c represents e and g too
    groups = group_hits(found, 1.0, below="winnow")
    assert ids(groups) == [["a", "b", "f"], ["c", "d"], ["e"], ["g"]]  # c and d have the same text
    assert [group.size for group in groups] == [3, 2, 1, 1]
    assert (groups.total, groups.count, groups.about, groups.left_out) == (7, 4, 5, 0)
    near, far = groups[0].members
    assert near.resemblance > 0.5 > far.resemblance > 0
    assert (near.kind, far.kind) == ("exact", "exact")


def test_members_without_fields_have_only_their_cluster(client: OpenSearch) -> None:
    groups = group_hits(search(client, _source=False), below="winnow")
    assert ids(groups) == [["a", "b", "f"], ["c"], ["d"], ["e"], ["g"]]
    assert {(each.resemblance, each.kind, each.error) for each in groups[0].members} == {(0.0, "estimate", 1.0)}


def test_pages_that_the_engine_left_out_are_reported(client: OpenSearch) -> None:
    groups = group_hits(search(client, members=1), below="winnow")
    assert ids(groups) == [["a", "b"], ["c", "d"], ["e"]]
    assert [group.size for group in groups] == [3, 2, 1]
    assert (groups.total, groups.count, groups.about, groups.left_out) == (7, None, 5, 1)


def test_pages_without_a_cluster_are_not_grouped_for_that_reason(client: OpenSearch) -> None:
    without = {"bool": {"must": [MATCH], "must_not": [{"exists": {"field": "winnow.cluster"}}]}}
    found = search(client, query=without)
    assert len(found["hits"]["hits"]) == 1
    assert ids(group_hits(found, below="winnow")) == [["c"], ["e"], ["g"]]


def test_pages_of_results_are_clusters(client: OpenSearch) -> None:
    pages = [search(client, **{"from": start, "size": 1}) for start in range(4)]
    assert [[hit["_id"] for hit in page["hits"]["hits"]] for page in pages] == [["a"], ["c"], ["d"], []]
    assert {group_hits(page, below="winnow").about for page in pages} == {5}


def test_sort_and_filters_hold_for_members_and_counts(client: OpenSearch) -> None:
    latest = search(client, sort=[{"n": "desc"}])
    assert ids(group_hits(latest, below="winnow")) == [["g"], ["e", "f", "b", "a"], ["c", "d"]]
    kept = search(client, post_filter={"range": {"n": {"gte": 3}}}, aggs={"sites": {"terms": {"field": "site"}}})
    groups = group_hits(kept, below="winnow")
    assert ids(groups) == [["d"], ["e", "f"], ["g"]]
    assert (groups.total, groups.count, groups.about) == (4, 3, 4)
    assert len(kept["aggregations"]["sites"]["buckets"]) == 2


def test_a_minimum_score_applies_to_members(client: OpenSearch) -> None:
    every = client.search(index=INDEX, body={"query": MATCH})["hits"]["hits"]
    least = (every[1]["_score"] + every[2]["_score"]) / 2
    plain = client.search(index=INDEX, body={"query": MATCH, "min_score": least})["hits"]
    groups = group_hits(search(client, min_score=least), below="winnow")
    assert ids(groups) == [["a", "b"]]
    assert (groups.total, groups.count, groups.about) == (plain["total"]["value"], 1, 1)
    assert groups[0].hit["_score"] == every[0]["_score"]


def test_members_are_highlighted_as_hits_are(client: OpenSearch) -> None:
    found = search(client, highlight={"fields": {"title": {}}}, _source=["title"], version=True)
    inner = found["hits"]["hits"][0]["inner_hits"]["same winnow.cluster"]["hits"]["hits"]
    assert [(each["highlight"]["title"], each["_version"]) for each in inner[:2]] == [
        (["<em>mill</em>"], 1),
        (["<em>mill</em> one"], 1),
    ]
    assert inner[0]["_source"] == {"title": "mill"}


@pytest.mark.parametrize(
    "more", [{"rescore": {"query": {"rescore_query": MATCH}}}, {"sort": [{"n": "asc"}], "search_after": [1]}]
)
def test_what_is_refused_by_name_the_engine_refuses_too(client: OpenSearch, more: dict[str, Any]) -> None:
    if "rescore" in more and not engine_of(client).uses_scripts:
        pytest.skip("this engine rescores collapsed hits")
    body = {"query": MATCH, "collapse": {"field": "winnow.cluster"}, **more}
    with pytest.raises(TransportError, match="collapse"):
        client.search(index=INDEX, body=body)


def test_members_would_not_be_those_of_a_point_in_time(client: OpenSearch) -> None:
    """Shows why `deduplicate_search_body` refuses a point in time. Elasticsearch has none of this kind."""
    if not engine_of(client).point_in_time or engine_of(client).product == "elasticsearch":
        return
    body = deduplicate_search_body({"query": MATCH}, field="winnow.cluster")
    point = client.create_pit(index=INDEX, params={"keep_alive": "1m"})["pit_id"]
    later = {"title": "mill", "winnow": {"cluster": "a"}}
    client.index(index=INDEX, id="later", body=later, params={"refresh": "true"})
    try:
        found = client.search(body=body | {"pit": {"id": point}})["hits"]
        inner = found["hits"][0]["inner_hits"]["same winnow.cluster"]["hits"]["hits"]
        assert found["total"]["value"] == len(PAGES)
        assert "later" in {hit["_id"] for hit in inner}
    finally:
        client.delete(index=INDEX, id="later", params={"refresh": "true"})
        client.delete_pit(body={"pit_id": [point]})


@pytest.mark.check
def test_hits_of_a_store_are_in_the_groups_of_its_own_search(engine: Running, client: OpenSearch) -> None:
    store, random = "own-searches-store", Random(7)
    pages = []
    for number in range(40):
        family, last = random.choice((MILL, SEA, SKY)), random.choice((0, 5, 90, 97, 105, 200))
        changed = [*family[: len(family) - last], *random.choices(WORDS, k=last)]
        pages.append(Page(f"http://example.org/{number}", text=" ".join(["mill", *changed])))
    with Index.open(f"{engine.url}/{store}", create=True) as index:
        index.add(pages)
        theirs = index.search("mill", group=True, limit=100)
    body = {"query": words_query(Words.of("mill")), "sort": BY_RANK, "size": 100}
    ours = group_hits(client.search(index=store, body=body))
    assert [[group.hit["_id"], *(member.hit["_id"] for member in group.members)] for group in ours] == [
        [result.card.id, *(member.id for member in result.members)] for result in theirs.hits
    ]
    assert (ours.total, ours.count) == (theirs.total, theirs.groups)
    assert 3 < len(ours) < len(pages)
