"""A real engine on this machine: starting, using and stopping it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil
import pytest

from opensearch_winnow.stores.engine.local_engine import LocalEngine, default_home
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.engine.releases import RELEASES
from opensearch_winnow.stores.engine.running import EngineNode, Running
from opensearch_winnow.stores.store import StoreError
from tests.engine_fixture import VERSION

HEAP = "512m"
REPLACED = {"type": "pattern_replace", "pattern": "\\d+", "replacement": "#"}


def ask(url: str, method: str, path: str, body: object = None) -> Any:
    data, kind = json.dumps(body).encode() if body else None, {"Content-Type": "application/json"}
    with urlopen(Request(url + path, data, kind, method=method), timeout=60) as response:
        return json.loads(response.read())


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, long enough for a busy machine."""
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[LocalEngine]:
    """An engine that is not started yet, and is stopped after the test."""
    engine = LocalEngine(tmp_path / "home")
    yield engine
    engine.stop()


def test_it_is_what_it_says_with_all_modules(engine: Running) -> None:
    version = ask(engine.url, "GET", "/")["version"]
    assert version["number"] == engine.version == VERSION
    assert version.get("distribution", "elasticsearch") == engine.product.lower()
    assert engine.health()["status"] in ("green", "yellow")
    (node,) = ask(engine.url, "GET", "/_nodes/plugins")["nodes"].values()
    assert {plugin["classname"] for plugin in node["plugins"]} == set(RELEASES[VERSION].plugins)


@pytest.mark.parametrize(
    ("analysis", "text", "tokens"),
    [
        ({"tokenizer": "standard", "filter": ["lowercase", "asciifolding"]}, "Café", ["cafe"]),
        ({"tokenizer": "keyword", "filter": [REPLACED]}, "a12b3", ["a#b#"]),
        ({"tokenizer": "thai"}, "ภาษาไทย", ["ภาษา", "ไทย"]),  # the Java runtime alone cannot do this
    ],
)
def test_analysis(engine: Running, analysis: dict[str, object], text: str, tokens: list[str]) -> None:
    answer = ask(engine.url, "POST", "/_analyze", {**analysis, "text": text})
    assert [token["token"] for token in answer["tokens"]] == tokens


def test_it_listens_on_this_machine_only(engine: Running) -> None:
    (node,) = engine.nodes
    assert node.process
    listening = [each.laddr for each in node.process.net_connections() if each.status == psutil.CONN_LISTEN]
    addresses = {(address.ip.removeprefix("::ffff:"), address.port) for address in listening}
    assert addresses == {("127.0.0.1", node.port), ("127.0.0.1", node.port + 100)}


@pytest.mark.check
def test_a_life(own: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own.status() is None
    assert own.stop() is None
    port = free_port()
    steps: list[str] = []
    first = own.start(VERSION, heap=HEAP, port=port, progress=lambda step, _: steps.append(step))
    assert steps[-1] == f"Starting {first.product} {VERSION}"
    assert (first.url, first.heap) == (f"http://127.0.0.1:{port}", HEAP)
    heap = ask(first.url, "GET", "/_nodes/jvm")["nodes"].popitem()[1]["jvm"]["mem"]["heap_max_in_bytes"]
    assert heap == 512 << 20
    ask(first.url, "PUT", "/kept/_doc/1", {"a": "page"})

    steps.clear()
    assert own.start(VERSION, progress=lambda step, _: steps.append(step)) == first == own.status()
    assert steps == []
    with pytest.raises(StoreError, match=f"{VERSION} with 1 node runs in .*: stop it first"):
        own.start(VERSION, nodes=2)

    os.kill(first.pids["node-1"], signal.SIGKILL)
    until(lambda: own.status() is None)
    assert first.health() == {}
    assert first.nodes[0].data_bytes > 1000

    second = own.start(VERSION, heap=HEAP, port=port, settings={"cluster.name": "another"})
    assert ask(second.url, "GET", "/kept/_doc/1")["_source"] == {"a": "page"}
    assert second.health()["cluster_name"] == "another"

    os.kill(second.pids["node-1"], signal.SIGSTOP)  # so that it does not react to SIGTERM
    monkeypatch.setattr("opensearch_winnow.stores.engine.nodes.STOP_SECONDS", 0.1)
    assert own.stop() == second
    until(lambda: not second.alive)
    assert own.status() is None


@pytest.mark.check
@pytest.mark.xdist_group("nodes")
def test_three_nodes(own: LocalEngine) -> None:
    """An engine of one node gets two more; then one node is killed and started again."""
    port = free_port(3)
    alone = own.start(VERSION, heap=HEAP, port=port)
    ask(alone.url, "PUT", "/pages", {"settings": {"number_of_shards": 1, "number_of_replicas": 2}})
    ask(alone.url, "PUT", "/pages/_doc/1?refresh=true", {"a": "page"})
    assert own.stop() == alone
    assert "closed" in Path(alone.nodes[0].log).read_text(encoding="utf-8").splitlines()[-1]

    def all_are_green(engine: Running) -> bool:
        return engine.health() == engine.health() | {"status": "green", "number_of_nodes": 3}

    running = own.start(VERSION, nodes=3, heap=HEAP, port=port)
    assert [ask(url, "GET", "/")["name"] for url in running.urls.values()] == ["node-1", "node-2", "node-3"]
    until(lambda: all_are_green(running))

    os.kill(running.pids["node-1"], signal.SIGKILL)
    until(lambda: running.health().get("number_of_nodes") == 2)
    assert [node.name for node in running.alive] == ["node-2", "node-3"]
    assert running.url == running.urls["node-2"]
    assert own.status() == running

    with pytest.raises(StoreError, match=r"with 3 nodes, of which node-1 died, runs in .*: stop it first"):
        own.start(VERSION, nodes=2)
    again = own.start()
    assert (again.urls, again.health()["number_of_nodes"]) == (running.urls, 3)
    assert {name for name, pid in again.pids.items() if pid != running.pids[name]} == {"node-1"}
    assert ask(again.urls["node-1"], "GET", "/pages/_count")["count"] == 1

    for pid in again.pids.values():
        os.kill(pid, signal.SIGKILL)
    until(lambda: own.status() is None)
    revived = own.start(settings={"cluster.name": "winnow"})
    assert (revived.urls, revived.heap, revived.version) == (again.urls, HEAP, VERSION)
    until(lambda: all_are_green(revived))
    assert ask(revived.url, "GET", "/pages/_count")["count"] == 1

    own.stop()
    with pytest.raises(StoreError, match="has the data of 3 nodes"):
        own.start(VERSION, nodes=2)


@pytest.mark.check
def test_it_ends_with_its_owner(own: LocalEngine) -> None:
    with subprocess.Popen(["sleep", "600"]) as owner:
        running = own.start(VERSION, heap=HEAP, port=free_port(), owner=owner.pid)
        owner.kill()
    until(lambda: not running.alive)


@pytest.mark.check
@pytest.mark.parametrize(
    ("heap", "settings", "words"),
    [
        (HEAP, {"no.such.setting": "1"}, r"unknown setting \[no.such.setting]"),
        ("1m", {}, "Too small"),  # for Java
    ],
)
def test_a_node_that_dies_as_it_starts(own: LocalEngine, heap: str, settings: dict[str, str], words: str) -> None:
    with pytest.raises(StoreError, match=rf"node-1 ended while it started; (.|\n)*{words}"):
        own.start(VERSION, heap=heap, port=free_port(), settings=settings)
    assert own.status() is None
    assert not own.state.exists()


@pytest.mark.check
def test_a_port_that_is_taken(own: LocalEngine) -> None:
    port = free_port(2)
    with (
        socket.create_server(("127.0.0.1", port + 1)),
        pytest.raises(StoreError, match=f"port {port + 1} is taken"),
    ):
        own.start(VERSION, port=port, nodes=2, heap=HEAP)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"version": "1.0.0"}, "version is one of 3.8.0, 2.19.1, 7.10.2, not '1.0.0'"),
        ({"heap": "1000000g"}, r"[\d,]+ MB of heap are wanted, but only [\d,]+ MB of memory are free"),
        ({"heap": "much"}, "'much' is not a valid heap size"),
        ({"nodes": 0}, "nodes is a whole number from 1 to 99, not 0"),
    ],
)
def test_what_cannot_be(own: LocalEngine, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(StoreError, match=complaint):
        own.start(**options)
    assert own.status() is None


def test_what_it_cannot_write_or_read(own: LocalEngine, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"
    with pytest.raises(StoreError, match=f"{re.escape(str(home))} cannot be written"):
        LocalEngine(home).start()
    own.home.mkdir()
    own.state.write_text("{}")
    with pytest.raises(StoreError, match=r"engine.json was not written by winnow engine"):
        own.status()
    own.state.unlink()


def test_a_process_that_is_not_ours_is_left_alone(own: LocalEngine) -> None:
    own.home.mkdir()
    with subprocess.Popen(["sleep", "600"]) as other:
        Running("3.8.0", "OpenSearch", "25", HEAP, (EngineNode("node-1", 9, "/node-1", other.pid),)).write(own.state)
        assert own.status() is None
        assert own.stop() is None
        assert other.poll() is None
        other.kill()


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WINNOW_ENGINE_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_home() == tmp_path / "opensearch-winnow" / "engine"
    monkeypatch.setenv("WINNOW_ENGINE_HOME", str(tmp_path / "elsewhere"))
    assert default_home() == tmp_path / "elsewhere" == LocalEngine().home
