"""Documents that are written through the gateway have winnow's fields at once."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from opensearch_winnow import Scheme
from opensearch_winnow.stores.opensearch.own_index.attach import stale
from tests.engine_fixture import needs_modules
from tests.gateway.checked_stamps import fits, maker_of
from tests.gateway.raw_requests import Answer
from tests.gateway.running_gateway import ask, bulk_lines
from tests.stores.opensearch.own_articles import OwnIndex, article, attach, similar, text


def get(own: OwnIndex, id_: str, **params: str) -> dict[str, Any]:
    found: dict[str, Any] = own.client.get(index=own.name, id=id_, params=params)
    return found


def bulk(gateway: str, *lines: Any, path: str = "/_bulk") -> Answer:
    answer = ask(gateway, "POST", path, bulk_lines(*lines), content_type="application/x-ndjson")
    assert answer.status == 200, answer
    return answer


def test_a_bulk_of_documents_gets_the_fields_that_attaching_would_write(gateway: str, attached: OwnIndex) -> None:
    keys = [{"index": {"_index": attached.name, "_id": str(number)}} for number in range(5)]
    lines = [line for number, key in enumerate(keys) for line in (key, article(number))]
    assert not bulk(gateway, *lines, path="/_bulk?refresh=true").json()["errors"]
    assert all(fits(attached, str(number)) for number in range(5))
    assert stale(attached.client, attached.address) == 0
    assert similar(attached, "0") == ["1", "2"]
    before = attached.sources()
    report = attach(attached.client, attached.address)
    assert (report.done, report.unchanged) == (0, 5)
    assert attached.sources() == before


def test_all_ways_to_write_one_document(gateway: str, attached: OwnIndex) -> None:
    name = attached.name
    ways = {"1": ("PUT", "_doc/1"), "2": ("POST", "_doc/2"), "a/b c": ("PUT", "_create/a%2Fb%20c")}
    for id_, (method, path) in (ways | {"4": ("PUT", "_doc/4?op_type=create")}).items():
        assert (path, ask(gateway, method, f"/{name}/{path}", article(3)).status) == (path, 201)
        assert fits(attached, id_), path
    made = ask(gateway, "POST", f"/{name}/_doc?refresh=true", article(5))
    assert (made.status, made.json()["result"], len(made.json()["_id"])) == (201, "created", 20)
    assert made.headers["location"] == f"/{name}/_doc/{made.json()['_id']}"
    assert fits(attached, made.json()["_id"])
    assert ask(gateway, "PUT", f"/{name}/_doc/1", article(6)).json()["_version"] == 2
    assert fits(attached, "1")
    assert ask(gateway, "PUT", f"/{name}/_create/1", article(7)).status == 409
    assert fits(attached, "1")


def test_a_document_keeps_its_bytes(gateway: str, attached: OwnIndex) -> None:
    sent = b'{ "headline" : "\\u0041 1.0e3",\n"author":["x",  "y"] , "body": "No egg today, said the hen."\n}\n'
    assert ask(gateway, "PUT", f"/{attached.name}/_doc/1", sent).status == 201
    raw = ask(str(attached.address).rpartition("/")[0], "GET", f"/{attached.name}/_source/1").body
    assert raw.startswith(sent.rstrip()[:-1])
    assert fits(attached, "1")


def test_a_document_that_is_written_again_has_the_fields_of_its_new_text(gateway: str, attached: OwnIndex) -> None:
    """Its cluster stays as long as its text does."""

    def written(document: dict[str, Any]) -> dict[str, Any]:
        ask(gateway, "PUT", f"/{attached.name}/_doc/1", document)
        assert fits(attached, "1")
        found: dict[str, Any] = get(attached, "1")["_source"]
        return found

    source = written(article(1))
    changed = written(source | {"body": text("another")})  # with the old fields, as it was read
    assert changed["winnow"]["arrival"] == source["winnow"]["arrival"]
    without_text = written(changed | {"body": ""})
    assert without_text["winnow"]["fingerprints"] == ""
    assert len({each["winnow.cluster"] for each in (source, changed, without_text)}) == 3
    written(article(1))
    attached.change("1", **{"winnow.cluster": "of its copies"})
    same = written(article(1) | {"author": "ben"})
    assert (same["author"], same["winnow.cluster"]) == ("ben", "of its copies")
    assert written(article(7))["winnow.cluster"] != "of its copies"


def test_an_update_gets_new_fields_only_if_it_changes_the_text(gateway: str, attached: OwnIndex) -> None:
    path = f"/{attached.name}/_update/1"
    ask(gateway, "PUT", f"/{attached.name}/_doc/1", article(1))
    same = ask(gateway, "POST", path, {"doc": {"body": article(1)["body"], "author": "ada"}})
    assert same.json()["result"] == "noop"
    assert ask(gateway, "POST", path, {"doc": {"body": text("new")}}).json()["result"] == "updated"
    assert fits(attached, "1")
    assert get(attached, "1")["_source"]["body"] == text("new")
    ask(gateway, "POST", path, {"doc": {"author": "ben"}})
    assert not fits(attached, "1")
    ask(gateway, "POST", path, {"doc": {"body": None}})
    assert fits(attached, "1")
    assert get(attached, "1")["_source"]["winnow"]["fingerprints"] == ""
    attach(attached.client, attached.address)
    assert "winnow" not in maker_of(attached).fields.stored(get(attached, "1")["_source"])


@needs_modules
def test_an_update_may_create_a_document(gateway: str, attached: OwnIndex) -> None:
    name = attached.name
    script = {"source": "ctx._source.author = 'script'"}
    for id_, body in {
        "1": {"doc": article(1), "doc_as_upsert": True},
        "2": {"doc": {"author": "ben"}, "upsert": article(2)},
        "3": {"script": script, "upsert": article(3)},
    }.items():
        assert ask(gateway, "POST", f"/{name}/_update/{id_}", body).json()["result"] == "created"
        assert fits(attached, id_), id_
        assert ask(gateway, "POST", f"/{name}/_update/{id_}", body).status == 200
    body = {"script": {"source": "ctx._source.body += ' More.'"}, "upsert": article(4), "scripted_upsert": True}
    assert ask(gateway, "POST", f"/{name}/_update/4", body).json()["result"] == "created"
    assert [id_ for id_ in "134" if fits(attached, id_)] == ["1"]


def test_the_same_document_several_times_in_a_bulk(gateway: str, attached: OwnIndex) -> None:
    first, twice = {"_index": attached.name, "_id": "1"}, {"_index": attached.name, "_id": "2"}
    bad = {"headline": "x", "body": "A body.", "no such field": 1}
    answer = bulk(
        gateway,
        *({"index": first}, bad, {"index": first}, article(1)),  # the first of them fails
        *({"index": twice}, article(2), {"update": twice}, {"doc": {"body": "Other."}}, {"delete": twice}),
        *({"index": twice}, article(3)),
    )
    assert [next(iter(item.values()))["status"] for item in answer.json()["items"]] == [400, 201, 201, 200, 200, 201]
    for id_ in "12":
        assert not fits(attached, id_)
        assert get(attached, id_)["_source"]["winnow"]["text_digest"]
    attach(attached.client, attached.address)
    assert all(fits(attached, id_) for id_ in "12")


def test_versions_that_the_client_gives(gateway: str, attached: OwnIndex) -> None:
    path = f"/{attached.name}/_doc/1?version_type=external&version="
    assert ask(gateway, "PUT", f"{path}17", article(1)).json()["_version"] == 17
    assert fits(attached, "1")
    external = {"_index": attached.name, "_id": "1", "version": 40, "version_type": "external"}
    bulk(gateway, {"index": external}, article(2))
    assert get(attached, "1")["_version"] == 40
    assert fits(attached, "1")
    assert ask(gateway, "PUT", f"{path}3", article(3)).status == 409
    assert fits(attached, "1")


def test_documents_with_a_routing(gateway: str, attached: OwnIndex) -> None:
    for _ in range(2):
        assert ask(gateway, "PUT", f"/{attached.name}/_doc/1?routing=a", article(1)).status in (200, 201)
        bulk(gateway, {"index": {"_index": attached.name, "_id": "2", "routing": "b"}}, article(2))
    assert fits(attached, "1", routing="a")
    assert fits(attached, "2", routing="b")
    assert get(attached, "2", routing="b")["_version"] == 2


@pytest.mark.check
@needs_modules
def test_a_pipeline_may_change_the_text_so_the_stamp_fits_no_version(
    gateway: str, attached: OwnIndex, shouting: str
) -> None:
    name = attached.name
    ask(gateway, "PUT", f"/{name}/_doc/1?pipeline={shouting}", article(1))
    bulk(gateway, {"index": {"_index": name, "_id": "2", "pipeline": shouting}}, article(2))
    ask(gateway, "PUT", f"/{name}/_settings", {"index.default_pipeline": shouting})
    ask(gateway, "PUT", f"/{name}/_doc/3", article(3))
    ask(gateway, "PUT", f"/{name}/_doc/4?pipeline=_none", article(4))
    for id_ in "123":
        assert get(attached, id_)["_source"]["body"].isupper()
        assert get(attached, id_)["_source"]["winnow"]["stamp"] == Scheme().id
    assert fits(attached, "4")
    ask(gateway, "PUT", f"/{name}/_settings", {"index.final_pipeline": shouting, "index.default_pipeline": "_none"})
    ask(gateway, "PUT", f"/{name}/_doc/4", article(4))
    assert not fits(attached, "4")
    attach(attached.client, attached.address)
    assert all(fits(attached, id_) for id_ in "1234")


def test_a_bulk_with_gzip_is_read_too(gateway: str, attached: OwnIndex) -> None:
    lines = bulk_lines({"index": {"_id": "1"}}, article(1), {"create": {}}, article(2), {"delete": {"_id": "none"}})
    zipped = gzip.compress(lines[:50]) + gzip.compress(lines[50:])
    answer = ask(gateway, "PUT", f"/{attached.name}/_bulk", zipped, content_encoding="gzip")
    items = answer.json()["items"]
    assert [next(iter(item)) for item in items] == ["index", "create", "delete"]
    assert fits(attached, "1")
    assert fits(attached, items[1]["create"]["_id"])


def test_a_bulk_to_several_indices_touches_the_attached_one_only(
    gateway: str, plain: OwnIndex, attached: OwnIndex
) -> None:
    bulk(
        gateway,
        *(line for own in (plain, attached) for line in ({"index": {"_index": own.name, "_id": "1"}}, article(1))),
    )
    assert get(plain, "1")["_source"] == article(1)
    assert fits(attached, "1")


def test_pictures_and_flashes_are_hits_of_their_own(gateway: str, attached: OwnIndex) -> None:
    documents = {
        **{f"picture {number}": {"headline": f"Picture {number}"} for number in range(3)},
        **{f"flash {number}": {"headline": f"Flash {number}", "body": "Goal!"} for number in range(3)},
        "story": article(0),
    }
    lines = [line for id_, each in documents.items() for line in ({"create": {"_id": id_}}, each)]
    bulk(gateway, *lines, path=f"/{attached.name}/_bulk?refresh=true")
    assert all(fits(attached, id_) for id_ in documents)

    def grouped() -> tuple[int, int, int]:
        about = ask(gateway, "POST", f"/{attached.name}/_search?winnow=group", {"size": 20}).json()["ext"]["winnow"]
        return about["groups"]["value"], about["without_fields"], about["stale"]

    collapsed = {"size": 20, "collapse": {"field": "winnow.cluster"}}
    hits = ask(gateway, "POST", f"/{attached.name}/_search", collapsed).json()["hits"]["hits"]
    assert len(hits) == len(documents)
    assert grouped() == (len(documents), 0, 0)
    attached.change("picture 0", body=article(0)["body"])  # past the gateway, a picture becomes a copy of the story
    assert grouped() == (len(documents) - 1, 0, 1)
