"""The process of one node: a Java virtual machine within Python. `python -m …node_process node.json` runs it.

It goes on until it is told to end (SIGTERM), or its owner, a process that it was started for, is gone.
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
LOOK_EVERY = 1.0  # seconds, at the owner
CLOSING = 20  # seconds that a node gets to close its files


@dataclass(frozen=True, slots=True)
class NodePlan:
    """All that the process has to know."""

    library: str  # of the virtual machine
    flags: list[str]
    class_path: list[str]
    package: str  # of the engine's classes
    node: str
    plugins: list[str]
    settings: dict[str, str]
    owner: int | None = None
    rehearsal: bool = False  # end as soon as it is up

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Self:
        return cls(**json.loads(file.read_text(encoding="utf-8")))


def run(plan: NodePlan) -> None:
    up, told_to_end = threading.Event(), threading.Event()
    threading.Thread(target=_wait_for_signals, args=(_signals(), up, told_to_end), daemon=True).start()
    node = start(plan)
    up.set()
    if not plan.rehearsal:
        _wait_for_the_end(told_to_end, plan.owner)
    close(node)


def start(plan: NodePlan) -> Any:
    """The node, as soon as it answers."""
    import jpype  # noqa: PLC0415 (slow, and who only writes a plan does not need it)

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
    node.awaitClose(CLOSING, jpype.java.util.concurrent.TimeUnit.SECONDS)


def _signals() -> int:
    """A pipe that tells of them, whichever thread they reach: Java has dozens, and while one starts Python's waits."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    return read


def _wait_for_signals(signals: int, up: threading.Event, told_to_end: threading.Event) -> None:
    os.read(signals, 1)
    if not up.is_set():
        os._exit(1)  # nobody has written anything yet
    told_to_end.set()


def _wait_for_the_end(told_to_end: threading.Event, owner: int | None) -> None:
    if owner is None:
        told_to_end.wait()
        return
    try:
        process = psutil.Process(owner)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE and not told_to_end.wait(LOOK_EVERY):
            pass
    except psutil.NoSuchProcess:
        pass


def main() -> None:
    file = Path(sys.argv[1])
    os.chdir(file.parent)  # where Java leaves its reports if it crashes
    try:
        run(NodePlan.read(file))
    except Exception as error:
        sys.exit(str(error))  # Java's say what caused them


if __name__ == "__main__":
    main()
