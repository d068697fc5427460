"""Fixtures that start real engines: one shared by the whole run, and others for tests that kill nodes.

WINNOW_TEST_ENGINE selects another version than the default. If the engine cannot be started, the tests fail.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from opensearch_winnow.stores.engine.releases import DEFAULT

if TYPE_CHECKING:
    from opensearch_winnow.stores.engine.running import Running

VERSION = os.environ.get("WINNOW_TEST_ENGINE") or DEFAULT
WORKER = "PYTEST_XDIST_WORKER" in os.environ
# Of Elasticsearch 8 and 9, only the server is published, and not its modules: see tests/elasticsearch_node.
SERVER_ONLY = VERSION.startswith(("8.", "9."))
needs_modules = pytest.mark.skipif(SERVER_ONLY, reason="this node has no Painless, no ingest processors, no _reindex")


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Running:
    """The engine shared by all tests of all workers. The first test that needs it starts it; it stops with the run."""
    from opensearch_winnow.stores.engine.local_engine import LocalEngine  # noqa: PLC0415 (most tests need none)
    from opensearch_winnow.stores.engine.ports import free_port  # noqa: PLC0415

    _make_known()
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if WORKER else base) / "engine"
    run = os.getppid() if WORKER else os.getpid()
    snapshots = {"path.repo": str(home / "snapshots")}
    return LocalEngine(home).start(VERSION, port=free_port(), settings=snapshots, owner=run)


@pytest.fixture(scope="module")
def start_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Running]]:
    """Return a function that starts an engine for this test module only. Tests may kill its nodes, three by default."""
    from opensearch_winnow.stores.engine.local_engine import LocalEngine  # noqa: PLC0415
    from opensearch_winnow.stores.engine.ports import free_port  # noqa: PLC0415

    engines: list[LocalEngine] = []

    def start(nodes: int = 3, *, heap: str = "512m", settings: dict[str, str] | None = None) -> Running:
        if SERVER_ONLY:
            pytest.skip("a node that is made from the server's jars is alone, and has no Painless")
        started = LocalEngine(tmp_path_factory.mktemp("engine"))
        engines.append(started)
        port, owner = free_port(nodes), os.getpid()
        return started.start(VERSION, nodes=nodes, heap=heap, port=port, settings=settings, owner=owner)

    yield start
    for started in engines:
        started.stop()


def _make_known() -> None:
    """Let the version be started if it is one that only tests start."""
    from tests import elasticsearch_node  # noqa: PLC0415 (imports what starting an engine needs)

    if VERSION in elasticsearch_node.JAVA:
        elasticsearch_node.register(VERSION)
