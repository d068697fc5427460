"""Every error is one plain sentence: tested with real engines and real connections."""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import trustme
from opensearchpy import OpenSearch, RequestsHttpConnection

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address, connect
from opensearch_winnow.stores.opensearch.requests.error_reasons import explain_error
from opensearch_winnow.stores.opensearch.requests.errors import refusal_error, reporting_engine_errors
from opensearch_winnow.stores.opensearch.requests.retries import Patience
from opensearch_winnow.stores.opensearch.requests.transport import RetryingTransport
from opensearch_winnow.stores.store import StoreError
from tests.stores.opensearch.gateway import Answer, Gateway

pytestmark = pytest.mark.xdist_group("errors")  # these tests start their own engine

NAME = "the store"
MAPPING = {"dynamic": "strict", "properties": {"place": {"type": "long"}, "site": {"type": "keyword"}}}
SHARDS = {"number_of_shards": 1, "number_of_replicas": 0}
ALL: dict[str, Any] = {"query": {"match_all": {}}}

Ask = Callable[[OpenSearch], Any]


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryingTransport, "patience", Patience(0.0))


def sentence(client: OpenSearch, ask: Ask, doing: str = "used", name: str = NAME) -> str:
    """Return the message of the StoreError: one line, without JSON or class names."""
    with pytest.raises(StoreError) as error, reporting_engine_errors(name, doing):
        ask(client)
    message = str(error.value)
    assert message.startswith(f"{name} cannot be {doing}: ")
    assert not set('\n{}"').intersection(message)
    assert "_exception" not in message
    assert "Error" not in message
    return message


def at_connecting(url: str, **options: Any) -> str:
    naming = reporting_engine_errors(str(Address.of(url)))
    with pytest.raises(StoreError) as error, connect(Address.of(url), **options) as client, naming:
        client.info()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_nothing_that_answers(closed_port: int) -> None:
    url = f"http://127.0.0.1:{closed_port}/pages"
    assert at_connecting(url.replace("//", "//me:hush@")).startswith(f"{url} cannot be used: nothing listens there; ")
    for host in ("no-such-host.invalid", "a..b"):
        assert "there is no host of this name" in at_connecting(f"http://me:hush@{host}:9200/pages")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert "no answer in time" in at_connecting(f"http://127.0.0.1:{silent.getsockname()[1]}/pages", timeout=0.05)


def serving(engine: Running, authority: trustme.CA, host: str = "localhost", *, wants: bool = False) -> Gateway:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    if wants:
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return Gateway(engine.url, tls=context)


def test_not_trusted(engine: Running, authority: trustme.CA, authority_file: Path) -> None:
    with serving(engine, authority) as gateway:
        assert "not trusted (unable to get local issuer certificate)" in at_connecting(f"{gateway.url}/pages")
        assert "use https://" in at_connecting(f"http://localhost:{gateway.port}/pages")
    with serving(engine, authority, "example.org") as gateway:
        message = at_connecting(f"{gateway.url}/pages", ca_certs=str(authority_file))
        assert "its certificate is for another host" in message
    assert "it does not speak TLS there; use http://" in at_connecting(f"{engine.url.replace('http', 'https')}/pages")
    contradicting: dict[str, Any] = {"verify_certs": False, "ca_certs": "nowhere.pem"}
    with pytest.raises(StoreError, match="opensearch-py does not accept its options: You cannot pass CA certificates"):
        connect(Address.of("https://localhost/pages"), connection_class=RequestsHttpConnection, **contradicting)


def test_a_certificate_is_wanted(engine: Running, authority: trustme.CA, authority_file: Path, tmp_path: Path) -> None:
    own = authority.issue_cert("me@example.org")
    own.private_key_and_cert_chain_pem.write_to_path(tmp_path / "own.pem")
    with serving(engine, authority, wants=True) as gateway:
        address, trusted = Address.of(f"{gateway.url}/pages"), str(authority_file)
        with connect(address, ca_certs=trusted) as client:
            assert "WINNOW_CLIENT_CERT" in sentence(client, OpenSearch.info, name=gateway.url)
        with connect(address, ca_certs=trusted, client_cert=str(tmp_path / "own.pem")) as client:
            assert client.ping()


def denied(reason: str) -> Answer:
    error = {"root_cause": [], "type": "security_exception", "reason": reason}
    return Answer(403, json.dumps({"error": error, "status": 403}).encode())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(401, b"Unauthorized", "text/plain"), "it requires credentials, or other ones"),
        (
            denied("no permissions for [indices:data/write/bulk[s]] and User [name=me, backend_roles=[]]"),
            "the user may not do indices:data/write/bulk;",
        ),
        (
            denied("action [cluster:monitor/main] is unauthorized for user [me]"),
            "the user may not do cluster:monitor/main;",
        ),
        (Answer(403, b'{"Message": "User: anonymous is not authorized"}'), r"not allowed \(User: anonymous is not"),
        (Answer(400, b"<p>The plain HTTP request was sent to HTTPS port", "text/html"), "use https://"),
        (Answer(413, b"", "text/plain"), "http.max_content_length"),
        (Answer(429, b"", "text/plain"), "more requests than it can handle"),
        (Answer(503, b"OpenSearch Security not initialized.", "text/plain"), "not available now"),
        (Answer(301, b"<p>Moved", "text/html"), r"may not be OpenSearch \(status 301\)"),
        (Answer(200, b"<p>Welcome", "text/html"), "is not OpenSearch"),
        (Answer(500, b'{"error": "It\\n hurts"}'), r"the engine says: It hurts \(status 500\)"),
        (Answer(500, b'{"error": {"type": "odd"}}'), r"the engine says: odd \(status 500\)"),
    ],
)
def test_answers_of_a_proxy_become_plain_messages(engine: Running, answer: Answer, words: str) -> None:
    """Answers of services and plugins that check credentials."""
    with (
        Gateway(engine.url, lambda _: answer) as gateway,
        connect(Address.of(f"{gateway.url}/pages")) as client,
        pytest.raises(StoreError, match=words),
        reporting_engine_errors(NAME),
    ):
        client.search(index="pages")


@pytest.fixture(scope="module")
def own(start_engine: Callable[..., Running]) -> Iterator[OpenSearch]:
    """An engine of our own, whose settings tests may break. It checks its disk often, and allows no scripts."""
    often = {"cluster.info.update.interval": "10s", "cluster.routing.allocation.disk.reroute_interval": "1s"}
    with OpenSearch(start_engine(1, settings=often | {"script.allowed_types": "none"}).url, timeout=60) as client:
        client.indices.create(index="pages", body={"mappings": MAPPING, "settings": SHARDS})
        yield client


def set_(client: OpenSearch, settings: dict[str, Any]) -> None:
    client.cluster.put_settings(body={"transient": settings or {"cluster.blocks.read_only": None}})


def write(client: OpenSearch) -> None:
    client.index(index="pages", id="1", body={"place": 1})


@pytest.mark.check
def test_a_full_disk(own: OpenSearch) -> None:
    """A real disk block: the engine requires more free space than any disk has. Later it unlocks the index itself."""
    disk = "cluster.routing.allocation.disk"
    marks = [f"{disk}.watermark.{name}" for name in ("low", "high", "flood_stage")]

    def wait_until_locked(locked: bool) -> None:
        end = time.monotonic() + 120
        while bool(own.cluster.state(metric="blocks")["blocks"].get("indices")) != locked:
            assert time.monotonic() < end
            time.sleep(0.1)

    set_(own, {f"{disk}.threshold_enabled": "true"} | dict.fromkeys(marks, "1000tb"))
    wait_until_locked(True)
    message = sentence(own, write, "written")
    set_(own, dict.fromkeys(marks, "1b"))
    wait_until_locked(False)
    write(own)
    set_(own, dict.fromkeys([f"{disk}.threshold_enabled", *marks]))
    assert message.startswith(f"{NAME} cannot be written: the disk of a node is nearly full")


@pytest.mark.check
@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("read_only_allow_delete", "free some space"),
        ("write", "locked for writing (index.blocks.write)"),
        ("read_only", "is read-only (index.blocks.read_only)"),
    ],
)
def test_a_lock(own: OpenSearch, block: str, words: str) -> None:
    own.indices.put_settings(index="pages", body={f"index.blocks.{block}": True})
    message = sentence(own, write)
    answer = own.bulk(body=[{"index": {"_index": "pages", "_id": "1"}}, {"place": 1}])
    own.indices.put_settings(index="pages", body={f"index.blocks.{block}": None})
    assert words in message
    assert words in explain_error(answer["items"][0]["index"]["error"])


def scored_by(script: dict[str, str]) -> dict[str, Any]:
    return {"query": {"script_score": {"query": {"match_all": {}}, "script": script}}}


def searching(index: str, body: dict[str, Any] | None = None, **params: Any) -> Ask:
    return lambda client: client.search(index=index, body=body, **params)


SCORED = scored_by({"source": "_score"})


@pytest.mark.check
@pytest.mark.parametrize(
    ("settings", "ask", "words"),
    [
        ({"cluster.blocks.read_only": True}, write, "whole cluster is locked"),
        ({}, searching("pages", SCORED), "the cluster refuses scripts"),
        ({"search.allow_expensive_queries": False}, searching("pages", SCORED), "use queries without scripts"),
        ({"indices.breaker.total.limit": "1%"}, write, "short of memory"),
        ({"search.max_open_scroll_context": 0}, searching("pages", ALL, scroll="1m"), "too many scans or cursors"),
        (
            {"cluster.max_shards_per_node": 1},
            lambda own: own.indices.create(index="more", body={"settings": {"number_of_shards": 5}}),
            "at its limit of shards",
        ),
    ],
)
def test_an_engine_whose_settings_refuse(own: OpenSearch, settings: dict[str, Any], ask: Ask, words: str) -> None:
    set_(own, settings)
    try:
        assert words in sentence(own, ask)
    finally:
        set_(own, dict.fromkeys(settings))


@pytest.fixture
def index(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as client:
        client.indices.create(index="errors", body={"mappings": MAPPING, "settings": SHARDS})
        yield client
        client.indices.delete(index="errors")


def should(count: int) -> dict[str, Any]:
    return {"query": {"bool": {"should": [{"term": {"site": str(number)}} for number in range(count)]}}}


def closed(client: OpenSearch) -> None:
    client.indices.close(index="errors")
    client.search(index="errors")


@pytest.mark.check
@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (searching("errors-not"), "there is no index errors-not; `winnow index` or `winnow setup` creates it"),
        (lambda client: client.index(index="errors", body={"colour": 1}), "the index has no field colour"),
        (
            lambda client: client.index(index="errors", body={"place": "x"}),
            "a value does not fit the field place of the index, which has the type long",
        ),
        (
            lambda client: client.indices.put_mapping(
                index="errors", body={"properties": {"place": {"type": "keyword"}}}
            ),
            "the field place of the index has the type long but must have the type keyword",
        ),
        (searching("errors", should(9_000)), "indices.query.bool.max_clause_count"),
        (searching("errors", scored_by({"id": "no-such"})), "the script no-such is not in the cluster"),
        (lambda client: client.index(index="errors", body={}, pipeline="no-such"), "the pipeline no-such is not in"),
        (searching("errors", {"size": 20_000}), "the engine says: Result window is too"),
        (searching("errors", {"query": {"odd": {}}}), "the engine says: unknown query [odd]"),
        (closed, "the index errors is closed; open it (POST /errors/_open)"),
    ],
)
def test_an_engine_that_refuses(index: OpenSearch, ask: Ask, words: str) -> None:
    assert words in sentence(index, ask)


def test_parts_of_an_answer(index: OpenSearch) -> None:
    searches = [{"index": "errors"}, ALL, {"index": "errors-not"}, ALL, {"index": "errors"}, should(9_000)]
    fine, missing, clauses = index.msearch(body=searches)["responses"]
    assert "error" not in fine
    assert str(refusal_error(NAME, missing, "read")).startswith(f"{NAME} cannot be read: there is no index errors-not;")
    assert "max_clause_count" in str(refusal_error(NAME, clauses))
    operations: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
        ("index", {}, {"colour": 1}, "the index has no field colour and allows no new ones"),
        ("create", {}, {"site": "x" * 40_000}, "a value of the field site is longer than the engine can index"),
        ("update", {}, {"doc": {"place": 1}}, "it no longer exists"),
        ("index", {"_index": "errors-not", "require_alias": True}, {}, "there is no store of this name"),
    ]
    lines = [[{kind: {"_index": "errors", "_id": "1"} | where}, line] for kind, where, line, _ in operations]
    items = index.bulk(body=list(chain(*lines)))["items"]
    for item, (kind, _, _, words) in zip(items, operations, strict=True):
        assert words in explain_error(item[kind]["error"])


def test_an_index_that_was_deleted_and_created_anew_while_it_is_read() -> None:
    """Such an index has no mapping, and engines know no field at all."""
    cause = {"type": "query_shard_exception", "reason": "No mapping found for [_seq_no] in order to sort on"}
    error = {"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": [cause]}
    assert "it was probably deleted meanwhile, and created anew" in explain_error(error)


def test_other_exceptions_pass_unchanged() -> None:
    with pytest.raises(KeyError), reporting_engine_errors(NAME):
        raise KeyError
