"""search_groups with other people's searches in other people's indices, on a real engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opensearchpy import AsyncOpenSearch, NotFoundError, OpenSearch, RequestError

from opensearch_winnow import (
    HitGroups,
    QuestionError,
    Scheme,
    mapping_fragment,
    search_groups,
    search_groups_async,
    winnow_fields,
)
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
    family = FAMILIES[number * number % len(FAMILIES)]
    kept = 200 - random.choice([0, 5, 40, 62, 66, 70, 110])
    words = [*family[:kept], *(f"own{number}x{place}" for place in range(200 - kept))]
    made: dict[str, Any] = {
        "title": "mill " * random.randint(1, 3),
        "headline": " ".join(words[:20]),
        "n": random.randint(0, 9),
    }
    made |= {"parts": [{"text": " ".join(words[20:90])}, {"text": [" ".join(words[90:])]}]}
    made |= {"author": random.choice(["ada", "ben", "cleo"])} if number % 5 else {}
    made |= {"day": f"2024-0{random.randint(1, 3)}-{random.randint(10, 28)}"}
    text = "\n".join([made["headline"], *(part for each in made["parts"] for part in texts(each["text"]))])
    return made | ({"winnow": winnow_fields(text)} if number % 13 else {})


def texts(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


@pytest.fixture(scope="module")
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        yield made


@pytest.fixture(scope="module")
def frozen(client: OpenSearch) -> None:
    """An engine that has points in time."""
    if not engine_of(client).point_in_time:
        pytest.skip("this engine has no points in time")


def new_index(client: OpenSearch, articles: int = 90, shards: int = 3) -> str:
    name = f"search-groups-{next(numbers)}"
    fields: dict[str, Any] = {
        "title": {"type": "text"},
        "headline": {"type": "text", "index": False},
        "author": {"type": "keyword"},
        "n": {"type": "long"},
        "day": {"type": "date"},
        **mapping_fragment(below="winnow")["properties"],
    }
    settings = {"number_of_shards": shards, "number_of_replicas": 0}
    client.indices.create(index=name, body={"settings": settings, "mappings": {"properties": fields}})
    lines: list[Any] = []
    for number in range(articles):
        lines += [{"index": {"_index": name, "_id": str(number)}}, article(number)]
    assert not articles or not client.bulk(body=lines, refresh=True)["errors"]
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
        source = hit["_source"]
        words = [source["headline"], *(part for each in source["parts"] for part in texts(each["text"]))]
        made = prepared("\n".join(words)) if "winnow" in source else None
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


@pytest.mark.usefixtures("frozen")
@given(
    sort=st.sampled_from(SORTS),
    limit=st.integers(2, 12),
    examine=st.integers(1, 100),
    threshold=st.sampled_from([0.3, 0.5, 0.8]),
)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_pages_are_the_groups_of_all_hits(
    client: OpenSearch, index: str, sort: Any, limit: int, examine: int, threshold: float
) -> None:
    pages = list(pages_of(client, index, body_of(sort), limit=limit, examine=examine, min_resemblance=threshold))
    expected = in_groups(client, index, body_of(sort), threshold)
    assert put_together(pages) == expected
    assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
    for page in pages:
        assert page.total == 90
        assert page.at_most is not None
        assert page.at_least <= len(expected) <= page.at_most
        assert page.count in (None, len(expected))
        assert page.examined >= min(examine, 90)
    assert (pages[-1].count, pages[-1].examined) == (len(expected), 90)


@pytest.mark.usefixtures("frozen")
def test_writes_between_pages_change_nothing(client: OpenSearch) -> None:
    index = new_index(client)
    expected = in_groups(client, index, body_of())
    sources = {hit["_id"]: hit["_source"] for hit in client.search(index=index, body={"size": 100})["hits"]["hits"]}
    pages = []
    for number, page in enumerate(pages_of(client, index, body_of(), limit=3, examine=5)):
        pages.append(page)
        assert [group.hit["_source"] for group in page] == [sources[group.hit["_id"]] for group in page]
        lines: list[Any] = []
        for place in range(number, 90, 7):
            lines += [{"delete": {"_index": index, "_id": str(place)}}]
            lines += [{"index": {"_index": index, "_id": str(place + 1)}}, article(place + 2)]
            lines += [{"index": {"_index": index, "_id": f"new{number}x{place}"}}, article(place)]
        client.bulk(body=lines, refresh=True)
        client.indices.forcemerge(index=index, params={"max_num_segments": 1})
    assert len(pages) > 3
    assert put_together(pages) == expected != in_groups(client, index, body_of())
    assert any(page.folded for page in pages)


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("sort", SORTS)
def test_hits_are_shown_as_the_search_asks_for_them(client: OpenSearch, index: str, sort: Any) -> None:
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
    usual = {hit["_id"]: hit for hit in client.search(index=index, body={**body, "size": 100})["hits"]["hits"]}
    pages = list(pages_of(client, index, body, limit=4))
    for page in pages:
        for group in page:
            shown, expected = dict(group.hit), dict(usual[group.hit["_id"]])
            assert shown.pop("_explanation")["value"] == expected.pop("_explanation")["value"]
            shown_place = shown.pop("_shard"), shown.pop("_node")
            assert shown_place == (expected.pop("_shard"), expected.pop("_node"))
            assert shown == expected
            for member in group.members:
                hit = usual[member.hit["_id"]]
                fields = {name: value for name, value in hit["fields"].items() if name != "twice"}
                assert member.hit == {
                    "_index": index,
                    "_id": hit["_id"],
                    "_score": hit["_score"],
                    "fields": fields,
                }


@pytest.mark.usefixtures("frozen")
def test_what_narrows_a_search_keeps_its_meaning(client: OpenSearch, index: str) -> None:
    counts = {"authors": {"terms": {"field": "author"}}}
    scored = [hit["_score"] for hit in client.search(index=index, body=body_of(size=100))["hits"]["hits"]]
    for body in (
        body_of(post_filter={"term": {"author": "ada"}}, aggs=counts),
        body_of(min_score=scored[40], aggregations=counts),
        body_of(min_score=scored[40], sort=["_score", "n"], aggs=counts),
        body_of({"n": "asc"}, post_filter={"range": {"n": {"gte": 4}}}, aggs=counts),
        {"query": {"bool": {"must": [MILL], "filter": [{"term": {"n": 3}}]}}, "aggs": counts},
        {"aggs": counts},
    ):
        usual = client.search(index=index, body={**body, "size": 100})
        first, *others = pages = list(pages_of(client, index, body, limit=3, examine=10))
        assert put_together(pages) == in_groups(client, index, body)
        assert {page.total for page in pages} == {usual["hits"]["total"]["value"]}
        assert first.aggregations == usual["aggregations"]
        assert {len(page.aggregations) for page in others} <= {0}
    uncounted = list(pages_of(client, index, body_of(track_total_hits=False), limit=3, examine=10))
    assert put_together(uncounted) == in_groups(client, index, body_of())
    assert [(page.total, page.at_most) for page in uncounted[:1]] == [(None, None)]
    assert uncounted[-1].count == len(in_groups(client, index, body_of()))


@pytest.mark.usefixtures("frozen")
def test_texts_decide_near_the_threshold(client: OpenSearch, index: str) -> None:
    def kinds(**options: Any) -> set[str]:
        page = search_groups(client, index, body_of(), below="winnow", limit=100, **options)
        return {member.kind for group in page for member in group.members}

    assert kinds(text=TEXT) == {"exact", "estimate"}
    assert kinds(text=()) == kinds(text="parts.text") == {"estimate"}  # without texts, or with a part of each


@pytest.mark.usefixtures("frozen")
def test_an_asynchronous_client_gets_the_same(client: OpenSearch, engine: Running, index: str) -> None:
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
    expected = list(pages_of(client, index, body, limit=4, examine=20))
    assert len(expected) > 3
    found = asyncio.run(pages(body))
    assert [replace(page, cursor="") for page in found] == [replace(page, cursor="") for page in expected]


@pytest.mark.usefixtures("frozen")
def test_ids_that_exist_several_times(client: OpenSearch) -> None:
    """The same id is in two indices; and in one of them, under several routings."""
    one, two = new_index(client, 0), new_index(client, 0)
    fields = article(1)
    places = [(one, {}), (two, {}), *((two, {"routing": routing}) for routing in "abcdef")]
    for index, parameters in places:
        client.index(index=index, id="x", body=fields | {"n": len(parameters)}, params={"refresh": "true"} | parameters)
    stored = client.count(index=two)["count"]
    assert stored > 1  # several routings lead to the same shard
    pages = list(
        pages_of(client, f"{one},{two}", {"query": {"match_all": {}}}, limit=1, examine=1, min_resemblance=1.0)
    )
    assert [len(page.groups) for page in pages if page.groups] == [1]
    assert (
        sum(len(group.members) for page in pages for group in page) + sum(len(page.folded) for page in pages) == stored
    )
    client.update_by_query(index=f"{one},{two}", body={"script": "ctx._source.remove('winnow')"}, refresh=True)
    apart = pages_of(client, f"{one},{two}", {"_source": ["n"]}, limit=1)
    hits = [group.hit for page in apart for group in page]
    assert len(hits) == len({(hit["_index"], hit.get("_routing")) for hit in hits}) == stored + 1
    assert all(hit["_source"] == {"n": 1 if "_routing" in hit else 0} for hit in hits)


class RememberingClient(OpenSearch):
    """A client that remembers the points in time it has created. Other tests use the engine at the same time."""

    points: ClassVar[set[str]] = set()

    def create_pit(self, **arguments: Any) -> Any:
        answer = super().create_pit(**arguments)
        self.points.add(answer["pit_id"])
        return answer

    def open_points(self) -> set[str]:
        return self.points & {each["pit_id"] for each in self.get_all_pits()["pits"]}


@pytest.mark.usefixtures("frozen")
def test_points_in_time_that_no_cursor_leads_to_are_deleted(engine: Running, index: str) -> None:
    with RememberingClient(engine.url, timeout=60) as client:
        page = search_groups(client, index, body_of(), below="winnow", limit=1)
        assert page.cursor
        kept = {GroupCursor.of(page.cursor).point}
        assert search_groups(client, index, body_of(), below="winnow", limit=100).cursor is None
        assert search_groups(client, index, {"query": {"match": {"title": "nothing"}}}).groups == []
        with pytest.raises(RequestError, match="no_such_query"):
            search_groups(client, index, {"query": {"no_such_query": {}}})
        with pytest.raises(QuestionError, match=r"this search is too large for a cursor: it takes 1\d\d,\d\d\d bytes"):
            search_groups(client, index, {"query": {"terms": {"n": list(range(20_000))}}}, limit=1)
        assert len(client.points) == 5
        assert client.open_points() == kept
        client.delete_pit(body={"pit_id": list(kept)})


@pytest.mark.usefixtures("frozen")
def test_an_expired_cursor_says_so(client: OpenSearch, index: str) -> None:
    page = search_groups(client, index, body_of(), limit=1, keep_alive="2m")
    assert page.cursor
    point = GroupCursor.of(page.cursor).point
    if engine_of(client).product == "elasticsearch":
        client.transport.perform_request("DELETE", "/_pit", body={"id": point})
    else:
        client.delete_pit(body={"pit_id": [point]})
    with pytest.raises(QuestionError, match=r"^the cursor has expired: search again; a cursor works for 2m after each"):
        search_groups(client, cursor=page.cursor)


@pytest.mark.usefixtures("frozen")
def test_a_cursor_needs_the_same_scheme_and_does_not_show_its_key(client: OpenSearch, index: str) -> None:
    secret = Scheme(key="a secret")
    page = search_groups(client, index, body_of(), below="winnow", scheme=secret, limit=1)
    with pytest.raises(QuestionError, match="made with another scheme: pass the same"):
        search_groups(client, cursor=page.cursor)
    assert len(search_groups(client, cursor=page.cursor, scheme=secret)) == 1


def test_without_points_in_time_it_says_what_to_do(client: OpenSearch, index: str) -> None:
    if engine_of(client).point_in_time:
        with pytest.raises(RequestError, match="Keep alive"):  # another reason for the same status
            search_groups(client, index, body_of(), keep_alive="400d")
        return
    with pytest.raises(QuestionError, match=r"this engine has no points in time.* Index\.search"):
        search_groups(client, index, body_of())
    assert client.count(index=index)["count"] == 90  # older engines take the address for that of a document


def test_an_index_that_is_missing_is_reported_by_the_client(client: OpenSearch) -> None:
    if engine_of(client).point_in_time:
        with pytest.raises(NotFoundError):
            search_groups(client, "search-groups-missing", body_of())
