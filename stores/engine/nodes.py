"""Nodes as processes: what each is told, how it is started, and how it is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil

from opensearch_winnow.stores.engine import java
from opensearch_winnow.stores.engine.fast_start import fast_start
from opensearch_winnow.stores.engine.node_process import NodePlan
from opensearch_winnow.stores.engine.ports import HOST, TRANSPORT, free_port
from opensearch_winnow.stores.engine.releases import Release
from opensearch_winnow.stores.engine.running import Node, Running
from opensearch_winnow.stores.store import StoreError

STARTING = 300.0  # seconds that nodes get to find each other
RED = 60.0  # seconds that a cluster whose nodes are all there gets to find its data
CLOSING = 60.0  # seconds that they get to close their files
LOOK_EVERY = 0.1
LOG_LINES = 4  # of a node that failed

LOG_SETTINGS = """\
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %-5p %c{1.} %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


def plan_of(release: Release, class_path: list[Path], heap: str, rehearsing: Callable[[], None]) -> NodePlan:
    """What all nodes of an engine are told, with the cache that makes them start fast: the first time it is made."""
    plan = NodePlan(
        library=str(java.LIBRARY),
        flags=[*java.FLAGS, f"-Xms{heap}", f"-Xmx{heap}"],
        class_path=list(map(str, class_path)),
        package=release.package,
        node=release.node,
        plugins=list(release.plugins),
        settings={"cluster.name": "winnow", "network.host": HOST},
    )

    def rehearse(cache: Path) -> bool:
        rehearsing()
        with tempfile.TemporaryDirectory() as name:
            told = replace(plan, flags=[*java.FLAGS, "-Xmx512m", f"-XX:AOTCacheOutput={cache}"], rehearsal=True)
            node = Node("rehearsal", free_port(), f"{name}/node")
            write_plan(told, node, {"discovery.type": "single-node"})
            with Path(node.log).open("w") as log:
                done = subprocess.run(_command(node), stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        return done.returncode == 0 and cache.exists()

    return replace(plan, flags=[*plan.flags, *fast_start(release.version, class_path, rehearse)])


def write_plan(plan: NodePlan, node: Node, settings: Mapping[str, str]) -> None:
    """Tell one node all."""
    config = Path(node.folder) / "config"
    config.mkdir(parents=True, exist_ok=True)
    log_settings = config / "log4j2.properties"
    log_settings.write_text(LOG_SETTINGS, encoding="utf-8")
    own = {
        "node.name": node.name,
        "path.home": node.folder,
        "http.port": str(node.port),
        "transport.port": str(node.port + TRANSPORT),
    }
    flags = [*plan.flags, f"-Dlog4j.configurationFile={log_settings.as_uri()}"]
    replace(plan, flags=flags, settings=plan.settings | own | dict(settings)).write(Path(node.plan))


def start_node(node: Node) -> Node:
    """In a session of its own: it outlives the terminal, and Ctrl-C is not for it."""
    command = _command(node)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, node.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)
    with suppress(psutil.ZombieProcess):  # it may have ended already
        while not psutil.Process(pid).cmdline():  # by which it is known, a moment later
            time.sleep(0.001)
    return replace(node, pid=pid)


def wait_until_up(running: Running) -> None:
    """Until every node answers, and all are in one cluster that has its data, or says that it has lost some."""
    count = len(running.nodes)
    until = time.monotonic() + STARTING
    while not all(node.ask("/") for node in running.nodes):
        _wait(running, until)
    while running.health().get("number_of_nodes", 0) < count:
        _wait(running, until)
    until = min(until, time.monotonic() + RED)
    while running.health().get("status") not in ("green", "yellow") and time.monotonic() < until:
        _wait(running, until + LOOK_EVERY)


def end_nodes(nodes: Iterable[Node]) -> None:
    """Ask them to end, wait, and end those that do not."""
    left = [process for node in nodes if (process := node.process)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        _, left = psutil.wait_procs(left, timeout=CLOSING)


def _wait(running: Running, until: float) -> None:
    for node in running.nodes:
        if not node.process:
            raise StoreError(f"{node.name} ended while it started; {_end_of_log(node)}")
    if time.monotonic() > until:
        raise StoreError(f"the nodes did not come together within {STARTING:.0f} s; {_end_of_log(running.nodes[0])}")
    time.sleep(LOOK_EVERY)


def _end_of_log(node: Node) -> str:
    lines = Path(node.log).read_text(encoding="utf-8", errors="replace").splitlines()
    worrying = [line for line in lines if " INFO " not in line]
    return "\n".join((f"from its log, {node.log}:", *(worrying or lines)[-LOG_LINES:]))


def _command(node: Node) -> list[str]:
    return [sys.executable, "-P", "-m", "opensearch_winnow.stores.engine.node_process", node.plan]
