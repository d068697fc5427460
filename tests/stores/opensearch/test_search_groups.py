"""search_groups with other people's searches in other people's indices, on a real engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from opensearchpy import AsyncOpenSearch, NotFoundError, OpenSearch, RequestError, helpers

from opensearch_winnow import QuestionError, Scheme
from opensearch_winnow.clients import HitGroups, mapping_fragment, search_groups, search_groups_async, winnow_fields
from opensearch_winnow.queries.compare import Comparer, Side, side
from opensearch_winnow.queries.searching.search_groups import GroupCursor
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import engine_of

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("search-groups")]
WORDS = [f"word{number}" for number in range(5_000)]
FAMILIES = [Random(seed).choices(WORDS, k=200) for seed in range(9)]
TEXT = ("headline", "parts.text")
MILL = {"match": {"title": "mill"}}
SORTS: list[Any] = [
    None,  # by score
    "author",  # some documents have none, and many have the same
    {"n": {"order": "desc", "missing": "_first"}},
    [{"day": "desc"}, "n"],
    ["_score", {"author": {"order": "desc", "missing": "_last"}}],
]
numbers = count()
Found = list[tuple[str, list[str]]]  # the id of each representative, and those of its members


def article(number: int) -> dict[str, Any]:
    """Return an article that resembles others of its family by .3 to 1."""
    random = Random(number)
    kept = 200 - random.choice([0, 5, 40, 62, 66, 70, 110])
    words = [*FAMILIES[number * number % len(FAMILIES)][:kept], *(f"own{number}x{at}" for at in range(200 - kept))]
    headline, parts = " ".join(words[:20]), [" ".join(words[20:90]), " ".join(words[90:])]
    made: dict[str, Any] = {"title": "mill " * random.randint(1, 3), "headline": headline, "n": random.randint(0, 9)}
    made["parts"] = [{"text": parts[0]}, {"text": parts[1:]}]
    made |= {"author": random.choice(["ada", "ben", "cleo"])} if number % 5 else {}
    made["day"] = f"2024-0{random.randint(1, 3)}-{random.randint(10, 28)}"
    return made | ({"winnow": winnow_fields("\n".join([headline, *parts]))} if number % 13 else {})


def text_of(source: dict[str, Any]) -> str:
    one, other = (part["text"] for part in source["parts"])
    return "\n".join([source["headline"], one, *other])


@pytest.fixture(scope="module")
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        yield made


@pytest.fixture(scope="module")
def pit_client(client: OpenSearch) -> OpenSearch:
    """A client of an engine that has points in time."""
    if not engine_of(client).point_in_time:
        pytest.skip("this engine has no points in time")
    return client


def new_index(client: OpenSearch, articles: int = 90, shards: int = 3) -> str:
    name = f"search-groups-{next(numbers)}"
    types = {"title": "text", "author": "keyword", "n": "long", "day": "date"}
    fields: dict[str, Any] = {name: {"type": kind} for name, kind in types.items()}
    fields |= {"headline": {"type": "text", "index": False}, **mapping_fragment(below="winnow")["properties"]}
    settings = {"number_of_shards": shards, "number_of_replicas": 0}
    client.indices.create(index=name, body={"settings": settings, "mappings": {"properties": fields}})
    pages = ({"_index": name, "_id": str(number), "_source": article(number)} for number in range(articles))
    helpers.bulk(client, pages, refresh=True)
    return name


@pytest.fixture(scope="module")
def index(client: OpenSearch) -> str:
    """An index that no test changes."""
    return new_index(client)


COMPARER = Comparer(Scheme())


@cache
def prepared(text: str) -> Side:
    return side(text, Scheme())


def in_groups(client: OpenSearch, index: str, body: dict[str, Any], threshold: float = 0.5) -> Found:
    """Group all hits by brute force, with their texts."""
    sort = body.get("sort") or [{"_score": "desc"}]
    order = [*(sort if isinstance(sort, list) else [sort]), {"_seq_no": "asc"}]
    groups: list[tuple[str, Side | None, list[str]]] = []
    for hit in client.search(index=index, body={**body, "sort": order, "size": 1_000})["hits"]["hits"]:
        made = prepared(text_of(hit["_source"])) if "winnow" in hit["_source"] else None
        for _, representative, members in groups:
            if made and representative and COMPARER.scores(representative, made).resemblance >= threshold:
                members.append(hit["_id"])
                break
        else:
            groups.append((hit["_id"], made, []))
    return [(id_, members) for id_, _, members in groups]


def pages_of(client: OpenSearch, index: str, body: dict[str, Any], **options: Any) -> Iterator[HitGroups]:
    page = search_groups(client, index, body, below="winnow", text=TEXT, **options)
    yield page
    while page.cursor:
        page = search_groups(client, cursor=page.cursor)
        yield page


def put_together(pages: list[HitGroups]) -> Found:
    found: dict[str, list[str]] = {}
    for page in pages:
        for group in page:
            assert group.hit["_id"] not in found
            assert group.size == 1 + len(group.members)
            found[group.hit["_id"]] = [member.hit["_id"] for member in group.members]
        for hit, member in page.folded:
            found[hit["_id"]].append(member.hit["_id"])
    return list(found.items())


def body_of(sort: Any = None, **more: Any) -> dict[str, Any]:
    return {"query": MILL, **({} if sort is None else {"sort": sort}), **more}


@given(
    sort=st.sampled_from(SORTS),
    limit=st.integers(2, 12),
    examine=st.integers(1, 100),
    threshold=st.sampled_from([0.3, 0.5, 0.8]),
)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_pages_are_the_groups_of_all_hits(
    pit_client: OpenSearch, index: str, sort: Any, limit: int, examine: int, threshold: float
) -> None:
    pages = list(pages_of(pit_client, index, body_of(sort), limit=limit, examine=examine, min_resemblance=threshold))
    expected = in_groups(pit_client, index, body_of(sort), threshold)
    assert put_together(pages) == expected
    assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
    for page in pages:
        assert page.total == 90
        assert page.at_most is not None
        assert page.at_least <= len(expected) <= page.at_most
        assert page.count in (None, len(expected))
        assert page.examined >= min(examine, 90)
    assert (pages[-1].count, pages[-1].examined) == (len(expected), 90)


def test_writes_between_pages_change_nothing(pit_client: OpenSearch) -> None:
    index = new_index(pit_client)
    expected = in_groups(pit_client, index, body_of())
    sources = {hit["_id"]: hit["_source"] for hit in pit_client.search(index=index, body={"size": 100})["hits"]["hits"]}
    pages = []
    for number, page in enumerate(pages_of(pit_client, index, body_of(), limit=3, examine=5)):
        pages.append(page)
        assert [group.hit["_source"] for group in page] == [sources[group.hit["_id"]] for group in page]
        lines: list[Any] = []
        for place in range(number, 90, 7):
            lines += [{"delete": {"_index": index, "_id": str(place)}}]
            lines += [{"index": {"_index": index, "_id": str(place + 1)}}, article(place + 2)]
            lines += [{"index": {"_index": index, "_id": f"new{number}x{place}"}}, article(place)]
        pit_client.bulk(body=lines, refresh=True)
        pit_client.indices.forcemerge(index=index, params={"max_num_segments": 1})
    assert len(pages) > 3
    assert put_together(pages) == expected != in_groups(pit_client, index, body_of())
    assert any(page.folded for page in pages)


@pytest.mark.parametrize("sort", SORTS)
def test_hits_are_shown_as_the_search_asks_for_them(pit_client: OpenSearch, index: str, sort: Any) -> None:
    body = body_of(
        sort,
        _source=["title"],
        docvalue_fields=["n", {"field": "day", "format": "yyyy"}],
        highlight={"fields": {"title": {}}},
        script_fields={"twice": {"script": "doc['n'].value * 2"}},
        version=True,
        seq_no_primary_term=True,
        explain=True,
    )
    usual = {hit["_id"]: hit for hit in pit_client.search(index=index, body={**body, "size": 100})["hits"]["hits"]}
    pages = list(pages_of(pit_client, index, body, limit=4))
    for page in pages:
        for group in page:
            shown, expected = dict(group.hit), dict(usual[group.hit["_id"]])
            assert shown.pop("_explanation")["value"] == expected.pop("_explanation")["value"]
            assert shown == expected
            for member in group.members:
                hit = usual[member.hit["_id"]]
                kept = {name: hit[name] for name in ("_index", "_id", "_score")}
                assert member.hit == kept | {"fields": {name: hit["fields"][name] for name in ("n", "day")}}


def test_what_narrows_a_search_keeps_its_meaning(pit_client: OpenSearch, index: str) -> None:
    counts = {"authors": {"terms": {"field": "author"}}}
    scored = [hit["_score"] for hit in pit_client.search(index=index, body=body_of(size=100))["hits"]["hits"]]
    for body in (
        body_of(post_filter={"term": {"author": "ada"}}, aggs=counts),
        body_of(min_score=scored[40], aggregations=counts),
        body_of(min_score=scored[40], sort=["_score", "n"], aggs=counts),
        body_of({"n": "asc"}, post_filter={"range": {"n": {"gte": 4}}}, aggs=counts),
        {"query": {"bool": {"must": [MILL], "filter": [{"term": {"n": 3}}]}}, "aggs": counts},
        {"aggs": counts},
    ):
        usual = pit_client.search(index=index, body={**body, "size": 100})
        first, *others = pages = list(pages_of(pit_client, index, body, limit=3, examine=10))
        assert put_together(pages) == in_groups(pit_client, index, body)
        assert {page.total for page in pages} == {usual["hits"]["total"]["value"]}
        assert first.aggregations == usual["aggregations"]
        assert {len(page.aggregations) for page in others} <= {0}
    uncounted = list(pages_of(pit_client, index, body_of(track_total_hits=False), limit=3, examine=10))
    groups = in_groups(pit_client, index, body_of())
    assert put_together(uncounted) == groups
    assert (uncounted[0].total, uncounted[0].at_most, uncounted[-1].count) == (None, None, len(groups))


def test_texts_decide_near_the_threshold(pit_client: OpenSearch, index: str) -> None:
    def kinds(**options: Any) -> set[str]:
        page = search_groups(pit_client, index, body_of(), below="winnow", limit=100, **options)
        return {member.kind for group in page for member in group.members}

    assert kinds(text=TEXT) == {"exact", "estimate"}
    assert kinds(text=()) == kinds(text="parts.text") == {"estimate"}  # without texts, or with a part of each


def test_an_asynchronous_client_gets_the_same(pit_client: OpenSearch, engine: Running, index: str) -> None:
    async def pages(body: dict[str, Any]) -> list[HitGroups]:
        async with AsyncOpenSearch(engine.url, timeout=60) as other:
            page = await search_groups_async(other, index, body, below="winnow", text=TEXT, limit=4, examine=20)
            found = [page]
            while page.cursor:
                page = await search_groups_async(other, cursor=page.cursor)
                found.append(page)
            with pytest.raises(NotFoundError):
                await search_groups_async(other, "search-groups-missing", body)
            return found

    body = body_of(highlight={"fields": {"title": {}}}, aggs={"n": {"max": {"field": "n"}}})
    expected = list(pages_of(pit_client, index, body, limit=4, examine=20))
    assert len(expected) > 3
    found = asyncio.run(pages(body))
    assert [replace(page, cursor="") for page in found] == [replace(page, cursor="") for page in expected]


def test_ids_that_exist_several_times(pit_client: OpenSearch) -> None:
    """The same id is in two indices; and in one of them, under several routings."""
    one, two = new_index(pit_client, 0), new_index(pit_client, 0)
    fields = article(1)
    places = [(one, {}), (two, {}), *((two, {"routing": routing}) for routing in "abcdef")]
    for index, parameters in places:
        pit_client.index(
            index=index, id="x", body=fields | {"n": len(parameters)}, params={"refresh": "true"} | parameters
        )
    stored = pit_client.count(index=two)["count"]
    assert stored > 1  # several routings lead to the same shard
    every: dict[str, Any] = {"query": {"match_all": {}}}
    pages = list(pages_of(pit_client, f"{one},{two}", every, limit=1, examine=1, min_resemblance=1.0))
    assert [len(page.groups) for page in pages if page.groups] == [1]
    assert sum(len(page.folded) + sum(len(group.members) for group in page) for page in pages) == stored
    pit_client.update_by_query(index=f"{one},{two}", body={"script": "ctx._source.remove('winnow')"}, refresh=True)
    apart = pages_of(pit_client, f"{one},{two}", {"_source": ["n"]}, limit=1)
    hits = [group.hit for page in apart for group in page]
    assert len(hits) == len({(hit["_index"], hit.get("_routing")) for hit in hits}) == stored + 1
    assert all(hit["_source"] == {"n": 1 if "_routing" in hit else 0} for hit in hits)


@pytest.mark.usefixtures("pit_client")
def test_points_in_time_that_no_cursor_leads_to_are_deleted(engine: Running, index: str) -> None:
    with OpenSearch(engine.url, timeout=60) as client:
        create, points = client.create_pit, []  # other tests use the engine at the same time

        def create_pit(**arguments: Any) -> Any:
            points.append((answer := create(**arguments))["pit_id"])
            return answer

        client.create_pit = create_pit
        page = search_groups(client, index, body_of(), below="winnow", limit=1)
        assert page.cursor
        kept = GroupCursor.of(page.cursor).point
        assert search_groups(client, index, body_of(), below="winnow", limit=100).cursor is None
        assert search_groups(client, index, {"query": {"match": {"title": "nothing"}}}).groups == []
        with pytest.raises(RequestError, match="no_such_query"):
            search_groups(client, index, {"query": {"no_such_query": {}}})
        with pytest.raises(QuestionError, match=r"this search is too large for a cursor: it takes 1\d\d,\d\d\d bytes"):
            search_groups(client, index, {"query": {"terms": {"n": list(range(20_000))}}}, limit=1)
        assert len(points) == 5
        assert {each["pit_id"] for each in client.get_all_pits()["pits"]} & set(points) == {kept}
        client.delete_pit(body={"pit_id": [kept]})


def test_an_expired_cursor_says_so(pit_client: OpenSearch, index: str) -> None:
    page = search_groups(pit_client, index, body_of(), limit=1, keep_alive="2m")
    assert page.cursor
    point = GroupCursor.of(page.cursor).point
    if engine_of(pit_client).product == "elasticsearch":
        pit_client.transport.perform_request("DELETE", "/_pit", body={"id": point})
    else:
        pit_client.delete_pit(body={"pit_id": [point]})
    with pytest.raises(QuestionError, match=r"^the cursor has expired: search again; a cursor works for 2m after each"):
        search_groups(pit_client, cursor=page.cursor)


def test_a_cursor_needs_the_same_scheme_and_does_not_show_its_key(pit_client: OpenSearch, index: str) -> None:
    secret = Scheme(key="a secret")
    page = search_groups(pit_client, index, body_of(), below="winnow", scheme=secret, limit=1)
    with pytest.raises(QuestionError, match="made with another scheme: pass the same"):
        search_groups(pit_client, cursor=page.cursor)
    assert len(search_groups(pit_client, cursor=page.cursor, scheme=secret)) == 1


def test_without_points_in_time_it_says_what_to_do(client: OpenSearch, index: str) -> None:
    if engine_of(client).point_in_time:
        with pytest.raises(RequestError, match="Keep alive"):  # another reason for the same status
            search_groups(client, index, body_of(), keep_alive="400d")
        with pytest.raises(NotFoundError):
            search_groups(client, "search-groups-missing", body_of())
        return
    with pytest.raises(QuestionError, match=r"this engine has no points in time.* Index\.search"):
        search_groups(client, index, body_of())
    assert client.count(index=index)["count"] == 90  # older engines take the address for that of a document
