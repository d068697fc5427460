"""deduplicate_search_body and group_hits with other people's searches in other people's indices."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Index, Page
from opensearch_winnow.clients import (
    HitGroups,
    deduplicate_search_body,
    group_hits,
    mapping_fragment,
    winnow_fields,
    words_query,
)
from opensearch_winnow.queries.dsl.ranked import BY_RANK
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.engine.running import Running

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
def searched(client: OpenSearch) -> OpenSearch:
    """A client of an engine that has the index."""
    fields: dict[str, Any] = {"title": {"type": "text"}, "site": {"type": "keyword"}, "n": {"type": "long"}}
    fields |= {"text": {"type": "text", "index": False}, **mapping_fragment(below="winnow")["properties"]}
    settings = {"number_of_shards": 1, "number_of_replicas": 0}
    client.indices.create(index=INDEX, body={"settings": settings, "mappings": {"properties": fields}})
    for number, (id_, (title, cluster, words)) in enumerate(PAGES.items()):
        text = " ".join(words)
        document = {"title": title, "text": text, "n": number, "site": "x" if number < 4 else "y"}
        document["winnow"] = winnow_fields(text, cluster=cluster)
        client.index(index=INDEX, id=id_, body=document)
    client.indices.refresh(index=INDEX)
    return client


def search(searched: OpenSearch, members: int = 10, **body: Any) -> dict[str, Any]:
    search = deduplicate_search_body({"query": MATCH, **body}, field="winnow.cluster", members=members)
    found: dict[str, Any] = searched.search(index=INDEX, body=search)
    return found


def plain(searched: OpenSearch, **body: Any) -> dict[str, Any]:
    found: dict[str, Any] = searched.search(index=INDEX, body={"query": MATCH, **body})
    return found


def ids(groups: HitGroups) -> list[list[str]]:
    return [[group.hit["_id"], *(member.hit["_id"] for member in group.members)] for group in groups]


def in_groups(found: Any, **how: Any) -> list[list[str]]:
    return ids(group_hits(found, below="winnow", **how))


def test_hits_as_they_are_come_in_groups(searched: OpenSearch) -> None:
    groups = group_hits(plain(searched), below="winnow")
    assert ids(groups) == [["a", "b"], ["c", "d"], ["e", "f"], ["g"]]
    assert (groups.total, groups.count) == (7, 4)
    values = ["winnow.minhash", "winnow.shingle_count"]
    assert in_groups(plain(searched, _source=False, docvalue_fields=values)) == ids(groups)
    first = group_hits(plain(searched, size=3), below="winnow")
    assert (ids(first), first.total, first.count) == ([["a", "b"], ["c"]], 7, None)


def test_clusters_stay_together_and_pages_without_one_are_apart(searched: OpenSearch) -> None:
    found = search(searched)
    assert [hit["_id"] for hit in found["hits"]["hits"]] == ["a", "c", "d"]  # c represents e and g too
    groups = group_hits(found, 1.0, below="winnow")
    assert ids(groups) == [["a", "b", "f"], ["c", "d"], ["e"], ["g"]]  # c and d have the same text
    assert [group.size for group in groups] == [3, 2, 1, 1]
    assert (groups.total, groups.count, groups.about, groups.left_out) == (7, 4, 5, 0)
    near, far = groups[0].members
    assert near.resemblance > 0.5 > far.resemblance > 0
    assert (near.kind, far.kind) == ("exact", "exact")
    pages = [search(searched, **{"from": start, "size": 1}) for start in range(4)]  # pages of results are clusters
    assert [[hit["_id"] for hit in page["hits"]["hits"]] for page in pages] == [["a"], ["c"], ["d"], []]
    assert {group_hits(page, below="winnow").about for page in pages} == {5}


def test_members_as_the_search_asks_for_them(searched: OpenSearch) -> None:
    groups = group_hits(search(searched, _source=False), below="winnow")  # without fields, they have only a cluster
    assert ids(groups) == [["a", "b", "f"], ["c"], ["d"], ["e"], ["g"]]
    assert {(each.resemblance, each.kind, each.error) for each in groups[0].members} == {(0.0, "estimate", 1.0)}
    without = {"bool": {"must": [MATCH], "must_not": [{"exists": {"field": "winnow.cluster"}}]}}
    found = search(searched, query=without)
    assert len(found["hits"]["hits"]) == 1
    assert in_groups(found) == [["c"], ["e"], ["g"]]
    groups = group_hits(search(searched, members=1), below="winnow")  # the engine leaves one out
    assert ids(groups) == [["a", "b"], ["c", "d"], ["e"]]
    assert [group.size for group in groups] == [3, 2, 1]
    assert (groups.total, groups.count, groups.about, groups.left_out) == (7, None, 5, 1)
    found = search(searched, highlight={"fields": {"title": {}}}, _source=["title"], version=True)
    inner = found["hits"]["hits"][0]["inner_hits"]["same winnow.cluster"]["hits"]["hits"]
    assert [each["highlight"]["title"] for each in inner[:2]] == [["<em>mill</em>"], ["<em>mill</em> one"]]
    assert ([each["_version"] for each in inner[:2]], inner[0]["_source"]) == ([1, 1], {"title": "mill"})


def test_sort_and_filters_hold_for_members_and_counts(searched: OpenSearch) -> None:
    assert in_groups(search(searched, sort=[{"n": "desc"}])) == [["g"], ["e", "f", "b", "a"], ["c", "d"]]
    kept = search(searched, post_filter={"range": {"n": {"gte": 3}}}, aggs={"sites": {"terms": {"field": "site"}}})
    groups = group_hits(kept, below="winnow")
    assert ids(groups) == [["d"], ["e", "f"], ["g"]]
    assert (groups.total, groups.count, groups.about) == (4, 3, 4)
    assert len(kept["aggregations"]["sites"]["buckets"]) == 2
    every = plain(searched)["hits"]["hits"]
    least = (every[1]["_score"] + every[2]["_score"]) / 2  # applies to members, too
    groups = group_hits(search(searched, min_score=least), below="winnow")
    assert ids(groups) == [["a", "b"]]
    total = plain(searched, min_score=least)["hits"]["total"]["value"]
    assert (groups.total, groups.count, groups.about) == (total, 1, 1)
    assert groups[0].hit["_score"] == every[0]["_score"]


@pytest.mark.check
def test_hits_of_a_store_are_in_the_groups_of_its_own_search(engine: Running, client: OpenSearch) -> None:
    store, random, pages = "own-searches-store", Random(7), []
    for number in range(40):
        family, last = random.choice((MILL, SEA, SKY)), random.choice((0, 5, 90, 97, 105, 200))
        words = ["mill", *family[: len(family) - last], *random.choices(WORDS, k=last)]
        pages.append(Page(f"http://example.org/{number}", text=" ".join(words)))
    with Index.open(f"{engine.url}/{store}", create=True) as index:
        index.add(pages)
        theirs = index.search("mill", group=True, limit=100)
    body = {"query": words_query(Words.of("mill")), "sort": BY_RANK, "size": 100}
    ours = group_hits(client.search(index=store, body=body))
    assert ids(ours) == [[hit.card.id, *(member.id for member in hit.members)] for hit in theirs.hits]
    assert (ours.total, ours.count) == (theirs.total, theirs.groups)
    assert 3 < len(ours) < len(pages)
