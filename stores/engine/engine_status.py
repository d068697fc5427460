"""The status of an engine on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from opensearch_winnow.foundation.answers import Answer, answer, inlined, key

if TYPE_CHECKING:
    from opensearch_winnow.stores.engine.running import Running  # needs the extra `engine`


@answer
class NodeStatus(Answer):
    """A node of an engine."""

    name: str = key("Its name.")
    url: str = key("Its address.")
    pid: int = key("The id of its process.")
    alive: bool = key("True if the process runs.")
    data: str = key("The folder with its data.")
    log: str = key("The file with its log.")


@answer
class EngineStatus(Answer):
    """The status of an engine. If it does not run, everything but its home is null or empty."""

    running: bool = key("True if it runs.")
    home: str = key("Its folder.")
    url: str | None = key("The address of the first node that is alive.", default=None)
    product: str | None = key("OpenSearch or Elasticsearch.", default=None)
    version: str | None = key("Its version.", default=None)
    java: str | None = key("The version of Java.", default=None)
    heap: str | None = key("The Java heap of each node.", default=None)
    health: str | None = key("Its health: green, yellow or red; no answer if no node answers.", default=None)
    data_bytes: int | None = key("The bytes of its data.", default=None)
    nodes: list[NodeStatus] = key("Its nodes.", default_factory=list)

    @classmethod
    def of(cls, home: Path, running: Running | None) -> Self:
        """Return the status of an engine."""
        if running is None:
            return cls(running=False, home=str(home))
        alive = running.alive
        return cls(
            running=True,
            home=str(home),
            url=running.url,
            product=running.product,
            version=running.version,
            java=running.java,
            heap=running.heap,
            health=str(running.health().get("status", "no answer")),
            data_bytes=sum(node.data_bytes for node in running.nodes),
            nodes=[
                NodeStatus(node.name, node.url, node.pid, node in alive, node.folder, node.log)
                for node in running.nodes
            ],
        )


@answer
class StartedEngine(Answer):
    """An engine that was started."""

    already: bool = key("True if it ran already.")
    status: EngineStatus = inlined()


@answer
class StoppedEngine(Answer):
    """An engine that was stopped."""

    stopped: bool = key("True if one ran.")
    home: str = key("Its folder.")
    version: str | None = key("Its version; null if none ran.")
    pids: list[int] = key("The ids of the processes that were stopped.")

    @classmethod
    def of(cls, home: Path, stopped: Running | None) -> Self:
        """Describe the engine that was stopped, if one ran."""
        if stopped is None:
            return cls(stopped=False, home=str(home), version=None, pids=[])
        return cls(stopped=True, home=str(home), version=stopped.version, pids=list(stopped.pids.values()))
