"""Errors of a store on a cluster, as the user of the command sees them."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.opensearch_mapping import index_settings, mapping
from opensearch_winnow.stores.engine.running import Running
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway

Winnow = Callable[..., Result]

SECRET = "open-sesame"
NO_PERMISSION = {
    "root_cause": [],
    "type": "security_exception",
    "reason": "no permissions for [indices:data/write/bulk] and User [name=me, backend_roles=[]]",
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the file of failed pages goes there


@pytest.fixture
def client(engine: Running) -> Iterator[OpenSearch]:
    client = OpenSearch(engine.url, timeout=60)
    yield client
    client.close()


@pytest.fixture
def name(request: pytest.FixtureRequest, client: OpenSearch) -> Iterator[str]:
    """The name of an index for one test, which is deleted afterwards."""
    own = request.node.name.replace("_", "-")
    yield own
    client.indices.delete(index=f"{own}*")


@pytest.fixture
def pages(tmp_path: Path, prose: Callable[..., str]) -> Path:
    path = tmp_path / "pages.jsonl"
    lines = [{"url": f"http://example.org/{number}", "text": prose(80, number)} for number in range(3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def sentence(done: Result) -> str:
    """Return the error message, which must be one line and the only output."""
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("Error: ").rstrip("\n")


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.parametrize("command", [("search", "words"), ("similar", "--text", "words"), ("stats",)])
def test_no_engine(winnow: Winnow, command: tuple[str, ...]) -> None:
    name = f"127.0.0.1:{closed_port()}/pages"
    said = sentence(winnow(*command, "--store", f"http://me:{SECRET}@{name}"))
    assert said.startswith(f"http://{name} cannot be ")
    assert "nothing listens there; is an engine running? `winnow engine start` starts one" in said


@pytest.mark.parametrize("command", ["setup", "migrate"])
def test_no_engine_to_set_up_or_to_migrate(winnow: Winnow, command: str) -> None:
    port = closed_port()
    said = sentence(winnow(command, "--store", f"http://me:{SECRET}@127.0.0.1:{port}/pages"))
    assert f"http://127.0.0.1:{port}/pages cannot be used: nothing listens there" in said


def test_no_such_host(winnow: Winnow) -> None:
    said = sentence(winnow("search", "words", "--store", "https://no-such-host.invalid/pages"))
    assert said.endswith("there is no host of this name; check the address")


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("http://me:open-sesame@localhost:9200", "http://localhost:9200 names no index: add one at the end"),
        ("http://me:open-sesame@localhost:9200/Pages", "Pages is not a valid name of an index: use lower-case letters"),
        ("http://me:open-sesame@localhost:x/pages", "the address of a store needs a host, and a number as the port"),
    ],
)
def test_invalid_addresses(winnow: Winnow, store: str, said: str) -> None:
    assert sentence(winnow("search", "words", "--store", store)).startswith(said)


def test_an_engine_without_tls(winnow: Winnow, engine: Running) -> None:
    said = sentence(winnow("search", "words", "--store", f"{engine.url.replace('http', 'https')}/pages"))
    assert "it does not speak TLS there; use http://" in said


def test_a_missing_index(winnow: Winnow, engine: Running) -> None:
    said = sentence(winnow("search", "words", "--store", f"{engine.url}/no-such-index"))
    assert said == (
        f"{engine.url}/no-such-index cannot be opened: there is no index no-such-index; `winnow index` or"
        " `winnow setup` creates it"
    )


def test_an_index_of_other_software(winnow: Winnow, engine: Running, client: OpenSearch, name: str) -> None:
    client.indices.create(index=name)
    said = sentence(winnow("search", "words", "--store", f"{engine.url}/{name}"))
    assert f"{engine.url}/{name} is an index, but not a store of winnow" in said


def test_another_scheme(winnow: Winnow, engine: Running, client: OpenSearch, name: str, pages: Path) -> None:
    store = f"{engine.url}/{name}"
    assert winnow("setup", "--store", store).exit_code == 0
    said = sentence(winnow("index", pages, "--store", store, "--noise", "20", "--guarantee", "60"))
    assert said.startswith(f"{store} has records of scheme {Scheme().id}, not 20-60-")
    assert client.count(index=name)["count"] == 0


@pytest.mark.check
def test_a_full_disk(winnow: Winnow, engine: Running, client: OpenSearch, name: str, pages: Path) -> None:
    store = f"{engine.url}/{name}"
    assert winnow("setup", "--store", store).exit_code == 0
    client.indices.put_settings(index=name, body={"index.blocks.read_only_allow_delete": True})
    done = winnow("index", pages, "--store", store)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "disk" in done.stderr.splitlines()[-1]
    assert "free some" in done.stderr.splitlines()[-1]
    client.indices.put_settings(index=name, body={"index.blocks.read_only_allow_delete": None})
    assert winnow("index", pages, "--store", store).exit_code == 0
    assert client.count(index=name)["count"] == 3


def test_a_field_of_another_type(winnow: Winnow, engine: Running, client: OpenSearch, name: str, pages: Path) -> None:
    """The index was created by others with the right scheme, but with another type of field."""
    body: dict[str, Any] = {"mappings": mapping(Scheme()), "settings": index_settings()}
    body["mappings"]["properties"]["text"] = {"type": "long"}
    store = f"{engine.url}/{name}"
    client.indices.create(index=name, body=body)
    assert winnow("setup", "--store", store).exit_code == 0  # creates what is missing
    done = winnow("index", pages, "--store", store, "--json")
    assert done.exit_code in (1, 2)
    assert "a value does not fit the field text of the index, which has the type long" in done.stderr + done.stdout


def test_wrong_credentials(winnow: Winnow, engine: Running) -> None:
    with Gateway(engine.url, lambda _: Answer(401, b"Unauthorized", "text/plain")) as gateway:
        said = sentence(winnow("search", "words", "--store", f"http://me:{SECRET}@localhost:{gateway.port}/pages"))
    assert "it requires credentials, or other ones; check WINNOW_USER and WINNOW_PASSWORD, WINNOW_API_KEY" in said


def test_no_permission_to_write(winnow: Winnow, engine: Running, client: OpenSearch, name: str, pages: Path) -> None:
    """The user may do everything except write."""

    def check(arrived: Arrived) -> Answer | None:
        body = {"error": NO_PERMISSION, "status": 403}
        return Answer(403, json.dumps(body).encode()) if "_bulk" in arrived.path else None

    assert winnow("setup", "--store", f"{engine.url}/{name}").exit_code == 0
    with Gateway(engine.url, check) as gateway:
        done = winnow("index", pages, "--store", f"{gateway.url}/{name}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "indices:data/write/bulk" in done.stderr.splitlines()[-1]
    assert "{" not in done.stderr
    assert client.count(index=name)["count"] == 0


@pytest.mark.check
def test_the_password_is_never_shown(
    winnow: Winnow,
    on_terminal: Callable[..., tuple[int, str]],
    engine: Running,
    client: OpenSearch,
    name: str,
    pages: Path,
    tmp_path: Path,
) -> None:
    store = f"http://me:{SECRET}@{engine.url.removeprefix('http://')}/{name}"
    shown = [
        on_terminal("winnow", *command, "--store", store, folder=tmp_path)
        for command in (
            ("setup",),
            ("index", pages),
            ("search", "no-such-word"),
            ("similar", "http://example.org/1"),
            ("stats",),
            ("export", "--to", "told.parquet"),
        )
    ]
    assert [code for code, _ in shown] == [0, 0, 1, 1, 0, 0]
    as_json = [
        winnow(*command, "--store", store, "--json")
        for command in (("setup", "--dry-run"), ("index", pages), ("stats",), ("migrate",))
    ]
    assert [done.exit_code for done in as_json] == [0, 0, 0, 0]
    assert client.count(index=name)["count"] == 3
    assert [text for _, text in shown if SECRET in text] == []
    assert [done.output for done in as_json if SECRET in done.output] == []
