"""Describes a running engine and its nodes, and stores that in a file."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self

import psutil

from opensearch_winnow.stores.engine.ports import HOST
from opensearch_winnow.stores.store import StoreError

TIMEOUT_SECONDS = 10.0  # for a node to answer


@dataclass(frozen=True, slots=True)
class EngineNode:
    """A node of an engine, which is a process."""

    name: str
    port: int
    folder: str  # with its data
    pid: int = 0

    @property
    def plan(self) -> str:
        """The file with the parameters of the node's process."""
        return f"{self.folder}/node.json"

    @property
    def log(self) -> str:
        """The file with its log."""
        return f"{self.folder}.log"

    @property
    def url(self) -> str:
        """The address of the node."""
        return f"http://{HOST}:{self.port}"

    @property
    def process(self) -> psutil.Process | None:
        """The process of the node; None if it has ended, even if another process has the same id by now."""
        try:
            process = psutil.Process(self.pid)
            return process if self.plan in process.cmdline() else None
        except psutil.Error:
            return None

    @property
    def data_bytes(self) -> int:
        """The size of the node's data on disk."""
        total = 0
        for file in Path(self.folder).glob("data/**/*"):
            with suppress(FileNotFoundError):  # a merge has deleted it in the meantime
                total += file.lstat().st_size if file.is_file() else 0
        return total

    def ask(self, path: str) -> dict[str, Any]:
        """Return the JSON answer to a GET request; empty if the node does not answer."""
        connection = HTTPConnection(HOST, self.port, timeout=TIMEOUT_SECONDS)  # unlike requests, it uses no proxy
        try:
            connection.request("GET", path)
            answer = json.loads(connection.getresponse().read())
        except (OSError, HTTPException, ValueError):
            return {}
        finally:
            connection.close()
        return answer if isinstance(answer, dict) else {}


@dataclass(frozen=True, slots=True)
class Running:
    """An engine that was started. Some nodes may have died since then: see `alive`."""

    version: str
    product: str
    java: str
    heap: str
    nodes: tuple[EngineNode, ...]

    @property
    def alive(self) -> tuple[EngineNode, ...]:
        """The nodes whose process runs."""
        return tuple(node for node in self.nodes if node.process)

    @property
    def url(self) -> str:
        """The URL of the first node that is alive; if none is, of the first node."""
        return (*self.alive, *self.nodes)[0].url

    @property
    def urls(self) -> dict[str, str]:
        """The URLs by the names of the nodes."""
        return {node.name: node.url for node in self.nodes}

    @property
    def pids(self) -> dict[str, int]:
        """The process ids by the names of the nodes."""
        return {node.name: node.pid for node in self.nodes}

    def with_node(self, changed: EngineNode) -> Self:
        """Return the engine with `changed` instead of the node of that name."""
        return replace(self, nodes=tuple(changed if node.name == changed.name else node for node in self.nodes))

    def health(self) -> dict[str, Any]:
        """Return the health of the engine that the first answering node reports; empty if none answers."""
        answers = (node.ask("/_cluster/health?timeout=1s&master_timeout=1s") for node in self.alive)
        return next((answer for answer in answers if "status" in answer), {})

    def write(self, file: Path) -> None:
        """Write the engine to a file that `read` reads."""
        part = file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        part.replace(file)

    @classmethod
    def read(cls, file: Path) -> Self | None:
        """Read the file that `write` has written; None if there is none."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return cls(**content | {"nodes": tuple(EngineNode(**node) for node in content["nodes"])})
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"{file} was not written by winnow engine: remove it if no engine runs") from error
