"""Another index takes the place of an attached one past the gateway: no document is refused, and no mapping spoiled."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from itertools import count, product
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.mappings.attached_fields import WINNOW_FIELDS
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.gateway.checked_stamps import fits
from tests.gateway.raw_requests import Answer
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
from tests.stores.opensearch.gateway import Answer as Stand, Arrived, Gateway as Front
from tests.stores.opensearch.own_articles import ARTICLES, FIELDS, OwnIndex, article, attach

NO_REPLICAS = {"number_of_shards": 1, "number_of_replicas": 0}
TEXTS = {"type": "keyword"}
MAPPINGS: dict[str, dict[str, Any]] = {
    "strict": ARTICLES,
    "dynamic": ARTICLES | {"dynamic": True},
    "ignoring": ARTICLES | {"dynamic": False},
    "keywords": ARTICLES | {"dynamic": True, "dynamic_templates": [{"all": {"match": "*", "mapping": TEXTS}}]},
}
NUMBERS = count()
CHANGES = ("rollover", "switch", "anew")


@pytest.fixture(autouse=True)
def _remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let look-ups count for long, so that they are outdated even where the engine is slow."""
    monkeypatch.setattr("opensearch_winnow.gateway.attached.NOTICED_SECONDS", 600.0)


class Series:
    """Indices behind an alias, of which the first is attached."""

    def __init__(self, engine: str, client: OpenSearch, mapping: dict[str, Any]) -> None:
        self.engine, self.client, self.mapping = engine, client, mapping
        self.alias = f"series-{os.getpid()}-{next(NUMBERS)}"
        self.first, self.second = f"{self.alias}-000001", f"{self.alias}-000002"
        self._create(self.first, {self.alias: {"is_write_index": True}})
        attach(client, Address.of(f"{engine}/{self.alias}"), FIELDS)

    def _create(self, name: str, aliases: dict[str, Any]) -> None:
        body = {"settings": NO_REPLICAS, "mappings": self.mapping, "aliases": aliases}
        self.client.indices.create(index=name, body=body)

    def change(self, kind: str) -> str:
        """Put another index in the place of the first, past the gateway, and return its name."""
        match kind:
            case "rollover":
                body = {"settings": NO_REPLICAS, "mappings": self.mapping}
                self.client.indices.rollover(alias=self.alias, new_index=self.second, body=body)
                return self.second
            case "switch":
                self._create(self.second, {})
                places = {"remove": self.first, "add": self.second}
                actions = [{how: {"index": index, "alias": self.alias}} for how, index in places.items()]
                self.client.indices.update_aliases(body={"actions": actions})
                return self.second
        self.client.indices.delete(index=self.first)
        self._create(self.first, {self.alias: {"is_write_index": True}})
        return self.first

    def types(self, index: str) -> dict[str, str]:
        mapping = self.client.indices.get_mapping(index=index)[index]["mappings"]
        fields = mapping["properties"].get("winnow", {}).get("properties", {})
        return {name: each["type"] for name, each in fields.items()}

    def fits(self, index: str, id_: str) -> bool:
        return fits(OwnIndex(self.engine, index, self.client), id_)

    def source(self, index: str, id_: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(index=index, id=id_)["_source"]
        return found

    def delete(self) -> None:
        names = f"{self.first},{self.second},winnow.{self.alias}.settings"
        self.client.indices.delete(index=names, params={"ignore_unavailable": "true"})


Make = Callable[[str], Series]


@pytest.fixture
def series(engine: Running, client: OpenSearch) -> Iterator[Make]:
    made: list[Series] = []

    def make(mapping: str) -> Series:
        made.append(Series(engine.url, client, MAPPINGS[mapping]))
        return made[-1]

    yield make
    for each in made:
        each.delete()


def put(gateway: str, name: str, id_: str, query: str = "") -> Answer:
    answer = ask(gateway, "PUT", f"/{name}/_doc/{id_}?{query}", article(1))
    assert answer.status == 201, answer
    return answer


def put_bulk(gateway: str, name: str, ids: str, query: str = "") -> Answer:
    lines = [line for id_ in ids for line in ({"index": {"_index": name, "_id": id_}}, article(int(id_)))]
    answer = ask(gateway, "POST", f"/_bulk?{query}", bulk_lines(*lines))
    assert answer.status == 200, answer
    return answer


def counts(gateway: str) -> tuple[int, int]:
    about = ask(gateway, "GET", "/_winnow").json()
    return about["documents"], about["without_fields"]


WAYS: dict[str, Callable[[str, str], Answer]] = {
    "one": lambda gateway, name: put(gateway, name, "1"),
    "one, filtered": lambda gateway, name: put(gateway, name, "1", "filter_path=result"),
    "bulk": lambda gateway, name: put_bulk(gateway, name, "12"),
    "bulk, filtered": lambda gateway, name: put_bulk(gateway, name, "1", "filter_path=errors,items.*.error"),
}
QUICK = [("strict", "rollover", "bulk"), ("dynamic", "switch", "one"), ("dynamic", "anew", "bulk, filtered")]
OTHERS = [
    pytest.param(*each, marks=pytest.mark.check) for each in product(MAPPINGS, CHANGES, WAYS) if each not in QUICK
]


@pytest.mark.parametrize(("mapping", "change", "way"), [*QUICK, *OTHERS])
def test_no_document_is_refused_and_no_mapping_spoiled(
    engine: Running, series: Make, mapping: str, change: str, way: str
) -> None:
    made = series(mapping)
    with running_gateway(engine.url) as gateway:
        put(gateway, made.alias, "0")
        assert made.fits(made.first, "0")
        index = made.change(change)
        answer = WAYS[way](gateway, made.alias).json()
        if way.endswith("filtered"):
            assert answer == ({"result": "created"} if way.startswith("one") else {"errors": False})
        elif way == "bulk":
            assert [item["index"]["status"] for item in answer["items"]] == [201, 201]
            assert (answer["errors"], {item["index"]["_index"] for item in answer["items"]}) == (False, {index})
        is_attached = change == "rollover"  # an alias of two indices, one of which is attached
        if mapping != "ignoring":
            assert made.types(index) == ({n: f["type"] for n, f in WINNOW_FIELDS.items()} if is_attached else {})
            assert made.fits(index, "1") == is_attached
            assert counts(gateway)[1] == 0
            if not is_attached:
                assert made.source(index, "1") == article(1)
        elif change != "anew":  # what the engine ignored, nobody can tell by the name of an index that is the same
            assert made.types(index) == {}
            assert counts(gateway) == (1, 2 if way == "bulk" else 1)
        put(gateway, made.alias, "7")
        if change != "anew":
            assert made.fits(index, "7") == is_attached


@pytest.mark.check
@pytest.mark.parametrize("change", ["rollover", "anew"])
def test_fields_for_another_index_that_is_attached_too_do_not_fit(engine: Running, series: Make, change: str) -> None:
    """The engine accepts them, and only the stamp, which has the id of the index, says that they are of another one."""
    made = series("strict")
    with running_gateway(engine.url) as gateway:
        put(gateway, made.alias, "0")
        made.mapping = made.client.indices.get_mapping(index=made.first)[made.first]["mappings"]  # as a template has it
        index = made.change(change)
        put(gateway, made.alias, "1")
        assert "winnow" in made.source(index, "1")
        assert not made.fits(index, "1")
        assert counts(gateway) == (2, 0)
        if change == "rollover":  # whose name has told the gateway
            put(gateway, made.alias, "2")
            assert made.fits(index, "2")


@pytest.mark.check
def test_only_what_was_rejected_is_repeated(engine: Running, series: Make, attached: OwnIndex) -> None:
    made = series("strict")
    with Front(engine.url) as front, running_gateway(front.url) as gateway:
        put(gateway, made.alias, "0")
        made.change("anew")
        key, other = {"_index": made.alias, "_id": "1"}, {"_index": attached.name, "_id": "1"}
        lines = bulk_lines(
            *({"index": other}, article(1), {"index": key}, article(1), {"delete": other | {"_id": "x"}}),
            *({"update": key}, {"doc": {"author": "ben"}}, {"index": other}, {"no such field": 1}),
            *({"create": {"_index": made.alias}}, article(2)),
        )
        answer = ask(gateway, "POST", "/_bulk", lines).json()
        items = [(kind, each) for item in answer["items"] for kind, each in item.items()]
    bulks = [arrived.body for arrived in front.arrived if arrived.path.startswith("/_bulk")]
    assert " ".join(f"{kind} {each['status']}" for kind, each in items) == (
        "index 201 index 201 delete 404 update 200 index 400 create 201"
    )
    assert answer["errors"]
    assert "[no such field]" in items[4][1]["error"]["reason"]
    assert made.source(made.first, "1") == article(1) | {"author": "ben"}
    assert [body.count(b"\n") for body in bulks] == [11, 8]
    assert bulks[1].count(b"no such field") == 1
    assert attached.client.get(index=attached.name, id="1")["_version"] == 1


def test_an_index_that_may_not_get_the_mapping_is_written_without_fields(
    engine: Running, series: Make, caplog: pytest.LogCaptureFixture
) -> None:
    made = series("strict")
    refused: list[str] = []

    def check(arrived: Arrived) -> Stand | None:
        if arrived.path.endswith("/_mapping"):
            refused.append(arrived.path)
            reason = f"index [{index}] blocked by: [FORBIDDEN/9/index metadata (api)];"
            error = {"type": "cluster_block_exception", "reason": reason}
            return Stand(403, json.dumps({"error": error, "status": 403}).encode())
        return None

    with Front(engine.url, check) as front, running_gateway(front.url) as gateway:
        put(gateway, made.alias, "0")
        index = made.change("rollover")
        said = (
            f"of {made.alias}: the engine refuses winnow's fields (mend this, then run `winnow attach --update`): the"
            f" engine says: index [{made.alias}] blocked by: [FORBIDDEN/9/"  # not by the name behind the alias
        )
        several, one = put_bulk(gateway, made.alias, "123"), put(gateway, made.alias, "4")
        assert not several.json()["errors"]
        assert several.headers["warning"].startswith(f'299 winnow "no fields for 3 documents {said}')
        assert one.headers["warning"].startswith(f'299 winnow "no fields for 1 document {said}')
        assert refused == [f"/{index}/_mapping"]
        assert counts(gateway) == (1, 4)
    told = f"no fields for documents {said}index metadata (api)]; (status 403)"
    assert [each.getMessage() for each in caplog.records if each.name == "winnow.gateway"] == [told]
    assert made.source(index, "1") == article(1)


@pytest.mark.check
def test_a_request_that_is_too_large_for_the_engine_with_fields_passes_without(
    engine: Running, attached: OwnIndex
) -> None:
    largest = 2 * len(bulk_lines(article(1)))

    def check(arrived: Arrived) -> Stand | None:
        is_write = arrived.path != "/_mget" and arrived.method != "GET"
        return Stand(413) if is_write and len(arrived.body) > largest else None

    with Front(engine.url, check) as front, running_gateway(front.url) as gateway:
        for answer in (put(gateway, attached.name, "1"), put_bulk(gateway, attached.name, "2")):
            assert "with fields, the request is larger than the engine accepts" in answer.headers["warning"]
        assert counts(gateway) == (0, 2)
        large = {"body": "egg " * largest}
        assert ask(gateway, "PUT", f"/{attached.name}/_doc/3", large).status == 413
    assert attached.client.get(index=attached.name, id="2")["_source"] == article(2)


@pytest.mark.check
@pytest.mark.parametrize("status", [429, 503])
def test_what_cannot_be_repeated_fails_with_the_reason_of_that(engine: Running, series: Make, status: int) -> None:
    made = series("strict")
    bulks: list[bytes] = []

    def check(arrived: Arrived) -> Stand | None:
        if "/_bulk" not in arrived.path:
            return None
        bulks.append(arrived.body)
        return Stand(status, b'{"error": {"type": "busy"}, "status": 1}') if len(bulks) == 2 else None

    with Front(engine.url, check) as front, running_gateway(front.url) as gateway:
        put(gateway, made.alias, "0")
        made.change("anew")
        lines = bulk_lines({"index": {"_id": "1"}}, article(1))
        answer = ask(gateway, "POST", f"/{made.alias}/_bulk", lines).json()
        (item,) = (each["index"] for each in answer["items"])
        assert (answer["errors"], item["status"], item["error"]["type"]) == (True, status, "busy")
        assert (item["_index"], item["_id"]) == (made.first, "1")
        assert put_bulk(gateway, made.alias, "1").json()["items"][0]["index"]["status"] == 201


@pytest.mark.check
def test_an_answer_that_the_gateway_cannot_read_goes_with_documents_without_fields(
    gateway: str, attached: OwnIndex
) -> None:
    for number, accept in enumerate(("application/yaml", "*/*")):
        answer = ask(gateway, "PUT", f"/{attached.name}/_doc/{number}", article(1), accept=accept)
        assert answer.status == 201
        assert ("in another form than JSON" in answer.headers.get("warning", "")) == (number == 0)
        assert ("winnow" in attached.client.get(index=attached.name, id=str(number))["_source"]) == (number == 1)
