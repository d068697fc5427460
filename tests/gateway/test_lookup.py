"""The gateway finds out which names belong to attached indices, and which of their documents can get fields."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.own_index.attach import detach
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.gateway.checked_stamps import fits, has_fitting_stamp, maker_of
from tests.gateway.raw_requests import Answer
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
from tests.stores.opensearch.gateway import Answer as Stand, Arrived, Gateway as Front
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, article, attach, plan


def source(own: OwnIndex, id_: str) -> dict[str, Any]:
    found: dict[str, Any] = own.client.get(index=own.name, id=id_)["_source"]
    return found


def put(gateway: str, name: str, id_: str) -> Answer:
    answer = ask(gateway, "PUT", f"/{name}/_doc/{id_}", article(1))
    assert answer.status in (200, 201), answer
    return answer


def change_meta(own: OwnIndex, **changes: Any) -> None:
    meta = own.client.indices.get_mapping(index=own.name)[own.name]["mappings"]["_meta"]
    meta["winnow"] |= changes
    own.client.indices.put_mapping(index=own.name, body={"_meta": meta})


def test_an_alias_writes_to_its_write_index(gateway: str, engine: Running, attached: OwnIndex, plain: OwnIndex) -> None:
    alias, put_alias = f"{attached.name}-alias", attached.client.indices.put_alias
    put_alias(index=attached.name, name=alias)
    put(gateway, alias, "1")
    assert fits(attached, "1")
    put_alias(index=attached.name, name=alias, body={"is_write_index": False})
    put_alias(index=plain.name, name=alias, body={"is_write_index": True})
    ask(gateway, "POST", "/_aliases", {"actions": []})  # the gateway asks again
    put(gateway, alias, "2")
    assert fits(plain, "2")  # a new index, to which the gateway has added the mapping of winnow's fields
    whole = Address.of(f"{engine.url}/{alias}")
    assert plan(attached.client, whole).steps[-1].outcome == "there"
    assert attach(attached.client, whole).unchanged == 2


@pytest.mark.check
def test_a_data_stream_writes_to_its_newest_index(gateway: str, engine: Running, client: OpenSearch) -> None:
    name = f"stream-of-{os.getpid()}"
    mappings = {"properties": {"@timestamp": {"type": "date"}, "body": {"type": "text"}}}
    template = {"index_patterns": [name], "data_stream": {}, "template": {"mappings": mappings}}
    ask(gateway, "PUT", f"/_index_template/{name}", template)
    ask(gateway, "PUT", f"/_data_stream/{name}")
    try:
        stream = OwnIndex(engine.url, name, client)
        fields = AttachedFields(text=("body",), time="@timestamp")
        attach(client, stream.address, fields)
        for number in range(2):
            document = {"@timestamp": "2026-11-18T01:02:03Z", "body": f"No egg today, {number}."}
            lines = bulk_lines({"create": {"_index": name}}, document)
            (item,) = ask(gateway, "POST", "/_bulk", lines).json()["items"]
            one = ask(gateway, "POST", f"/{name}/_doc", document).json()
            for made in (item["create"], one):
                assert made["_index"].endswith(f"-00000{number + 1}")
                written = client.get(index=made["_index"], id=made["_id"])
                assert has_fitting_stamp(maker_of(stream, fields), written)
            ask(gateway, "POST", f"/{name}/_rollover")
            attach(client, stream.address)
            ask(gateway, "POST", "/_aliases", {"actions": []})
    finally:
        ask(gateway, "DELETE", f"/_data_stream/{name}")
        ask(gateway, "DELETE", f"/_index_template/{name}")
        client.indices.delete(index=f"winnow.{name}.settings", params={"ignore_unavailable": "true"})


@pytest.mark.check
def test_an_index_that_is_attached_or_detached_meanwhile(gateway: str, plain: OwnIndex) -> None:
    put(gateway, plain.name, "1")
    assert source(plain, "1") == article(1)
    attach(plain.client, plain.address, FIELDS)
    ask(gateway, "POST", "/_aliases", {"actions": []})
    put(gateway, plain.name, "1")
    assert fits(plain, "1")
    detach(plain.client, plain.address)
    ask(gateway, "POST", "/_aliases", {"actions": []})
    put(gateway, plain.name, "1")
    assert source(plain, "1") == article(1)


def test_an_index_of_another_scheme_gets_no_fields_and_the_client_a_warning(gateway: str, attached: OwnIndex) -> None:
    change_meta(attached, scheme_id="another")
    answer = put(gateway, attached.name, "1")
    said = f'299 winnow "no fields for 1 document of {attached.name}: scheme another belongs to'
    assert answer.headers["warning"].startswith(said)
    assert source(attached, "1") == article(1)
    lines = bulk_lines({"index": {"_index": attached.name, "_id": "2"}}, article(2))
    assert ask(gateway, "POST", "/_bulk", lines).headers["warning"] == answer.headers["warning"]
    change_meta(attached, attached=99)
    ask(gateway, "POST", "/_aliases", {"actions": []})
    assert "another version of winnow" in put(gateway, attached.name, "1").headers["warning"]


def test_the_key_of_a_scheme_is_no_obstacle_to_other_indices(
    engine: Running, plain: OwnIndex, attached: OwnIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attach(plain.client, plain.address, FIELDS, Scheme(key="a secret"))
    with running_gateway(engine.url) as gateway:
        assert "has a secret key: name the file" in put(gateway, plain.name, "1").headers["warning"]
    assert source(plain, "1") == article(1)
    (tmp_path / "key").write_text("a secret\n")
    monkeypatch.setenv("WINNOW_KEY_FILE", str(tmp_path / "key"))
    with running_gateway(engine.url) as keyed:
        assert "warning" not in put(keyed, plain.name, "1").headers
        put(keyed, attached.name, "1")
    maker = maker_of(plain)
    maker.scheme = Scheme(key="a secret")
    assert has_fitting_stamp(maker, plain.client.get(index=plain.name, id="1"))
    assert fits(attached, "1")


def test_what_the_gateway_cannot_read_passes_with_a_warning(gateway: str, attached: OwnIndex) -> None:
    cbor = b"\xbfhheadlinedCBORdbodygNo egg.\xff"  # a map without a length
    answer = ask(gateway, "PUT", f"/{attached.name}/_doc/1", cbor, content_type="application/cbor")
    assert (answer.status, "JSON and NDJSON only" in answer.headers["warning"]) == (201, True)
    assert source(attached, "1") == {"headline": "CBOR", "body": "No egg."}
    assert ask(gateway, "PUT", f"/{attached.name}/_doc/2", b"no gzip", content_encoding="gzip").status >= 400


def test_a_large_request_passes_without_fields(engine: Running, attached: OwnIndex) -> None:
    small = len(bulk_lines({"index": {"_id": "1"}}, article(1)))
    lines = bulk_lines(*({"index": {"_id": "1"}}, article(1)) * 3)
    with running_gateway(engine.url, max_body=3 * small + 10) as gateway:
        answer = ask(gateway, "POST", f"/{attached.name}/_bulk", lines)
        assert "with fields, the request would be larger" in answer.headers["warning"]
        answer = ask(gateway, "POST", f"/{attached.name}/_bulk", lines * 2)
        assert "larger than --max-body" in answer.headers["warning"]
        assert (answer.json()["errors"], len(answer.json()["items"])) == (False, 6)
    assert source(attached, "1") == article(1)


def test_the_gateway_tells_what_it_has_done(engine: Running, attached: OwnIndex) -> None:
    name = attached.name
    with running_gateway(engine.url, max_body=20_000) as gateway:

        def counts() -> list[int]:
            about = ask(gateway, "GET", "/_winnow").json()
            assert list(about) == ["documents", "without_fields", "unread", "passed"]  # and no name of an index
            return list(about.values())

        put(gateway, name, "1")
        ask(gateway, "PUT", f"/{name}/_doc/2", {"headline": "A picture"})
        ask(gateway, "GET", "/")
        assert counts() == [2, 0, 0, 3]
        assert ask(gateway, "PUT", f"/{name}/_create/1", article(1)).status == 409
        assert ask(gateway, "PUT", f"/{name}/_doc/3", b'{"body": "no end').status == 400
        assert counts() == [2, 0, 0, 5]  # the engine has refused both
        large = ask(gateway, "PUT", f"/{name}/_doc/3", {"body": "egg " * 10_000})
        assert (large.status, "--max-body" in large.headers["warning"]) == (201, True)
        assert ask(gateway, "POST", "/_bulk", b"no cbor", content_type="application/cbor").status >= 400
        assert counts() == [2, 0, 1, 7]
        words = " ".join(f"word{number}" for number in range(2_000))  # with its fields, it is too large
        lines = bulk_lines({"index": {"_index": name, "_id": "4"}}, {"body": words}, {"delete": {"_id": "x"}})
        answer = ask(gateway, "POST", f"/{name}/_bulk", lines)
        assert "with fields, the request would be larger" in answer.headers["warning"]
        assert counts() == [2, 1, 1, 8]


def test_each_reason_is_logged_once_and_none_if_the_request_itself_fails(
    engine: Running, attached: OwnIndex, caplog: pytest.LogCaptureFixture
) -> None:
    name, down = attached.name, [False]

    def fails(arrived: Arrived) -> Stand | None:
        return Stand(503, b'{"status": 503}') if down[0] or arrived.path == "/_mget" else None

    with Front(engine.url, fails) as front, running_gateway(front.url) as gateway:
        put(gateway, name, "1")
        caplog.clear()
        down[0] = True
        for number in range(3):
            answer = ask(gateway, "PUT", f"/{name}/_doc/{number}", article(1))
            assert (answer.status, "warning" in answer.headers) == (503, False)
        assert caplog.messages == []
        down[0] = False
        for number in range(3):
            ask(gateway, "PUT", f"/{name}/_doc/{number}", b"\xa0", content_type="application/cbor")
            put(gateway, name, str(number))
    with running_gateway(f"http://127.0.0.1:{free_port()}") as gateway:
        for number in range(3):
            assert ask(gateway, "PUT", f"/{name}/_doc/{number}", article(1)).status == 502
            assert ask(gateway, "POST", f"/{name}/_bulk", bulk_lines({"index": {}}, article(1))).status == 502
    (said,) = caplog.messages
    assert said.startswith(f"no fields for documents of {name}: the gateway reads JSON and NDJSON only")
