"""Starts and stops an engine on this machine, and reports its status."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fcntl import LOCK_EX, flock
from pathlib import Path

import platformdirs
import psutil

from opensearch_winnow.foundation.keywords import takes
from opensearch_winnow.stores.engine import java
from opensearch_winnow.stores.engine.jars import jars, local_files
from opensearch_winnow.stores.engine.nodes import make_plan, start_node, stop_nodes, wait_until_up, write_plan
from opensearch_winnow.stores.engine.options import (
    DEFAULT_HEAP,
    DEFAULT_PORT,
    HOME_VARIABLE,
    EngineOptions,
    Progress,
)
from opensearch_winnow.stores.engine.ports import HOST, TRANSPORT_OFFSET, is_free, ports_of
from opensearch_winnow.stores.engine.releases import DEFAULT, RELEASES, Release
from opensearch_winnow.stores.engine.running import EngineNode, Running
from opensearch_winnow.stores.store import StoreError

PORT_RELEASE_SECONDS = 3.0  # within which the port of a node that was just killed becomes free
# By default an engine refuses to write to a disk that is nearly full, as that of a laptop often is.
LOCAL_SETTINGS = {"cluster.routing.allocation.disk.threshold_enabled": "false"}


def default_home() -> Path:
    """Return the folder that the environment names, or the one in the user's data folder."""
    return Path(os.environ.get(HOME_VARIABLE) or platformdirs.user_data_path("opensearch-winnow") / "engine")


class LocalEngine:
    """An engine whose data, logs and process ids are in the folder `home`. A folder has one engine at a time."""

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = Path(home or default_home()).absolute()
        self.state = self.home / "engine.json"

    @takes(EngineOptions)
    def start(self, options: EngineOptions) -> Running:
        """Start the nodes that do not run yet, and wait until all answer. They stop when the process `owner` ends.

        If nodes of this folder have died, options that are None keep their values of the last start. Otherwise the
        defaults are the newest version, as many nodes as the folder has data of, or one, DEFAULT_PORT and DEFAULT_HEAP.
        """
        version, nodes = options.version, options.nodes
        with self._locked():
            before = Running.read(self.state)
            running = before if before and before.alive else None
            if running is None:
                release = RELEASES[version or (before.version if before else DEFAULT)]
                count = nodes if nodes is not None else self._nodes_before(release) or 1
                heap = options.heap or (before.heap if before else DEFAULT_HEAP)
                port = options.port or (before.nodes[0].port if before else DEFAULT_PORT)
                running = self._prepare(
                    release, count, heap, port, options.settings or {}, options.owner, options.progress
                )
            elif (version or running.version, nodes or len(running.nodes)) != (running.version, len(running.nodes)):
                raise StoreError(
                    f"{_description(running)} runs in {self.home}: stop it first, or start this one elsewhere"
                )
            return self._start(running, options.progress)

    def status(self) -> Running | None:
        """Return the running engine; None if none runs."""
        running = Running.read(self.state)
        return running if running and running.alive else None

    def stop(self) -> Running | None:
        """Stop all nodes, and return the engine that ran; None if none did."""
        if not self.home.exists():
            return None
        with self._locked():
            running = self.status()
            if running:
                stop_nodes(running.nodes)
            self.state.unlink(missing_ok=True)
            return running

    def _nodes_before(self, release: Release) -> int:
        """Return the number of nodes of the last start; 0 if there was none."""
        formed = self.home / release.version / "formed"
        return int(formed.read_text()) if formed.exists() else 0

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Make other processes that start or stop this engine wait."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            lock = (self.home / "lock").open("w")
        except OSError as error:
            raise StoreError(f"{self.home} cannot be written ({error.strerror}): name another folder") from error
        with lock:
            flock(lock, LOCK_EX)
            yield

    def _prepare(
        self,
        release: Release,
        count: int,
        heap: str,
        port: int,
        settings: Mapping[str, str],
        owner: int | None,
        progress: Progress,
    ) -> Running:
        """Download the jars and write the plans of the nodes."""
        home = self.home / release.version
        before = self._nodes_before(release)
        if before > count:
            raise StoreError(f"{home} has the data of {before} nodes: start {before} nodes, or name another folder")
        _check_resources(count, heap, port)

        def show_fetched(so_far: int, total: int) -> None:
            progress(f"Fetching {total / 1e6:,.0f} MB of {release.product} {release.version}", so_far / total)

        files = local_files(jars(release), show_fetched)
        if release.winnow_jar is not None:
            files.insert(0, release.winnow_jar)
        plan = replace(
            make_plan(release, files, heap, lambda: progress("Rehearsing, for fast starts", None)), owner=owner
        )
        nodes = [
            EngineNode(f"node-{number + 1}", port + number, str(home / f"node-{number + 1}")) for number in range(count)
        ]
        seed_hosts = ",".join(f"{HOST}:{node.port + TRANSPORT_OFFSET}" for node in nodes)
        engine_settings = LOCAL_SETTINGS | {"discovery.seed_hosts": seed_hosts}
        if not before:  # on a later start, this setting could form a second engine beside the first
            engine_settings[release.initial_managers] = ",".join(node.name for node in nodes)
        for node in nodes:
            write_plan(plan, node, engine_settings | dict(settings))
        return Running(release.version, release.product, java.VERSION, heap, tuple(nodes))

    def _start(self, running: Running, progress: Progress) -> Running:
        alive = running.alive
        if len(alive) < len(running.nodes):
            progress(f"Starting {running.product} {running.version}", None)
        try:
            for node in running.nodes:
                if node not in alive:
                    running = running.with_node(start_node(node))
                    running.write(self.state)
            wait_until_up(running)
        except BaseException:  # including Ctrl-C
            stop_nodes(node for node in running.nodes if node not in alive)
            if not alive:
                self.state.unlink(missing_ok=True)
            raise
        (self.home / running.version / "formed").write_text(str(len(running.nodes)))
        return running


def _check_resources(nodes: int, heap: str, port: int) -> None:
    needed = nodes * java.heap_bytes(heap)
    free = psutil.virtual_memory().available
    if needed > free:
        raise StoreError(
            f"{needed >> 20:,} MB of heap are wanted, but only {free >> 20:,} MB of memory are free: "
            "give the nodes a smaller heap, or start fewer"
        )
    deadline = time.monotonic() + PORT_RELEASE_SECONDS
    while taken := [each for each in ports_of(port, nodes) if not is_free(each)]:
        if time.monotonic() > deadline:
            raise StoreError(f"port {taken[0]} is taken by another program: stop it, or choose another port")
        time.sleep(0.1)


def _description(running: Running) -> str:
    count = len(running.nodes)
    dead = [node.name for node in running.nodes if node not in running.alive]
    nodes = f"{running.product} {running.version} with {count} node{'s' if count > 1 else ''}"
    return f"{nodes}, of which {' and '.join(dead)} died," if dead else nodes
