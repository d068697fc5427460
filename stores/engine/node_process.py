"""Runs one node in a process of its own: `python -m …node_process node.json` starts a Java virtual machine in Python.

The node runs until the process gets a SIGTERM, or until the owner, the process that it was started for, has ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import psutil

SIGNALS = (signal.SIGTERM, signal.SIGINT)
OWNER_POLL_SECONDS = 1.0
CLOSE_SECONDS = 20  # for a node to close its files


@dataclass(frozen=True, slots=True)
class NodePlan:
    """The parameters of a node's process, which it reads from a file."""

    library: str  # path of libjvm
    flags: list[str]
    class_path: list[str]
    package: str  # Java package of the engine's classes
    node: str  # Java class of the node
    plugins: list[str]  # Java classes
    settings: dict[str, str]
    owner: int | None = None  # process id
    rehearsal: bool = False  # stop as soon as the node is up

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Self:
        return cls(**json.loads(file.read_text(encoding="utf-8")))


def run(plan: NodePlan) -> None:
    """Run a node until it has to stop."""
    up, stop_requested = threading.Event(), threading.Event()
    threading.Thread(target=_wait_for_signals, args=(_signal_pipe(), up, stop_requested), daemon=True).start()
    node = start(plan)
    up.set()
    if not plan.rehearsal:
        _wait_for_the_end(stop_requested, plan.owner)
    close(node)


def start(plan: NodePlan) -> Any:
    """Start a node, and return it when it answers."""
    import jpype  # noqa: PLC0415 (slow, and not needed to write a plan)

    jpype.startJVM(plan.library, *plan.flags, classpath=plan.class_path, interrupt=False)
    settings = jpype.JClass(f"{plan.package}.common.settings.Settings").builder()
    for name, value in plan.settings.items():
        settings.put(name, value)
    environment = jpype.JClass(f"{plan.package}.node.InternalSettingsPreparer").prepareEnvironment(
        settings.build(),
        jpype.java.util.HashMap(),
        None,
        jpype.JProxy("java.util.function.Supplier", {"get": lambda: plan.settings["node.name"]}),
    )
    plugins = jpype.java.util.ArrayList([jpype.JClass(plugin).class_ for plugin in plan.plugins])
    node = jpype.JClass(plan.node)(environment, plugins)
    node.start()
    return node


def close(node: Any) -> None:
    import jpype  # noqa: PLC0415

    node.close()
    node.awaitClose(CLOSE_SECONDS, jpype.java.util.concurrent.TimeUnit.SECONDS)


def _signal_pipe() -> int:
    """Return a pipe that receives a byte for each signal.

    It works whichever thread a signal reaches: Java has dozens, and Python's own thread is blocked while a node starts.
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    return read


def _wait_for_signals(signals: int, up: threading.Event, stop_requested: threading.Event) -> None:
    os.read(signals, 1)
    if not up.is_set():
        os._exit(1)  # safe, because nothing has been written yet
    stop_requested.set()


def _wait_for_the_end(stop_requested: threading.Event, owner: int | None) -> None:
    if owner is None:
        stop_requested.wait()
        return
    try:
        process = psutil.Process(owner)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if stop_requested.wait(OWNER_POLL_SECONDS):
                break
    except psutil.NoSuchProcess:
        pass


def main() -> None:
    file = Path(sys.argv[1])
    os.chdir(file.parent)  # Java writes crash reports to the working directory
    try:
        run(NodePlan.read(file))
    except Exception as error:
        sys.exit(str(error))  # the message of a Java exception includes its causes


if __name__ == "__main__":
    main()
