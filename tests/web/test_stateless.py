"""Fields and comparisons for programs of any language: computed from what is sent, and nothing is kept."""

from __future__ import annotations

import gzip
import http.client
import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import msgspec
import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from opensearch_winnow import Scheme, compare
from opensearch_winnow.clients import winnow_fields
from opensearch_winnow.foundation.cancellation import CancelledError, cancelled_by
from opensearch_winnow.stores.store import StoreError
from opensearch_winnow.web import app
from opensearch_winnow.web.app import API, make_stateless_app
from opensearch_winnow.web.form import MAX_BODY_BYTES
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.own_index import fields, sent_texts
from opensearch_winnow.web.sent_json import BODY, CONTENT_TYPE, MAX_BATCH, PACKING, members
from opensearch_winnow.web.served import OnlyScheme
from opensearch_winnow.web.serving import batch
from opensearch_winnow.web.serving.batch import PIECE_BYTES
from tests.meaningless_text import sentences
from tests.web.known_crawl_fixture import MILL, MIRROR
from tests.web.served_fixture import Asking, Reply, Served, connected, head, serving_app, serving_stateless

TEXT, OTHER = sentences(200, 1), f"{sentences(200, 2)} {sentences(200, 1)}"


@pytest.fixture(scope="module")
def stateless() -> Iterator[Served]:
    with serving_stateless() as found:
        yield found


@pytest.fixture(scope="module", params=["store", "stateless"])
def computing(request: pytest.FixtureRequest) -> Served:
    """A server with a store, and one without."""
    found: Served = request.getfixturevalue("served_file" if request.param == "store" else "stateless")
    return found


def post(served: Asking, path: str, value: Any, **headers: str) -> Reply:
    return served.post(f"{API}{path}", value, **headers)


def post_lines(served: Asking, path: str, lines: bytes, **headers: str) -> tuple[Reply, list[Any]]:
    reply = served.send(f"{API}{path}", lines, **{"content_type": "application/x-ndjson", **headers})
    return reply, [json.loads(line) for line in reply.text.splitlines()]


def check(served: Served, path: str, document: Any) -> None:
    """Validate an answer against the OpenAPI document of the server."""
    described = served.json(f"{API}/openapi.json")
    schema = described["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    Draft202012Validator(schema | {"components": described["components"]}).validate(document)


def test_fields_of_a_text(computing: Served) -> None:
    reply = post(computing, "/fields", {"text": TEXT})
    assert reply.json == {"scheme": Scheme().id, "fields": {"stamp": Scheme().id, **winnow_fields(TEXT)}}
    check(computing, "/fields", reply.json)
    html = f"<title>x</title><p>{TEXT}</p>"
    made = post(computing, "/fields", {"html": html, "url": "https://a.example/b", "id": 7}).json["fields"]
    assert made["text_digest"] == reply.json["fields"]["text_digest"]
    assert (made["url"], made["site"], made["cluster"]) == ("https://a.example/b", "a.example", "7")


def test_fields_of_many(computing: Served) -> None:
    sent = [{"text": TEXT, "id": "1"}, {"text": " ", "id": "3"}, {"html": "<p></p>"}, {"id": "2"}]
    reply = post(computing, "/fields", {"documents": sent})
    check(computing, "/fields", reply.json)
    made = reply.json["documents"]
    assert [each.get("fields", {}).get("cluster") for each in made] == ["1", "3", None, None]
    assert [each.get("error") for each in made] == [*[None] * 3, "There is no text: send text or html."]
    assert made[1]["fields"]["fingerprints"] == made[2]["fields"]["minhash"] == ""  # a picture, for example

    lines = "\n".join([*map(json.dumps, sent), "nonsense", '{"txet": ""}', ""])
    kind = "application/x-ndjson; charset=utf-8"
    reply, answers = post_lines(computing, "/fields", lines.encode(), content_type=kind)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/x-ndjson")
    assert answers[:4] == [{"scheme": Scheme().id, **each} for each in made]
    assert answers[4]["error"] == "The request body is not JSON."
    assert "txet" in answers[5]["error"]


def test_a_comparison(computing: Served) -> None:
    expected = compare(TEXT, OTHER).to_dict()
    reply = post(computing, "/compare", {"a": {"text": TEXT}, "b": {"html": f"<p>{OTHER}</p>"}})
    check(computing, "/compare", reply.json)
    assert reply.json == {"scheme": Scheme().id, **expected}
    pair = {"a": {"text": TEXT}, "b": {"text": OTHER}}
    many = post(computing, "/compare", {"pairs": [pair, {"a": {"text": TEXT}, "b": {}}, pair]}).json
    check(computing, "/compare", many)
    assert [many["pairs"][0], many["pairs"][2]] == [expected] * 2
    assert many["pairs"][1]["error"].startswith("b has no text: send text or html")


def test_pages_of_the_store(served_file: Served, stateless: Served) -> None:
    pair = {"a": {"url": MILL}, "b": {"url": MIRROR}}
    found = post(served_file, "/compare", pair).json
    assert (found["resemblance"], found["a"]["url"], found["b"]["url"]) == (1.0, MILL, MIRROR)
    assert post(served_file, "/compare", {**pair, "a": {"url": "https://no.example/"}}).status == 404
    missing = {"pairs": [{"a": {"url": "https://no.example/"}, "b": {"text": TEXT}}]}
    (refused,) = post(served_file, "/compare", missing).json["pairs"]
    assert refused["error"] == f"{Path(served_file.store).name} has no page https://no.example/"  # not its folder
    reply = post(stateless, "/compare", pair)
    assert (reply.status, "This server has no store" in reply.json["error"]) == (400, True)


@pytest.mark.parametrize(
    ("path", "sent", "sentence"),
    [
        ("/fields", b"nonsense", "The request body is not JSON."),
        ("/fields", b"\xff", "The request body is not JSON."),
        ("/fields", b"[]", "Expected `object`"),
        ("/fields", b'{"text": 3}', "$.text"),
        ("/fields", b'{"txet": "x"}', "txet"),
        ("/fields", b'{"documents": 3}', "$.documents"),
        ("/fields", b'{"text": "x", "documents": []}', "not both"),
        ("/fields", b'{"text": "x", "html": "x"}', "Send text or html, not both."),
        pytest.param(
            *("/fields", b'{"text": "%s"}' % (b"x" * 10_000_001), "10,000,001 bytes: at most 10,000,000"),
            id="large",  # the name of a test is in the environment of the processes that it starts
        ),
        ("/compare", b'{"a": {"text": "x", "html": "x"}, "b": {}}', "Send text or html of a, not both."),
        ("/compare", b'{"a": {"text": "x"}, "pairs": []}', "not both"),
        ("/fields", b"{}", "There is no text"),
        ("/compare", b"{}", "Send two texts"),
        ("/compare", b'{"a": {"text": "x"}, "b": {}}', "b has no text"),
    ],
)
def test_what_is_refused(computing: Served, path: str, sent: bytes, sentence: str) -> None:
    reply = computing.send(f"{API}{path}", sent, content_type="application/json")
    assert (reply.status, sentence in reply.json["error"]) == (400, True), reply.text


def test_each_of_a_batch_is_answered_by_itself(computing: Served) -> None:
    sent = [{"text": TEXT}, {"text": 3}, 7, {"text": "x", "html": "x"}, {"txet": "x"}, {"text": TEXT}]
    reply = post(computing, "/fields", {"documents": sent})
    check(computing, "/fields", reply.json)
    assert ["error" in each for each in reply.json["documents"]] == [False, True, True, True, True, False]
    pair = {"a": {"text": TEXT}, "b": {"text": OTHER}}
    pairs = [pair, {"a": {"text": 3}, "b": {"text": "x"}}, None, pair]
    found = post(computing, "/compare", {"pairs": pairs}).json["pairs"]
    assert ["error" in each for each in found] == [False, True, True, False]
    _, answers = post_lines(computing, "/compare", "\n\n".join(map(json.dumps, pairs)).encode())
    assert answers == [{"scheme": Scheme().id, **each} for each in found]


def test_gzip_is_unpacked_within_bounds(stateless: Served) -> None:
    body = json.dumps({"text": TEXT}).encode()

    def sent(content: bytes, packing: str = "gzip") -> Reply:
        return stateless.send(f"{API}/fields", content, content_type="application/json", content_encoding=packing)

    packed = gzip.compress(body)
    assert sent(packed).json == sent(body, "identity").json == post(stateless, "/fields", {"text": TEXT}).json
    assert [sent(each).status for each in (body, packed[:-9], packed + b"x")] == [400] * 3
    block = random.Random(1).randbytes(30_000)  # which repeats itself, but not too often
    assert sent(gzip.compress(block * (MAX_BODY_BYTES // 30_000 + 1), compresslevel=1)).status == 413
    reply = sent(gzip.compress(json.dumps({"text": "a" * 2_000_000}).encode()))
    assert (reply.status, "200 times" in reply.json["error"]) == (400, True)
    assert sent(gzip.compress(json.dumps({"text": "a" * 900_000}).encode())).status == 200
    assert (sent(body, "br").status, sent(body, "gzip, gzip").status) == (415, 415)


@pytest.mark.parametrize(("path", "name"), [("/fields", "documents"), ("/compare", "pairs")])
def test_a_batch_has_a_limit_and_is_answered_in_pieces(stateless: Served, path: str, name: str) -> None:
    def sent(number: int) -> tuple[Reply, Reply, list[Any]]:
        return post(stateless, path, {name: [1] * number}), *post_lines(stateless, path, b"1\n \n" * number)

    for reply in sent(MAX_BATCH + 1)[:2]:
        assert (reply.status, f"at most 10,000 {name}" in reply.json["error"]) == (400, True)
    whole, _, answers = sent(MAX_BATCH)
    assert len(whole.body) > PIECE_BYTES
    assert len(whole.json[name]) == MAX_BATCH
    assert answers == [{"scheme": Scheme().id, **each} for each in whole.json[name]]
    described = stateless.json(f"{API}/openapi.json")
    (several,) = (
        schema["properties"][name]
        for schema in described["components"]["schemas"].values()
        if schema["title"] in ("SentDocuments", "SentPairs") and name in schema["properties"]
    )
    assert MAX_BATCH in (each.get("maxItems") for each in several["anyOf"])
    assert f"{MAX_BATCH:,}" in json.dumps(described["paths"][path]["post"]["requestBody"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(json_values, max_size=6), st.sampled_from([None, 1]), st.booleans())
def test_the_members_of_a_list_are_found_as_they_were_written(
    values: list[Any], indent: int | None, ascii_only: bool
) -> None:
    written = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode()
    array = msgspec.json.decode(written, type=msgspec.Raw)
    assert [json.loads(member) for member in members(array, "documents")] == values


class Breaking(fields.SentFieldsMaker):
    """Makes the fields of documents until the store fails."""

    made_until: ClassVar[list[bytes]] = []

    def made(self, part: bytes) -> Any:
        self.made_until.append(part)
        if b"fail" in part:
            raise StoreError("the store is gone")
        return super().made(part)


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    monkeypatch.setattr(fields, "SentFieldsMaker", Breaking)
    monkeypatch.setattr(batch, "PIECE_BYTES", 100)  # less than one answer
    monkeypatch.setattr(Breaking, "made_until", [])
    with serving_app(make_stateless_app(Scheme())) as found:
        yield found


def test_an_answer_that_is_broken_off_is_not_taken_for_a_whole_one(breaking: Asking) -> None:
    lines = b'{"text": "a"}\n' * 3
    assert breaking.send(f"{API}/fields", b"fail\n" + lines).status == 400
    send = partial(breaking.send, f"{API}/fields", content_type="application/x-ndjson")
    assert len(send(lines).body.splitlines()) == 3
    assert send(b"fail\n" + lines).status == 503
    with pytest.raises(http.client.IncompleteRead):
        send(lines + b"fail\n")
    with connected(breaking) as client:  # HTTP/1.0 has no way to say that an answer is not whole
        start = head(f"{API}/fields", len(lines) + 5, "application/x-ndjson", version="1.0")
        client.sendall(start + lines + b"fail\n")
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 503 ")


def test_what_is_left_of_a_batch_is_not_answered_when_the_client_has_left(breaking: Asking) -> None:
    lines = b'{"text": "%s"}\n' % (b"words " * 50_000) * 40
    with connected(breaking) as client:
        client.sendall(head(f"{API}/fields", len(lines), "application/x-ndjson") + lines)
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")
    breaking.send(f"{API}/fields", b'{"text": "a"}\n', content_type="application/x-ndjson")  # another gets its turn
    assert len(Breaking.made_until) < 40


def test_what_all_clients_send_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_BODIES_BYTES", 3_000)
    with serving_app(make_stateless_app(Scheme())) as served:

        def status(size: int) -> int:
            return post(served, "/fields", {"text": "x" * size}).status

        with connected(served) as client:
            client.sendall(head(f"{API}/fields", 2_000) + b'{"text": "' + b"x" * 1_900)
            while status(1_500) == 200:  # until what the other has sent is read
                pass
            assert (status(1_500), status(500)) == (503, 200)
        while status(1_500) == 503:
            pass
        many = {"documents": [{"text": "x" * 1_000}] * 2}  # held twice: as they were sent, and one by one
        assert (post(served, "/fields", many).status, status(2_500)) == (503, 200)


def test_who_opens_its_address_sees_what_it_answers(stateless: Served) -> None:
    described = stateless.json("/")
    assert described == stateless.json(f"{API}/openapi.json")
    for path in ("/fields", "/compare"):
        operation = described["paths"][path]["post"]
        for content in (operation["requestBody"]["content"], operation["responses"]["200"]["content"]):
            assert content.keys() == {"application/json", "application/x-ndjson"}
    examples = described["paths"]["/fields"]["post"]["responses"]["default"]["content"]["application/json"]["examples"]
    assert {"405", "415", "421"} <= {each["summary"][:3] for each in examples.values()}
    assert "crawl.winnow" not in json.dumps(described)
    assert "of one store" not in described["info"]["description"]
    made = post(stateless, "/fields", {"text": TEXT, "url": "https://a.example/", "id": 1}).json["fields"]
    assert described["components"]["schemas"]["WinnowFields"]["properties"].keys() == made.keys()


def test_the_guard_is_there(stateless: Served) -> None:
    assert post(stateless, "/fields", {"text": "x" * MAX_BODY_BYTES}).status == 413
    assert post(stateless, "/fields", {"text": "x"}, origin="https://evil.example").status == 403
    assert post(stateless, "/fields", {"text": "x"}, host="evil.example").status == 421
    with serving_stateless("--token", "s3cret-token") as guarded:
        assert post(guarded, "/fields", {"text": "x"}).status == 401
        assert post(guarded, "/fields", {"text": "x"}, authorization="Bearer s3cret-token").status == 200


def test_a_server_without_a_store_serves_nothing_else(stateless: Served, served_file: Served) -> None:
    assert stateless.said.startswith("Fields and comparisons, without a store, at http://")
    assert stateless.json(f"{API}/health") == served_file.json(f"{API}/health")
    described = stateless.json(f"{API}/openapi.json")["paths"]
    assert {path: [*methods] for path, methods in described.items()} == {
        "/fields": ["post"], "/compare": ["post"], "/health": ["get"]
    }  # fmt: skip
    for path in ("/search", f"{API}/search?words=mill", "/paste", "/api"):
        reply = stateless.get(path)
        assert (reply.status, reply.json) == (404, {"error": "There is no page at this address."})


@pytest.mark.check
def test_a_scheme_and_a_key(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("a secret\n")
    schemes = set()
    with ExitStack() as stack:
        for options in (["--preset", "passages"], ["--key-file", str(key)]):
            served = stack.enter_context(serving_stateless(*options))
            schemes.add(post(served, "/fields", {"text": TEXT}).json["scheme"])
    assert schemes == {Scheme.preset("passages").id, Scheme(key="a secret").id}


def test_work_for_a_client_that_has_gone_is_cancelled() -> None:
    served, gone = OnlyScheme(Scheme()), Event()
    request = cast("ScreenRequest", SimpleNamespace(form={BODY: b'{"text": "words"}', CONTENT_TYPE: "", PACKING: ""}))
    with cancelled_by(gone):
        assert fields.answer(served, request).document.fields
        gone.set()
        with pytest.raises(CancelledError):
            fields.answer(served, request)
        request.form[BODY] = b'{"a": {"text": "words"}, "b": {"text": "words"}}'  # type: ignore[index]
        with pytest.raises(CancelledError):
            sent_texts.answer_without_store(served, request)
