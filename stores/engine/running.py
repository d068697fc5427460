"""What runs: its nodes, each a process, and the file that remembers them."""

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

PATIENCE = 10.0  # seconds that a node gets to answer


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    port: int
    folder: str  # its data
    pid: int = 0

    @property
    def plan(self) -> str:
        return f"{self.folder}/node.json"

    @property
    def log(self) -> str:
        return f"{self.folder}.log"

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def process(self) -> psutil.Process | None:
        """None if it is gone: another may have its number now, and is not touched."""
        try:
            process = psutil.Process(self.pid)
            return process if self.plan in process.cmdline() else None
        except psutil.Error:
            return None

    @property
    def data_bytes(self) -> int:
        """What its data takes now."""
        total = 0
        for file in Path(self.folder).glob("data/**/*"):
            with suppress(FileNotFoundError):  # merged away meanwhile
                total += file.lstat().st_size if file.is_file() else 0
        return total

    def ask(self, path: str) -> dict[str, Any]:
        """Empty if there is no answer yet, or none any more."""
        connection = HTTPConnection(HOST, self.port, timeout=PATIENCE)  # which looks for no proxy
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
    """An engine that was started. Nodes may have died since: `alive` are those that have not."""

    version: str
    product: str
    java: str
    heap: str
    nodes: tuple[Node, ...]

    @property
    def alive(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.process)

    @property
    def url(self) -> str:
        """Of the first node that lives, or of the first."""
        return (*self.alive, *self.nodes)[0].url

    @property
    def urls(self) -> dict[str, str]:
        """By the node's name."""
        return {node.name: node.url for node in self.nodes}

    @property
    def pids(self) -> dict[str, int]:
        """By the node's name."""
        return {node.name: node.pid for node in self.nodes}

    def with_node(self, changed: Node) -> Self:
        return replace(self, nodes=tuple(changed if node.name == changed.name else node for node in self.nodes))

    def health(self) -> dict[str, Any]:
        """What the cluster says of itself, by the first node that answers; empty if none does."""
        answers = (node.ask("/_cluster/health?timeout=1s&master_timeout=1s") for node in self.alive)
        return next((answer for answer in answers if "status" in answer), {})

    def write(self, file: Path) -> None:
        part = file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        part.replace(file)

    @classmethod
    def read(cls, file: Path) -> Self | None:
        """None if nothing was started there."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return cls(**content | {"nodes": tuple(Node(**node) for node in content["nodes"])})
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"{file} is not what an engine has written: remove it if none runs") from error
