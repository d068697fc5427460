"""An engine of three nodes in trouble: what is said while it lasts, and that nothing is lost while pages are loaded."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Index, Scheme, StoreError
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up
from tests.stores.opensearch.own_articles import text
from tests.stores.opensearch.split_network import SplitNetwork
from tests.stores.opensearch.two_crawls import contents, write_lines

pytestmark = pytest.mark.xdist_group("nodes")

PAGES_PER_FILE = 400
MIN_FILES = 6


def address(engine: Running, name: str) -> str:
    return f"http://{','.join(url.removeprefix('http://') for url in engine.urls.values())}/{name}"


def revive(engine: Running) -> Running:
    """Start the nodes that have died, as `winnow engine start --home` does, and wait until all data is there."""
    running = LocalEngine(Path(engine.nodes[0].folder).parents[1]).start(owner=os.getpid())
    end = time.monotonic() + 300
    with OpenSearch(running.url, timeout=60) as client:
        while running.health().get("status") != "green":
            assert time.monotonic() < end, (running.health(), client.cat.shards())
            client.cluster.reroute(params={"retry_failed": "true"})  # an engine gives up after five failures
            time.sleep(0.5)
    return running


def source(folder: Path, number: int) -> Path:
    """Write a file of pages. A third of them has been in the file before, with another text."""
    file = folder / f"{number}.jsonl"
    first = number * PAGES_PER_FILE - PAGES_PER_FILE // 3
    pages, day = range(first, first + PAGES_PER_FILE), f"{2000 + number}-01-01T00:00:00Z"
    write_lines(file, ((f"http://site.example/{max(page, 0)}", text((number, page)), day) for page in pages))
    return file


@pytest.mark.soak
def test_what_is_said_when_most_nodes_are_dead(start_engine: Callable[..., Running], tmp_path: Path) -> None:
    engine = start_engine(nodes=3)
    name = address(engine, "pages")
    with OpenSearch(list(engine.urls.values()), timeout=60) as client:
        set_up(client, "pages", Scheme(), shards=3, replicas=1)
    with Index.open(name) as index:
        index.index(source(tmp_path, 1), workers=1, failed=tmp_path / "failed.jsonl")
        pages = index.store.count()
        for victim in ("node-2", "node-3"):
            os.kill(engine.pids[victim], signal.SIGKILL)
        unavailable, no_manager = "a part of the index is not available", "the cluster has no manager"
        with pytest.raises(StoreError, match=f"cannot be read: {unavailable}"):
            index.search("words")
        # The index of the settings may have been on the dead nodes, or on the one that is left, which may wait.
        with pytest.raises(StoreError, match=f"cannot be written: ({no_manager}|{unavailable}|no answer in time)"):
            index.store.settings.set({"a": 1})
    for create in (False, True):
        with pytest.raises(StoreError, match=f"cannot be opened: {no_manager}"):
            Index.open(name, create=create)
    only_dead = engine.urls["node-2"].replace("http://", f"http://127.0.0.1:{engine.nodes[2].port},")
    with pytest.raises(StoreError, match="none of its 2 nodes is reachable"):
        Index.open(f"{only_dead}/pages", create=False)
    revive(engine)
    with Index.open(name, create=False) as index:
        assert index.store.count() == pages == len(list(index.store.scan(Card)))


class Trouble:
    def __init__(self, engine: Running) -> None:
        self.engine = engine
        self._random = Random(0)

    def kill_a_node(self) -> None:
        self._kill(self._random.choice(self.engine.alive).pid)

    def kill_the_manager(self) -> None:
        self._kill(self.engine.pids[self.manager()])

    def pause_a_node(self) -> None:
        self._pause(self._random.choice(self.engine.alive).pid)

    def pause_the_manager(self) -> None:
        self._pause(self.engine.pids[self.manager()])

    def restart_all(self) -> None:
        self._kill(*self.engine.pids.values(), seconds=2)

    def _kill(self, *pids: int, seconds: float = 5) -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        time.sleep(seconds)
        self.engine = revive(self.engine)

    def _pause(self, pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(20)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.engine = revive(self.engine)

    def manager(self) -> str:
        with OpenSearch(self.engine.url, timeout=60) as client:
            return str(client.cat.cluster_manager(format="json")[0]["node"])


@pytest.mark.soak
@pytest.mark.parametrize(
    "harm", ["kill_a_node", "kill_the_manager", "pause_a_node", "pause_the_manager", "restart_all"]
)
def test_nothing_is_lost_while_pages_are_loaded(
    start_engine: Callable[..., Running], tmp_path: Path, harm: str, record_property: Callable[[str, int], None]
) -> None:
    engine = start_engine(nodes=3)
    load_during(engine, getattr(Trouble(engine), harm), tmp_path, record_property)


@pytest.mark.soak
@pytest.mark.parametrize("who", ["a node", "the manager"])
def test_nothing_is_lost_while_the_network_is_split(
    start_engine: Callable[..., Running], tmp_path: Path, who: str, record_property: Callable[[str, int], None]
) -> None:
    """One node is cut off from the two others; all three can be reached by their clients."""
    first = start_engine(nodes=3)
    with SplitNetwork(first) as network:
        engine = network.lead_through(lambda: revive(first))
        trouble = Trouble(engine)

        def split() -> None:
            manager = trouble.manager()
            alone = manager if who == "the manager" else next(name for name in engine.pids if name != manager)
            network.split([alone])
            others = [node for node in engine.nodes if node.name != alone]
            end = time.monotonic() + 120
            # The others notice after half a minute that a node does not answer.
            while others[0].ask("/_cluster/health?master_timeout=1s").get("number_of_nodes") != len(others):
                assert time.monotonic() < end
                time.sleep(1)
            time.sleep(10)
            network.heal()
            revive(engine)

        load_during(engine, split, tmp_path, record_property)


def load_during(
    engine: Running, harm: Callable[[], None], folder: Path, record_property: Callable[[str, int], None]
) -> None:
    """Load pages before, during and after the trouble. Questions meanwhile are answered or fail in a sentence."""
    name = address(engine, "pages")
    with OpenSearch(list(engine.urls.values()), timeout=60) as client:
        for each in ("pages", "undisturbed"):
            set_up(client, each, Scheme(), shards=3, replicas=1)
    over, complaints = Event(), []

    def do_harm() -> None:
        time.sleep(3)
        harm()
        over.set()

    def ask() -> None:
        while not over.is_set():
            try:
                with Index.open(name, create=False) as index:
                    assert len(list(index.store.scan(Card))) >= 0
            except StoreError as error:
                complaints.append(str(error))
            over.wait(0.5)

    threads = [Thread(target=do_harm), Thread(target=ask)]
    files: list[Path] = []
    with Index.open(name, patient=True) as index:
        for thread in threads:
            thread.start()
        while not over.is_set() or len(files) < MIN_FILES:
            assert all(thread.is_alive() for thread in threads) or over.is_set()
            files.append(source(folder, len(files) + 1))
            report = index.index(files[-1], workers=1, failed=folder / "failed.jsonl")
            assert (report.indexed, len(report.failed)) == (PAGES_PER_FILE, 0)
    for thread in threads:
        thread.join()
    assert all(" cannot be " in each for each in complaints)
    record_property("pages acknowledged", len(files) * PAGES_PER_FILE)
    record_property("questions that failed", len(complaints))
    with Index.open(address(engine, "undisturbed"), patient=True) as index:
        for file in files:
            index.index(file, workers=1, failed=folder / "failed.jsonl")
    with OpenSearch(list(engine.urls.values()), timeout=60) as client:
        loaded, undisturbed = (dict(contents(client, each)["pages"]) for each in ("pages", "undisturbed"))
    assert loaded == undisturbed
