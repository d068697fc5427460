"""Errors of a store on a cluster, as the user of the command sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.opensearch_mapping import index_settings, mapping
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.engine.running import Running
from tests.cli.conftest import OnTerminal, Prose, Winnow, json_lines
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway

SECRET = "open-sesame"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the file of failed pages goes there


@pytest.fixture
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as client:
        yield client


@pytest.fixture
def name(request: pytest.FixtureRequest, client: OpenSearch) -> Iterator[str]:
    """The name of an index for one test, which is deleted afterwards."""
    own = request.node.name.replace("_", "-")
    yield own
    client.indices.delete(index=f"{own}*")


@pytest.fixture
def pages(tmp_path: Path, prose: Prose) -> Path:
    rows = ({"url": f"http://example.org/{number}", "text": prose(80, number)} for number in range(3))
    return json_lines(tmp_path / "pages.jsonl", *rows)


def sentence(winnow: Winnow, *arguments: str | Path) -> str:
    """Return the error message of a command, which must be one line and the only output."""
    done = winnow(*arguments)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("Error: ")
    return done.stderr


@pytest.mark.parametrize(
    "command", [("search", "words"), ("similar", "--text", "words"), ("stats",), ("setup",), ("migrate",)]
)
def test_no_engine(winnow: Winnow, command: tuple[str, ...]) -> None:
    name = f"127.0.0.1:{free_port()}/pages"
    said = sentence(winnow, *command, "--store", f"http://me:{SECRET}@{name}")
    assert said.startswith(f"Error: http://{name} cannot be ")
    assert "nothing listens there; is an engine running?" in said


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("https://no-such-host.invalid/pages", "there is no host of this name; check the address"),
        (f"http://me:{SECRET}@localhost:9200", "Error: http://localhost:9200 names no index: add one at the end"),
        (f"http://me:{SECRET}@localhost:9200/Pages", "Error: Pages is not a valid name of an index"),
        (f"http://me:{SECRET}@localhost:x/pages", "Error: the address of a store needs a host, and a number"),
    ],
)
def test_invalid_addresses(winnow: Winnow, store: str, said: str) -> None:
    assert said in sentence(winnow, "search", "words", "--store", store)


def test_an_engine_without_such_a_store(winnow: Winnow, engine: Running, client: OpenSearch, name: str) -> None:
    client.indices.create(index=name)
    for store, said in (
        (f"{engine.url.replace('http', 'https')}/pages", "it does not speak TLS there; use http://"),
        (f"{engine.url}/no-such-index", f"{engine.url}/no-such-index cannot be opened: there is no index no-such-"),
        (f"{engine.url}/{name}", f"{engine.url}/{name} is an index, but not a store of winnow"),
    ):
        assert said in sentence(winnow, "search", "words", "--store", store)
    with Gateway(engine.url, lambda _: Answer(401, b"Unauthorized", "text/plain")) as gateway:
        said = sentence(winnow, "search", "words", "--store", f"http://me:{SECRET}@localhost:{gateway.port}/pages")
    assert "check WINNOW_USER and WINNOW_PASSWORD, WINNOW_API_KEY" in said


def test_another_scheme(winnow: Winnow, engine: Running, client: OpenSearch, name: str, pages: Path) -> None:
    store = f"{engine.url}/{name}"
    assert winnow("setup", "--store", store).exit_code == 0
    said = sentence(winnow, "index", pages, "--store", store, "--noise", "20", "--guarantee", "60")
    assert said.startswith(f"Error: {store} has records of scheme {Scheme().id}, not 20-60-")
    assert client.count(index=name)["count"] == 0


@pytest.mark.check
def test_a_full_disk(winnow: Winnow, engine: Running, client: OpenSearch, name: str, pages: Path) -> None:
    store = f"{engine.url}/{name}"
    assert winnow("setup", "--store", store).exit_code == 0
    client.indices.put_settings(index=name, body={"index.blocks.read_only_allow_delete": True})
    assert "free some" in winnow.refused("index", pages, "--store", store)
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


def test_no_permission_to_write(winnow: Winnow, engine: Running, client: OpenSearch, name: str, pages: Path) -> None:
    """The user may do everything except write."""
    reason = "no permissions for [indices:data/write/bulk] and User [name=me, backend_roles=[]]"
    error = {"root_cause": [], "type": "security_exception", "reason": reason}

    def check(arrived: Arrived) -> Answer | None:
        return Answer(403, json.dumps({"error": error, "status": 403}).encode()) if "_bulk" in arrived.path else None

    assert winnow("setup", "--store", f"{engine.url}/{name}").exit_code == 0
    with Gateway(engine.url, check) as gateway:
        said = winnow.refused("index", pages, "--store", f"{gateway.url}/{name}")
    assert ("indices:data/write/bulk" in said, "{" in said, client.count(index=name)["count"]) == (True, False, 0)


@pytest.mark.check
def test_the_password_is_never_shown(
    winnow: Winnow, on_terminal: OnTerminal, engine: Running, client: OpenSearch, name: str, pages: Path
) -> None:
    store = f"http://me:{SECRET}@{engine.url.removeprefix('http://')}/{name}"
    commands: dict[tuple[str | Path, ...], int] = {
        ("setup",): 0,
        ("index", pages): 0,
        ("search", "no-such-word"): 1,
        ("similar", "http://example.org/1"): 1,
        ("stats",): 0,
        ("export", "--to", "told.parquet"): 0,
    }
    for command, expected in commands.items():
        code, shown = on_terminal("winnow", *command, "--store", store)
        assert (code, SECRET in shown) == (expected, False), command
    for command in (("setup", "--dry-run"), ("index", pages), ("stats",), ("migrate",)):
        done = winnow(*command, "--store", store, "--json")
        assert (done.exit_code, SECRET in done.output) == (0, False), command
    assert client.count(index=name)["count"] == 3
