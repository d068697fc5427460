"""Plans, starts and stops the processes of nodes."""

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
from opensearch_winnow.stores.engine.node_process import NodePlan
from opensearch_winnow.stores.engine.ports import HOST, TRANSPORT_OFFSET, free_port
from opensearch_winnow.stores.engine.releases import Release
from opensearch_winnow.stores.engine.running import EngineNode, Running
from opensearch_winnow.stores.store import StoreError

START_SECONDS = 300.0  # for nodes to answer and find each other
RECOVERY_SECONDS = 60.0  # for nodes to find their data when all have joined
STOP_SECONDS = 60.0  # for nodes to close their files
POLL_SECONDS = 0.1
MAX_LOG_LINES = 4  # shown of a node that failed

LOG_SETTINGS = """\
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %-5p %c{1.} %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


def make_plan(release: Release, class_path: list[Path], heap: str, rehearsing: Callable[[], None]) -> NodePlan:
    """Return the plan that all nodes share. The first time, this creates the cache for fast starts."""
    plan = NodePlan(
        library=str(java.LIBRARY),
        flags=[*java.FLAGS, f"-Xms{heap}", f"-Xmx{heap}"],
        class_path=list(map(str, class_path)),
        package=release.package,
        node=release.node,
        plugins=list(release.plugins),
        settings={"cluster.name": "winnow", "network.host": HOST} | release.settings,
    )

    def rehearse(cache: Path) -> bool:
        rehearsing()
        with tempfile.TemporaryDirectory() as name:
            rehearsal = replace(plan, flags=[*java.FLAGS, "-Xmx512m", f"-XX:AOTCacheOutput={cache}"], rehearsal=True)
            node = EngineNode("rehearsal", free_port(), f"{name}/node")
            write_plan(rehearsal, node, {"discovery.type": "single-node"})
            with Path(node.log).open("w") as log:
                done = subprocess.run(_command(node), stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        return done.returncode == 0 and cache.exists()

    return replace(plan, flags=[*plan.flags, *java.aot_cache_flags(release.version, class_path, rehearse)])


def write_plan(plan: NodePlan, node: EngineNode, settings: Mapping[str, str]) -> None:
    """Write the plan of one node, with its own settings, to the file that its process reads."""
    config = Path(node.folder) / "config"
    config.mkdir(parents=True, exist_ok=True)
    log_settings = config / "log4j2.properties"
    log_settings.write_text(LOG_SETTINGS, encoding="utf-8")
    own = {
        "node.name": node.name,
        "path.home": node.folder,
        "http.port": str(node.port),
        "transport.port": str(node.port + TRANSPORT_OFFSET),
    }
    flags = [*plan.flags, f"-Dlog4j.configurationFile={log_settings.as_uri()}"]
    replace(plan, flags=flags, settings=plan.settings | own | dict(settings)).write(Path(node.plan))


def start_node(node: EngineNode) -> EngineNode:
    """Start a node in a session of its own: it outlives the terminal, and Ctrl-C does not reach it."""
    command = _command(node)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, node.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)
    with suppress(psutil.ZombieProcess):  # it may have ended already
        while not psutil.Process(pid).cmdline():  # which identifies it, and is set a moment later
            time.sleep(0.001)
    return replace(node, pid=pid)


def wait_until_up(running: Running) -> None:
    """Wait until every node answers, all have joined, and they have their data or RECOVERY_SECONDS have passed."""
    count = len(running.nodes)
    deadline = time.monotonic() + START_SECONDS
    while not all(node.ask("/") for node in running.nodes):
        _wait(running, deadline)
    while running.health().get("number_of_nodes", 0) < count:
        _wait(running, deadline)
    deadline = min(deadline, time.monotonic() + RECOVERY_SECONDS)
    while running.health().get("status") not in ("green", "yellow") and time.monotonic() < deadline:
        _wait(running, deadline + POLL_SECONDS)


def stop_nodes(nodes: Iterable[EngineNode]) -> None:
    """Ask the nodes to stop, wait for them, and kill any that still runs."""
    left = [process for node in nodes if (process := node.process)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        _, left = psutil.wait_procs(left, timeout=STOP_SECONDS)


def _wait(running: Running, deadline: float) -> None:
    for node in running.nodes:
        if not node.process:
            raise StoreError(f"{node.name} ended while it started; {_end_of_log(node)}")
    if time.monotonic() > deadline:
        raise StoreError(
            f"the nodes did not form a cluster within {START_SECONDS:.0f} s; {_end_of_log(running.nodes[0])}"
        )
    time.sleep(POLL_SECONDS)


def _end_of_log(node: EngineNode) -> str:
    lines = Path(node.log).read_text(encoding="utf-8", errors="replace").splitlines()
    warnings = [line for line in lines if " INFO " not in line]
    return "\n".join((f"from its log, {node.log}:", *(warnings or lines)[-MAX_LOG_LINES:]))


def _command(node: EngineNode) -> list[str]:
    return [sys.executable, "-P", "-m", "opensearch_winnow.stores.engine.node_process", node.plan]
