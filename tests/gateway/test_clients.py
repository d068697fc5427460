"""Real clients take the same steps through the gateway and at the engine: all get the same, and fields come on top.

The clients are opensearch-py, curl, the official JavaScript client and the typed Java client.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import AsyncOpenSearch, OpenSearch

from opensearch_winnow.stores.engine.running import Running
from tests.gateway.clients.programs import run_java, run_javascript
from tests.gateway.clients.steps import StoredArticle, run, run_curl, steps
from tests.gateway.conftest import new_index
from tests.gateway.gateway_process import GatewayProcess
from tests.stores.opensearch.own_articles import ARTICLES, article

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("gateway clients")]

STORED = [StoredArticle(id=str(number), source=article(number) | {"number": number}) for number in range(10)]
MAPPING = ARTICLES | {"properties": ARTICLES["properties"] | {"number": {"type": "integer"}}}
# What every client gets. A request of its own would be a mistake of the client's program, not of the gateway.
EXPECTED = {
    "bulk": [True, [201] * 10 + [409, 404]],
    "index": ["created", 1, "updated", 2, "created", 1],
    "update": [["updated", 2], ["noop", 2], ["created", 1], ["updated", 2]],
    "delete": ["deleted", [404, "not_found"]],
    "get": [2, STORED[6]["source"] | {"body": STORED[5]["source"]["body"]}, [404, "not found"]],
    "exists": [True, False],
    "search": [9, [["0", 1], ["1", 1], ["2", 1], ["3", 0]]],
    "errors": [
        [404, "index_not_found_exception"],
        [400, "search_phase_execution_exception"],
        [409, "version_conflict_engine_exception"],
        [400, "strict_dynamic_mapping_exception"],
        [409, "version_conflict_engine_exception"],
    ],
}
# 0, 1 and 2 are copies; 6 got the text of 5, and "up" the text that 6 had. The number sorts: "up" has that of 6.
GROUPS = [
    [9, 6, [["0", ["1", "2"]], ["3", []]]],
    [9, 6, [["4", []], ["5", ["6"]]]],
    [9, 6, [["up", []], ["9", []]]],
    [9, 6, []],
]

Client = Callable[[str, str, bool], dict[str, Any]]  # called with an address, an index, and whether to group as well
Compare = Callable[[Client], None]


@pytest.fixture(scope="module")
def gateway(engine: Running) -> Iterator[GatewayProcess]:
    with GatewayProcess(engine.url) as started:
        yield started


@pytest.fixture
def check(engine: Running, client: OpenSearch, gateway: GatewayProcess) -> Iterator[Compare]:
    """Return a function that takes the steps at the engine and through the gateway."""
    how: dict[str, Any] = {"mapping": MAPPING, "shards": 3}

    def compare(take: Client) -> None:
        assert take(gateway.engine, direct.name, False) == EXPECTED
        got = take(gateway.url, through.name, True)
        assert got.pop("grouped") == GROUPS
        got["get"][1] = {name: value for name, value in got["get"][1].items() if not name.startswith("winnow")}
        assert got == EXPECTED
        through.client.indices.refresh(index=f"{direct.name},{through.name}")
        ours, plain = (
            {"" if source == {"headline": "Unnamed"} else id_: source for id_, source in own.without_ours().items()}
            for own in (through, direct)
        )
        assert ours == plain
        # Those without a text, too: each is in a cluster of its own.
        assert all(any(name.startswith("winnow") for name in source) for source in through.sources().values())

    with new_index(engine, client, **how) as direct, new_index(engine, client, **how) as through:
        yield compare


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", [OpenSearch, AsyncOpenSearch])
def test_opensearch_py(kind: type[OpenSearch | AsyncOpenSearch], compress: bool, check: Compare) -> None:
    def take(url: str, index: str, grouped: bool) -> dict[str, Any]:
        with asyncio.Runner() as runner:
            wait: Callable[[Any], Any] = runner.run if kind is AsyncOpenSearch else lambda answer: answer
            client = kind(url, timeout=60, http_compress=compress)
            try:
                return run(client, steps(index, STORED, grouped=grouped), wait)
            finally:
                wait(client.close())

    check(take)


@pytest.mark.parametrize(
    ("arguments", "of_bodies"),
    [
        ((), False),
        (("--header", "Transfer-Encoding: chunked"), True),
        (("--header", "Expect: 100-continue", "--expect100-timeout", "30"), True),
        (("--http1.0",), False),
        (("--compressed",), False),
    ],
    ids=["plain", "chunked", "expect", "HTTP 1.0", "compressed"],
)
def test_curl(arguments: tuple[str, ...], of_bodies: bool, tmp_path: Path, check: Compare) -> None:
    def take(url: str, index: str, grouped: bool) -> dict[str, Any]:
        return run_curl(url, tmp_path, arguments, of_bodies, steps(index, STORED, grouped=grouped))

    check(take)


@pytest.mark.parametrize("compression", [{}, {"CLIENT_COMPRESSION": "1"}], ids=["plain", "gzip"])
@pytest.mark.parametrize("program", [run_javascript, run_java], ids=["JavaScript", "Java"])
def test_the_official_clients(
    program: Callable[..., dict[str, Any]], compression: dict[str, str], tmp_path: Path, check: Compare
) -> None:
    (tmp_path / "articles.json").write_text(json.dumps(STORED), encoding="utf-8")

    def take(url: str, index: str, grouped: bool) -> dict[str, Any]:
        return program(url, index, str(tmp_path / "articles.json"), "grouped" if grouped else "", **compression)

    check(take)
