"""Grouped searches through the gateway, with other people's clients, on a real engine."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from tests.gateway.grouped_articles import (
    ARTICLES,
    MILL,
    all_pages,
    article,
    in_groups,
    new_index,
    put_together,
    true_resemblance,
    write,
)

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("grouped-search")]
SORTS: list[Any] = [
    None,  # by score
    "author",  # some documents have none, and many have the same
    "_score",
    {"n": {"order": "desc", "missing": "_first"}},
    [{"day": "desc"}, "n"],
    ["_score", {"author": {"order": "desc", "missing": "_last"}}],
]
GROUP = {"winnow": "group"}
numbers = count()


@pytest.fixture(scope="module")
def direct(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        yield made


@pytest.fixture(scope="module")
def client(gateway: str) -> Iterator[OpenSearch]:
    """A client whose address is the gateway's."""
    with OpenSearch(gateway, timeout=60, max_retries=0) as made:
        yield made


@pytest.fixture(scope="module")
def index(direct: OpenSearch, engine: Running) -> str:
    """An index that no test changes."""
    return new_index(direct, engine.url, "grouped-articles")


@pytest.fixture
def changing(direct: OpenSearch, engine: Running) -> str:
    """An index that the test may change."""
    return new_index(direct, engine.url, f"grouped-changing-{next(numbers)}", 30)


def body_of(sort: Any = None, **more: Any) -> dict[str, Any]:
    return {"query": MILL, **({} if sort is None else {"sort": sort}), **more}


@given(
    sort=st.sampled_from(SORTS),
    size=st.integers(3, 30),
    examine=st.sampled_from([1, 7, 20, 1_000]),
    threshold=st.sampled_from([0.3, 0.5, 0.8]),
)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(sort="author", size=3, examine=20, threshold=0.3)  # a page after documents without an author
@example(sort="author", size=3, examine=1, threshold=0.3)
def test_each_document_is_on_one_page(
    client: OpenSearch, direct: OpenSearch, index: str, sort: Any, size: int, examine: int, threshold: float
) -> None:
    """The law of paging: over all pages, each document is a hit, or a member of one, exactly once."""
    pages = all_pages(client, index, body_of(sort), size, examine=examine, min_resemblance=threshold)
    expected = in_groups(direct, index, body_of(sort), threshold)
    assert put_together(pages) == expected
    sizes = [len(page["hits"]["hits"]) for page in pages]
    assert sizes == [max(min(size, len(expected) - start), 0) for start in range(0, len(pages) * size, size)]
    total = direct.search(index=index, body=body_of(sort))["hits"]["total"]
    for page in pages:
        about, groups = page["ext"]["winnow"], page["ext"]["winnow"]["groups"]
        assert page["hits"]["total"] == total
        assert about["examined"] >= min(examine, ARTICLES)
        assert groups["value"] == len(expected) if groups["relation"] == "eq" else groups["value"] <= len(expected)
        assert (groups["relation"] == "eq") == (about["examined"] == ARTICLES)
    if examine > ARTICLES:
        assert not any(page["ext"]["winnow"]["folded"] for page in pages)


@pytest.mark.parametrize("sort", SORTS)
def test_hits_are_those_of_the_engine(client: OpenSearch, direct: OpenSearch, index: str, sort: Any) -> None:
    remarks = {"nested": {"path": "remarks", "query": {"match_all": {}}, "inner_hits": {"_source": False}}}
    body = body_of(
        sort,
        query={"bool": {"must": [MILL], "filter": [remarks]}},
        _source=["title"],
        docvalue_fields=["n", {"field": "day", "format": "yyyy"}],
        highlight={"fields": {"title": {}}},
        script_fields={"twice": {"script": "doc['n'].value * 2"}},
        version=True,
        seq_no_primary_term=True,
        aggs={"authors": {"terms": {"field": "author"}}},
    )
    usual = direct.search(index=index, body=body | {"size": 100})
    by_id = {hit["_id"]: hit for hit in usual["hits"]["hits"]}
    answer = client.search(index=index, body=body | {"size": 100}, params=GROUP)
    kinds = set()
    for hit in answer["hits"]["hits"]:
        expected = deepcopy(by_id[hit["_id"]])
        members = hit["inner_hits"].pop("winnow")["hits"]
        assert hit == expected
        assert members["total"]["relation"] == "eq"
        assert len(members["hits"]) == min(members["total"]["value"], 5)
        for member in members["hits"]:
            names = ("winnow.resemblance", "winnow.kind", "winnow.error")
            (resemblance,), (kind,), (error,) = map(member["fields"].pop, names)
            assert resemblance >= 0.5
            kinds.add(kind)
            assert kind == ("estimate" if error else "exact")
            assert abs(resemblance - true_resemblance(hit["_id"], member["_id"])) <= 5 * error + 1e-9
            alone = {name: by_id[member["_id"]][name] for name in ("_index", "_type", "_id", "_score") if name in hit}
            fields = {name: values for name, values in by_id[member["_id"]]["fields"].items() if name != "twice"}
            assert member == alone | {"fields": fields}
    assert kinds == {"exact", "estimate"}
    groups = {"value": len(answer["hits"]["hits"]), "relation": "eq"}
    others = {"examined": ARTICLES, "without_fields": 7, "stale": 0, "folded": []}
    assert answer.pop("ext")["winnow"] == {"groups": groups, **others}
    for part in (answer, usual):
        part.pop("took")
        part["hits"].pop("hits")
    assert answer == usual


def test_what_narrows_a_search_keeps_its_meaning(client: OpenSearch, direct: OpenSearch, index: str) -> None:
    counts = {"authors": {"terms": {"field": "author"}}}
    scored = [hit["_score"] for hit in direct.search(index=index, body=body_of(size=100))["hits"]["hits"]]
    for body in (
        body_of(post_filter={"term": {"author": "ada"}}, aggs=counts),
        body_of(min_score=scored[40], aggregations=counts),
        {"query": {"bool": {"must": [MILL], "filter": [{"term": {"n": 3}}]}}, "aggs": counts},
        {"aggs": counts},
    ):
        usual = direct.search(index=index, body=body)
        pages = all_pages(client, index, body, 10)
        assert put_together(pages) == in_groups(direct, index, body)
        assert all(page["hits"]["total"] == usual["hits"]["total"] for page in pages)
        assert all(page["aggregations"] == usual["aggregations"] for page in pages)
        without_hits = client.search(index=index, body=body | {"size": 0}, params=GROUP)
        del without_hits["ext"]
        assert without_hits | {"took": 0} == direct.search(index=index, body=body | {"size": 0}) | {"took": 0}


@pytest.mark.parametrize(
    "parameters",
    [
        {"track_total_hits": "true"},
        {"track_total_hits": "false"},
        {"track_total_hits": "7"},
        {"rest_total_hits_as_int": "true"},
        {"rest_total_hits_as_int": "true", "track_total_hits": "false"},
        {"track_total_hits": "often"},
        {"q": "title:mill", "df": "title", "default_operator": "AND", "lenient": "true"},
        {"df": "title"},
        {"sort": "n:desc,author", "track_scores": "true"},
        {"_source": "title,n", "version": "true", "seq_no_primary_term": ""},
        {"_source": "false", "docvalue_fields": "n,author", "explain": "true"},
        {"_source_includes": "title,n", "_source_excludes": "n"},
        {"_source_excludes": "title"},
        {"stored_fields": "author"},
        {"preference": "_local", "request_cache": "false", "search_type": "dfs_query_then_fetch"},
        {"routing": "x", "allow_partial_search_results": "false"},
        {"typed_keys": "true", "human": "", "pretty": ""},
        {"ignore_unavailable": "true", "batched_reduce_size": "2", "timeout": "30s", "stats": "some"},
        {"explain": "often"},
        {"explain": "", "version": "", "track_scores": "", "sort": "n"},
        {"unheard_of": "1"},
        {"source": '{"query": {"match": {"title": "mill"}}}', "source_content_type": "application/json"},
    ],
)
@pytest.mark.parametrize("size", ["3", "0"])
def test_parameters_of_the_address(
    client: OpenSearch, direct: OpenSearch, index: str, parameters: dict[str, str], size: str
) -> None:
    """Each has to have the effect that it has at the engine."""
    body = None if "source" in parameters else {"query": MILL, "aggs": {"n": {"max": {"field": "n"}}}}

    def answer(of: OpenSearch, **more: str) -> Any:
        try:
            address = urlencode({**parameters, "size": size} | more)  # the client would take some for its own
            return of.transport.perform_request("GET", f"/{index}/_search?{address}", body=body)
        except Exception as error:
            return error.args[::2]

    usual, grouped = answer(direct, **({"size": "100"} if size == "3" else {})), answer(client, **GROUP)
    if isinstance(usual, tuple):
        assert grouped == usual
        return
    del grouped["ext"], grouped["took"], usual["took"]
    by_id = {hit["_id"]: hit for hit in usual["hits"].pop("hits")}
    shown = grouped["hits"].pop("hits")
    assert len(shown) == int(size)
    for hit in shown:
        members = hit.pop("inner_hits")["winnow"]["hits"]
        assert isinstance(members["total"], int) == ("rest_total_hits_as_int" in parameters)
        expected = by_id[hit["_id"]]
        for each in (hit, expected):
            each.pop("_explanation", None)
        assert hit == expected
    assert grouped == usual


def test_a_point_in_time_freezes_all_pages(client: OpenSearch, direct: OpenSearch, changing: str) -> None:
    if not engine_of(direct).point_in_time:
        pytest.skip("this engine has no points in time")
    expected = in_groups(direct, changing, body_of())
    point = client.create_pit(index=changing, params={"keep_alive": "1m"})["pit_id"]
    body = body_of(pit={"id": point, "keep_alive": "1m"})
    first = all_pages(client, None, body, 4, index=changing)
    write(direct, changing, {str(number): article(number + 3) for number in range(0, 40, 3)})
    direct.delete(index=changing, id="1", params={"refresh": "true"})
    assert put_together(first) == put_together(all_pages(client, None, body, 4, index=changing)) == expected
    assert in_groups(direct, changing, body_of()) != expected
    params = {**GROUP, "winnow_index": changing}
    answer = client.transport.perform_request("POST", "/_search", params=params, body=body)
    assert [hit["_id"] for hit in answer["hits"]["hits"]] == [id_ for id_, _ in expected[:10]]
    direct.delete_pit(body={"pit_id": [point]})


def test_documents_that_were_changed_are_grouped_by_their_texts(
    client: OpenSearch, direct: OpenSearch, changing: str
) -> None:
    """Somebody changes texts and leaves the fields of winnow as they were."""
    for number in range(1, 30, 4):
        if number % 13:
            changed = {name: article(number + 1)[name] for name in ("headline", "parts")}
            direct.update(index=changing, id=str(number), body={"doc": changed})
    direct.update(index=changing, id="2", body={"doc": {"n": 77}})  # this leaves the text as it was
    direct.indices.refresh(index=changing)
    pages = all_pages(client, changing, body_of(), 100)
    assert put_together(pages) == in_groups(direct, changing, body_of())
    assert pages[0]["ext"]["winnow"]["stale"] == 8


def test_ids_that_exist_several_times(client: OpenSearch, direct: OpenSearch, changing: str) -> None:
    """The same id is in two indices; and in one of them, under several routings. An alias leads to both."""
    other = f"{changing}-other"
    mapping = next(iter(direct.indices.get_mapping(index=changing).values()))["mappings"]
    direct.indices.create(index=other, body={"mappings": mapping, "settings": {"number_of_shards": 3}})
    source = direct.get(index=changing, id="1")["_source"]
    for parameters in ({}, *({"routing": routing} for routing in "abcdef")):
        direct.index(index=other, id="1", body=source, params=parameters)
    direct.indices.put_alias(index=[changing, other], name=f"{changing}-alias")
    direct.indices.refresh(index=other)
    stored = direct.count(index=other)["count"]
    pages = all_pages(client, f"{changing}-alias", body_of(), 5)
    documents = [
        (hit["_index"], hit["_id"], hit.get("_routing"))
        for page in pages
        for shown in page["hits"]["hits"]
        for hit in (shown, *shown["inner_hits"]["winnow"]["hits"]["hits"])
    ]
    assert len(documents) == len(set(documents)) == 30 + stored
    found = client.search(index=changing, params={**GROUP, "routing": "a", "size": "100"})
    assert found["hits"]["total"] == direct.search(index=changing, params={"routing": "a"})["hits"]["total"]


def test_numbers_keep_their_digits(client: OpenSearch, direct: OpenSearch, changing: str) -> None:
    written = '{"title": "exact", "headline": "a", "n": 3, "raw": [12345678901234567890.123, 1.10, 1E5]}'
    direct.transport.perform_request("PUT", f"/{changing}/_doc/exact?refresh=true", body=written)
    for address in (f"/{changing}/_search?q=exact", f"/{changing}/_search?q=exact&winnow=group"):
        _, _, content = client.transport.get_connection().perform_request("GET", address)
        assert "[12345678901234567890.123, 1.10, 1E5]" in content
