"""What a client gets if a search cannot be grouped, if the engine refuses it, and for several searches at once."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from multidict import CIMultiDict
from opensearchpy import OpenSearch

from opensearch_winnow.gateway.attached import AttachedIndices
from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.gateway.engine_connection import EngineConnection
from opensearch_winnow.gateway.searching import grouped_search as gateway_searches
from opensearch_winnow.gateway.searching.grouped_search import grouped_search
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.gateway.grouped_articles import MILL, in_groups, new_index
from tests.gateway.raw_requests import Answer
from tests.gateway.running_gateway import ask, bulk_lines

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("grouped-search")]
GROUPED = {"query": MILL, "ext": {"winnow": {"group": True}}}


@pytest.fixture(scope="module")
def index(client: OpenSearch, engine: Running) -> Iterator[str]:
    name = new_index(client, engine.url, "grouped-errors", 30)
    client.indices.create(index="grouped-errors-unattached")
    yield name
    client.indices.delete(index="grouped-errors,grouped-errors-unattached,winnow.grouped-errors.settings")


def reason(answer: Answer) -> str:
    """Return the reason of an error that has the form of the engine's."""
    content = answer.json()
    (cause,) = content["error"]["root_cause"]
    assert (answer.status, content["status"], cause["type"]) == (400, 400, "illegal_argument_exception")
    assert content["error"] == {"root_cause": [cause], **cause}
    return answer.reason


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/grouped-missing/_search", {"query": MILL}),
        ("/grouped-errors/_search", {"query": {"matches": {"title": "mill"}}}),
        ("/grouped-errors/_search", {"query": MILL, "sort": "nothing"}),
        ("/grouped-errors/_search", {"query": MILL, "aggs": {"n": {"maximum": {"field": "n"}}}}),
        ("/grouped-errors/_search", {"query": MILL, "unknown": 1}),
        ("/grouped-errors/_search", b'{"query": {"match_all": {}}'),
        ("/grouped-errors/_search", b"[]"),
        ("/grouped-errors/_search?unknown=1", {"query": MILL}),
    ],
)
@pytest.mark.usefixtures("index")
def test_errors_are_those_of_the_engine(gateway: str, engine: Running, path: str, body: Any) -> None:
    expected = ask(engine.url, "POST", path, body)
    answer = ask(gateway, "POST", f"{path}{'&' if '?' in path else '?'}winnow=group", body)
    assert answer.status == expected.status >= 400
    assert answer.json() == expected.json()


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/grouped-errors-unattached/_search?winnow=group", {}, "run `winnow attach`"),
        ("/grouped-errors,grouped-errors-unattached/_search?winnow=group", {}, "^grouped-errors-unattached is not"),
        ("/_search?winnow=group", {}, "name it in the path"),
        ("/grouped-errors/_search?winnow=yes", {}, "write winnow=group"),
        ("/grouped-errors/_search?winnow=group&scroll=1m", {}, "a search with scroll"),
        ("/grouped-errors/_search?winnow=group&from=9999&size=2", {}, r"\[10000\] groups but was \[10001\]"),
        ("/grouped-errors/_search", {**GROUPED, "collapse": {"field": "n"}}, "a search with collapse"),
        ("/grouped-errors/_search", {"ext": {"winnow": {"fold": True}}}, "no option fold"),
    ],
)
@pytest.mark.usefixtures("index")
def test_what_cannot_be_grouped_is_refused_in_the_form_of_the_engine(
    gateway: str, path: str, body: dict[str, Any], said: str
) -> None:
    assert re.search(said, reason(ask(gateway, "GET", path, body)))


def test_several_indices_may_be_listed_or_left_out(gateway: str, index: str) -> None:
    for path in (f"/{index},{index}", "/grouped-e*s", "/grouped-errors*,-grouped-errors-unattached"):
        assert (path, ask(gateway, "GET", f"{path}/_search?winnow=group").status) == (path, 200)


def test_a_part_of_the_answer(gateway: str, index: str) -> None:
    path = f"/{index}/_search?winnow=group&size=2&filter_path="
    whole = ask(gateway, "POST", path, {"query": MILL}).json()
    sources = [{"_source": hit["_source"]} for hit in whole["hits"]["hits"]]
    assert ask(gateway, "POST", f"{path}hits.hits._source", {"query": MILL}).json() == {"hits": {"hits": sources}}
    lines = bulk_lines({}, GROUPED, {}, {"query": MILL})
    answer = ask(gateway, "POST", f"/{index}/_msearch?filter_path=responses.hits.total.value", lines)
    assert answer.json() == {"responses": [{"hits": {"total": {"value": 30}}}] * 2}


def test_a_body_with_gzip_is_read_and_one_of_another_kind_is_refused(gateway: str, index: str) -> None:
    path = f"/{index}/_search?winnow=group"
    zipped = gzip.compress(msgspec.json.encode({"query": MILL, "size": 3}))
    answer = ask(gateway, "POST", path, zipped, content_encoding="gzip")
    assert len(answer.json()["hits"]["hits"]) == 3
    assert "JSON" in reason(ask(gateway, "POST", path, b"---\nsize: 3", content_type="application/yaml"))


def test_searches_without_winnow_pass_as_they_are(gateway: str, engine: Running, index: str) -> None:
    for body in ({"query": MILL, "size": 3}, {"query": {"match": {"title": '"winnow"'}}}):
        for path in (f"/{index}/_search", f"/{index}/_search?typed_keys=true"):
            answers = [ask(url, "POST", path, body) for url in (gateway, engine.url)]
            one, other = ({**each.json(), "took": 0} for each in answers)
            assert one == other
    refused = {"query": MILL, "ext": {"winnow": {"group": False}}, "size": 2}
    assert len(ask(gateway, "POST", f"/{index}/_search", refused).json()["hits"]["hits"]) == 2


def test_no_more_hits_are_examined_than_engines_page_through(
    gateway: str, client: OpenSearch, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_searches, "MAX_EXAMINED", 20)
    path = f"/{index}/_search?winnow=group&winnow_examine=5"
    content = ask(gateway, "POST", f"{path}&size=20", {"query": MILL}).json()
    groups = content["ext"]["winnow"]["groups"]
    found = [id_ for id_, _ in in_groups(client, index, {"query": MILL})]
    assert content["ext"]["winnow"]["examined"] == 20
    assert groups == {"value": len(content["hits"]["hits"]), "relation": "gte"}
    assert groups["value"] < 18
    assert [hit["_id"] for hit in content["hits"]["hits"]] == found[: groups["value"]]
    beyond = f"&from={groups['value'] + 1}&size=1"
    said = rf"the first \[20\] hits are \[{groups['value']}\] groups, but from was \[{groups['value'] + 1}\]"
    assert re.search(said, reason(ask(gateway, "POST", path + beyond, {"query": MILL})))


def test_several_searches_at_once(gateway: str, client: OpenSearch, index: str) -> None:
    lines = [
        *({"index": index, "preference": "_local"}, {**GROUPED, "size": 4}),
        *({}, {"query": MILL, "size": 3}),
        *({"index": ["grouped-missing"], "ignore_unavailable": False}, GROUPED),
        *({"index": "grouped-errors-unattached"}, GROUPED),
    ]
    answer = ask(gateway, "POST", f"/{index}/_msearch", bulk_lines(*lines), content_type="application/x-ndjson")
    responses = answer.json()["responses"]
    grouped, plain, missing, unattached = responses
    assert [each["status"] for each in responses] == [200, 200, 404, 400]
    expected = [id_ for id_, _ in in_groups(client, index, {"query": MILL})][:4]
    assert [hit["_id"] for hit in grouped["hits"]["hits"]] == expected
    assert len(plain["hits"]["hits"]) == 3
    assert "ext" not in plain
    assert missing["error"]["type"] == "index_not_found_exception"
    assert "winnow attach" in unattached["error"]["reason"]
    path = f"/{index}/_msearch?winnow=group&rest_total_hits_as_int=true"
    all_of_them = ask(gateway, "POST", path, bulk_lines(*lines[:4])).json()["responses"]
    assert [(len(each["hits"]["hits"]), each["hits"]["total"]) for each in all_of_them] == [(4, 30), (3, 30)]
    assert all("winnow" in each["ext"] for each in all_of_them)


def test_a_malformed_body_of_several_searches_is_for_the_engine_to_refuse(gateway: str, engine: Running) -> None:
    for body in (b"{}\n", b"{}\n{\n"):
        answer = ask(gateway, "POST", "/_msearch?winnow=group", body)
        expected = ask(engine.url, "POST", "/_msearch", body)
        assert (answer.status, answer.json()) == (expected.status, expected.json())


def test_a_hit_that_is_deleted_while_it_is_searched_for(client: OpenSearch, engine: Running) -> None:
    """The search is repeated: no group vanishes with the hit that was to be shown for it."""
    index = new_index(client, engine.url, "grouped-deleted", 30)
    body = {"query": MILL}
    deleted, members = next(each for each in in_groups(client, index, body) if each[1])
    bodies: list[Any] = []

    async def search() -> EngineAnswer:
        async with EngineConnection(Address.of_engine(engine.url)) as connection:
            attached = AttachedIndices()

            async def send(method: str, path: str, sent: Any) -> EngineAnswer:
                bodies.append(sent)
                if isinstance(sent, dict) and "docvalue_fields" not in sent and len(bodies) < 4:
                    client.delete(index=index, id=deleted, params={"refresh": "true"}, ignore=[404])
                return await connection.answer(method, path, CIMultiDict(), sent)

            async def find(name: str) -> Any:
                return await attached.find(name, connection.send)

            query = {"winnow": "group", "size": "100"}
            return await grouped_search(f"/{index}/_search", query, msgspec.json.encode(body), find, send)

    answer = asyncio.run(search())
    shown = [hit["_id"] for hit in answer.json()["hits"]["hits"]]
    assert shown == [id_ for id_, _ in in_groups(client, index, body)]
    assert deleted not in shown
    assert set(members) & set(shown)
    client.indices.delete(index=f"{index},winnow.{index}.settings")
