"""An engine on this machine: started, asked how it is, and stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fcntl import LOCK_EX, flock
from pathlib import Path

import platformdirs
import psutil

from opensearch_winnow.stores.engine import java
from opensearch_winnow.stores.engine.jars import jars, local_files
from opensearch_winnow.stores.engine.nodes import end_nodes, plan_of, start_node, wait_until_up, write_plan
from opensearch_winnow.stores.engine.ports import HOST, TRANSPORT, is_free, ports_of
from opensearch_winnow.stores.engine.releases import DEFAULT, RELEASES, Release
from opensearch_winnow.stores.engine.running import Node, Running
from opensearch_winnow.stores.store import StoreError

PORT = 9200
HEAP = "1g"
HOME = "WINNOW_ENGINE_HOME"
RELEASED = 3.0  # seconds: a node that was killed a moment ago may have its port still
# A laptop's disk is often fuller than what makes an engine refuse to write.
LOCAL = {"cluster.routing.allocation.disk.threshold_enabled": "false"}

Progress = Callable[[str, float | None], None]  # what is being done, and how much of it is


def default_home() -> Path:
    return Path(os.environ.get(HOME) or platformdirs.user_data_path("opensearch-winnow") / "engine")


class LocalEngine:
    """One engine at a time has its data, its logs and the numbers of its processes in `home`."""

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = Path(home or default_home()).absolute()
        self.state = self.home / "engine.json"

    def start(
        self,
        version: str = DEFAULT,
        *,
        nodes: int = 1,
        heap: str = HEAP,
        port: int = PORT,
        settings: Mapping[str, str] | None = None,
        owner: int | None = None,
        progress: Progress = lambda _what, _share: None,
    ) -> Running:
        """Start the nodes that do not run yet, and wait until all answer. They end with the process `owner`."""
        if version not in RELEASES:
            raise StoreError(f"there is no version {version} to start; there are {', '.join(RELEASES)}")
        with self._locked():
            running = self.status()
            if running is None:
                running = self._planned(RELEASES[version], nodes, heap, port, settings or {}, owner, progress)
            elif (running.version, len(running.nodes)) != (version, nodes):
                raise StoreError(
                    f"{_described(running)} runs in {self.home}: stop it first, or start this one elsewhere"
                )
            return self._started(running, progress)

    def status(self) -> Running | None:
        """What runs; None if nothing does."""
        running = Running.read(self.state)
        return running if running and running.alive else None

    def stop(self) -> Running | None:
        """End all that runs, and tell what it was."""
        if not self.home.exists():
            return None
        with self._locked():
            running = self.status()
            if running:
                end_nodes(running.nodes)
            self.state.unlink(missing_ok=True)
            return running

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """While somebody starts or stops it, others wait."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            lock = (self.home / "lock").open("w")
        except OSError as error:
            raise StoreError(f"{self.home} cannot be written ({error.strerror}): name another folder") from error
        with lock:
            flock(lock, LOCK_EX)
            yield

    def _planned(
        self,
        release: Release,
        count: int,
        heap: str,
        port: int,
        settings: Mapping[str, str],
        owner: int | None,
        progress: Progress,
    ) -> Running:
        """All that has to be there before the first process is."""
        home = self.home / release.version
        formed = home / "formed"
        before = int(formed.read_text()) if formed.exists() else 0
        if before > count:
            raise StoreError(f"{home} has the data of {before} nodes: start so many, or name another folder")
        _check(count, heap, port)

        def fetched(so_far: int, total: int) -> None:
            progress(f"Fetching {total / 1e6:,.0f} MB of {release.product} {release.version}", so_far / total)

        files = local_files(jars(release.version), fetched)
        plan = replace(
            plan_of(release, files, heap, lambda: progress("Rehearsing, for fast starts", None)), owner=owner
        )
        nodes = [Node(f"node-{number + 1}", port + number, str(home / f"node-{number + 1}")) for number in range(count)]
        cluster = LOCAL | {"discovery.seed_hosts": ",".join(f"{HOST}:{node.port + TRANSPORT}" for node in nodes)}
        if not before:  # else a second cluster could form beside the first
            cluster[release.first_managers] = ",".join(node.name for node in nodes)
        for node in nodes:
            write_plan(plan, node, cluster | dict(settings))
        return Running(release.version, release.product, java.VERSION, heap, tuple(nodes))

    def _started(self, running: Running, progress: Progress) -> Running:
        alive = running.alive
        if len(alive) < len(running.nodes):
            progress(f"Starting {running.product} {running.version}", None)
        try:
            for node in running.nodes:
                if node not in alive:
                    running = running.with_node(start_node(node))
                    running.write(self.state)
            wait_until_up(running)
        except BaseException:  # Ctrl-C too
            end_nodes(node for node in running.nodes if node not in alive)
            if not alive:
                self.state.unlink(missing_ok=True)
            raise
        (self.home / running.version / "formed").write_text(str(len(running.nodes)))
        return running


def _check(nodes: int, heap: str, port: int) -> None:
    if nodes < 1:
        raise StoreError("an engine has at least one node")
    needed = nodes * java.heap_bytes(heap)
    free = psutil.virtual_memory().available
    if needed > free:
        raise StoreError(
            f"{needed >> 20:,} MB of heap are wanted, and {free >> 20:,} MB of memory are free: "
            "give the nodes a smaller heap, or start fewer"
        )
    until = time.monotonic() + RELEASED
    while taken := [each for each in ports_of(port, nodes) if not is_free(each)]:
        if time.monotonic() > until:
            raise StoreError(f"port {taken[0]} is taken by another program: end it, or choose another port")
        time.sleep(0.1)


def _described(running: Running) -> str:
    count = len(running.nodes)
    return f"{running.product} {running.version} with {count} node{'s' if count > 1 else ''}"
