"""The options of an engine on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.option_kinds import named_values, number, one_of, path, text
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.stores.engine.releases import DEFAULT, RELEASES
from opensearch_winnow.stores.store import StoreError

DEFAULT_PORT = 9200
DEFAULT_HEAP = "1g"
HOME_VARIABLE = "WINNOW_ENGINE_HOME"

Progress = Callable[[str, float | None], None]  # called with the current step, and the share of it that is done


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHome(Options):
    """The folder of an engine."""

    home: str | None = option(
        None,
        path("DIR", "folder"),
        "Folder for its data, logs and process ids.",
        unset=f"{HOME_VARIABLE}, or in the user's data folder",
    )


@dataclass(frozen=True, slots=True)
class EngineOptions(Options):
    """The options of starting an engine. It stops when the process `owner` ends."""

    error: ClassVar[type[WinnowError]] = StoreError

    version: str | None = option(
        None,
        replace(one_of(*RELEASES), allows=RELEASES.__contains__),  # tests add some
        "Version of OpenSearch; 7.10.2 is Elasticsearch.",
        unset=DEFAULT,
    )
    _: KW_ONLY
    nodes: int | None = option(None, number(1, 99), "Number of nodes; each is a process.", unset="as before, or 1")
    heap: str | None = option(
        None, text("SIZE"), "Java heap of each node, for example 512m or 2g.", unset=f"as before, or {DEFAULT_HEAP}"
    )
    port: int | None = option(
        None,
        number(1, 65_000),
        "Port of the first node; the others use the next ports. Nodes talk to each other on ports 100 higher.",
        unset=f"as before, or {DEFAULT_PORT}",
    )
    settings: Mapping[str, str] | None = option(
        None,
        named_values("cluster.name=mine"),
        "A setting of the engine, as in opensearch.yml; may be repeated.",
        flag="--setting",
    )
    owner: int | None = None
    progress: Progress = lambda _step, _share: None
