"""What the gateway costs beside the engine alone: bulk requests, single documents and searches.

Candidates take turns on one node, each time with new indices. CPU time is that of the client, the gateway and the
engine together, user and system.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil
from opensearchpy import OpenSearch, helpers

from benchmarks.table import Run, Table
from benchmarks.unpacked_data import real_records
from opensearch_winnow import Scheme, winnow_fields
from opensearch_winnow.stores.attach_options import AttachOptions
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.opensearch.own_index.attach import attach
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.gateway.gateway_process import GatewayProcess

ROUNDS = 3  # measured, after a first round in which the engine compiles its code
SINGLE = 500  # documents that are written one by one
SEARCHES = 400
LARGE = 1_000_000  # bytes of a large answer, about
FIELDS = AttachOptions(text=("body",), title="headline")
MAPPING = {"properties": {"headline": {"type": "text"}, "body": {"type": "text"}}}
ALONE, PASSED, FILLED = "the engine alone", "through the gateway, not attached", "through the gateway, with fields"
IN_CLIENT, AFTERWARDS = "fields by `winnow_fields` in the client", "the engine alone, then `winnow attach --update`"

Article = tuple[str, dict[str, Any]]  # its id and its source


class Took(NamedTuple):
    seconds: float
    cpu: float
    gateway: float  # CPU seconds of the gateway alone


def tables(run: Run) -> Iterator[Table]:
    records = real_records()[:: max(1, round(1 / run.scale))]
    articles = [(record.url, {"headline": record.title or "", "body": record.text}) for record in records]
    with measured_gateways(articles, None) as (measured,):
        yield bulk_table(measured, run.size(ROUNDS))
        yield single_table(measured, run.size(ROUNDS), run.size(SINGLE, least=5))
        yield search_table(measured, run.size(SEARCHES, least=5))


@contextmanager
def measured_gateways(articles: Sequence[Article], *trees: Path | None) -> Iterator[list[Measured]]:
    """Start an engine, and the gateways of these checkouts; None is this one."""
    with TemporaryDirectory(prefix="winnow-bench-") as folder, ExitStack() as stack:
        engine = LocalEngine(Path(folder, "engine"))
        running = engine.start(heap="1g", port=free_port(), owner=os.getpid())
        stack.callback(engine.stop)
        gateways = [stack.enter_context(GatewayProcess(running.url, tree=tree)) for tree in trees]
        process = psutil.Process(running.nodes[0].pid)
        yield [Measured(running.url, process, gateway, articles) for gateway in gateways]


class Measured:
    """Writes the same documents again and again, each time into a new index."""

    def __init__(self, url: str, engine: psutil.Process, gateway: GatewayProcess, articles: Sequence[Article]) -> None:
        self.articles = articles
        self.url = url
        self.gateway = gateway
        self.client = OpenSearch(url, timeout=300)
        self.through = OpenSearch(gateway.url, timeout=300)
        self._engine = engine

    def make(self, *, attached: bool) -> str:
        """Make a new index, and return its name."""
        name = "articles"
        self.client.indices.delete(index=f"{name},winnow.{name}.settings", params={"ignore_unavailable": "true"})
        settings = {"number_of_shards": 1, "number_of_replicas": 0}
        self.client.indices.create(index=name, body={"settings": settings, "mappings": MAPPING})
        if attached:
            attach(self.client, Address.of(f"{self.url}/{name}"), FIELDS)
        # The gateway remembers for some seconds whether an index is attached, but not after a change that it has seen.
        self.through.indices.put_settings(index=name, body={"index": {"refresh_interval": "1s"}})
        return name

    def clocked(self, work: Callable[[], object]) -> Took:
        engine, here, gateway = sum(self._engine.cpu_times()[:2]), time.process_time(), self.gateway.cpu_seconds
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        used = self.gateway.cpu_seconds - gateway
        cpu = used + time.process_time() - here + sum(self._engine.cpu_times()[:2]) - engine
        return Took(seconds, cpu, used)

    def bulk(self, client: OpenSearch, name: str, *, fields: bool = False) -> None:
        scheme = Scheme()

        def action(id_: str, source: dict[str, Any]) -> dict[str, Any]:
            ours = {"winnow": winnow_fields(source["body"], scheme)} if fields and source["body"] else {}
            return {"_index": name, "_id": id_, "_source": source | ours}

        helpers.bulk(client, (action(*each) for each in self.articles))
        self.client.indices.refresh(index=name)

    def load_and_attach(self, name: str) -> None:
        self.bulk(self.client, name)
        attach(self.client, Address.of(f"{self.url}/{name}"))


def bulk_table(measured: Measured, rounds: int) -> Table:
    """Load all documents in each way."""

    ways: dict[str, Callable[[str], None]] = {
        ALONE: lambda name: measured.bulk(measured.client, name),
        PASSED: lambda name: measured.bulk(measured.through, name),
        FILLED: lambda name: measured.bulk(measured.through, name),
        IN_CLIENT: lambda name: measured.bulk(measured.client, name, fields=True),
        AFTERWARDS: measured.load_and_attach,
    }

    def load(kind: str) -> Took:
        name = measured.make(attached=kind not in (ALONE, PASSED))
        return measured.clocked(lambda: ways[kind](name))

    took = in_rounds(list(ways), load, rounds)
    count = len(measured.articles)
    return Table(
        f"`helpers.bulk` of {count:,} real pages",
        COLUMNS,
        list(rows(took, count)),
        f"The median of {rounds} rounds, and of the ratios in each round.",
    )


def single_table(measured: Measured, rounds: int, count: int) -> Table:
    """Write documents one by one, with an id."""

    def write(kind: str) -> Took:
        name = measured.make(attached=kind == FILLED)
        client = measured.client if kind == ALONE else measured.through

        def put() -> None:
            for id_, source in measured.articles[:count]:
                client.index(index=name, id=id_, body=source)

        return measured.clocked(put)

    took = in_rounds((ALONE, PASSED, FILLED), write, rounds)
    return Table(f"`PUT _doc/ID` of {count:,} real pages, one after another", COLUMNS, list(rows(took, count)))


def search_table(measured: Measured, count: int) -> Table:
    """Search for one document, and for as many as make a large answer."""
    name = measured.make(attached=True)
    measured.bulk(measured.client, name)
    bytes_each = sum(len(source["body"]) for _, source in measured.articles) / len(measured.articles)
    bodies = {
        "10 hits without their source": {"size": 10, "_source": False, "query": {"match": {"body": "the"}}},
        f"an answer of about {LARGE / 1e6:.0f} MB": {"size": int(LARGE / bytes_each) + 1, "query": {"match_all": {}}},
    }
    found = []
    for what, body in bodies.items():
        sent = json.dumps(body)
        took: dict[str, list[Took]] = {ALONE: [], PASSED: []}
        lines = {
            ALONE: HTTPConnection(urlsplit(measured.url).netloc),
            PASSED: HTTPConnection(urlsplit(measured.gateway.url).netloc),
        }
        for number in range(count + count // 5):
            for kind, line in lines.items():
                one = measured.clocked(lambda line=line, sent=sent: ask(line, f"/{name}/_search", sent))  # type: ignore[misc]
                if number >= count // 5:
                    took[kind].append(one)
        for line in lines.values():
            line.close()
        middle = {kind: median(each.seconds for each in some) for kind, some in took.items()}
        cpu = sum(each.gateway for each in took[PASSED]) / count
        found.append(
            (
                what,
                f"{middle[ALONE] * 1e3:.1f}",
                f"{middle[PASSED] * 1e3:.1f}",
                f"{middle[PASSED] / middle[ALONE]:.2f} ×",
                f"{cpu * 1e3:.2f}",
            )
        )
    columns = ("", f"{ALONE}, ms", "through the gateway, ms", "ratio", "CPU ms of the gateway")
    return Table(f"`_search`, the median of {count:,}", columns, found)


def ask(line: HTTPConnection, path: str, body: str) -> None:
    line.request("POST", path, body, {"content-type": "application/json"})
    response = line.getresponse()
    response.read()
    assert response.status == 200


COLUMNS = ("", "documents a second", "time, beside the first", "CPU, beside the first", "CPU ms of the gateway, each")


def in_rounds(kinds: Sequence[str], work: Callable[[str], Took], rounds: int) -> dict[str, list[Took]]:
    """Let all kinds of work take turns, every other round backwards. The first round does not count."""
    took: dict[str, list[Took]] = {kind: [] for kind in kinds}
    for number in range(rounds + 1):
        for kind in kinds if number % 2 else reversed(kinds):
            one = work(kind)
            if number:
                took[kind].append(one)
    return took


def rows(took: dict[str, list[Took]], count: int) -> Iterator[tuple[str, ...]]:
    first = next(iter(took.values()))
    for kind, each in took.items():
        gateway = median(one.gateway for one in each) / count
        yield (
            kind,
            f"{count / median(one.seconds for one in each):,.0f}",
            f"{median(one.seconds / alone.seconds for one, alone in zip(each, first, strict=True)):.2f} ×",
            f"{median(one.cpu / alone.cpu for one, alone in zip(each, first, strict=True)):.2f} ×",
            f"{gateway * 1e3:.2f}" if kind in (PASSED, FILLED) else "",
        )
