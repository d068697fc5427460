"""What the gateway costs beside the engine alone: bulk requests, single documents and searches.

Candidates take turns on one node, each time with new indices. CPU time is that of the client, the gateway and the
engine together, user and system.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.client import HTTPConnection
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from opensearchpy import OpenSearch, helpers

from benchmarks.engine import Engine, local_engine, timed
from benchmarks.own_index import FIELDS, create
from benchmarks.table import Run, Table
from benchmarks.timing import in_rounds
from benchmarks.unpacked_data import real_records
from opensearch_winnow import Scheme
from opensearch_winnow.clients import winnow_fields
from opensearch_winnow.stores.opensearch.own_index.attach import attach
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.gateway.gateway_process import GatewayProcess

ROUNDS = 3  # measured, after a first round in which the engine compiles its code
SINGLE = 500  # documents that are written one by one
SEARCHES = 400
LARGE = 1_000_000  # bytes of a large answer, about
NAME = "articles"
ALONE, PASSED, FILLED = "the engine alone", "through the gateway, not attached", "through the gateway, with fields"
IN_CLIENT, AFTERWARDS = "fields by `winnow_fields` in the client", "the engine alone, then `winnow attach --update`"

COLUMNS = ("", "documents a second", "time, beside the first", "CPU, beside the first", "CPU ms of the gateway, each")

Article = tuple[str, dict[str, Any]]  # its id and its source


class GatewayTook(NamedTuple):
    seconds: float
    cpu: float
    gateway: float  # CPU seconds of the gateway alone


def tables(run: Run) -> Iterator[Table]:
    articles = [(each.url, {"headline": each.title or "", "body": each.text}) for each in real_records(run.scale)]
    with local_engine() as engine, GatewayProcess(engine.url) as gateway:
        measured = Measured(engine, gateway, articles)
        yield bulk_table(measured, run.size(ROUNDS))
        yield single_table(measured, run.size(ROUNDS), run.size(SINGLE, least=5))
        yield search_table(measured, run.size(SEARCHES, least=5))


class Measured:
    """Writes the same documents again and again, each time into a new index."""

    def __init__(self, engine: Engine, gateway: GatewayProcess, articles: Sequence[Article]) -> None:
        self.articles = articles
        self.engine = engine
        self.gateway = gateway
        self.client = OpenSearch(engine.url, timeout=300)
        self.through = OpenSearch(gateway.url, timeout=300)
        self._address = Address.of(f"{engine.url}/{NAME}")

    def make(self, *, attached: bool) -> None:
        """Make a new index."""
        self.client.indices.delete(index=f"{NAME},winnow.{NAME}.settings", params={"ignore_unavailable": "true"})
        create(self.client, NAME)
        if attached:
            attach(self.client, self._address, FIELDS)
        # The gateway remembers for some seconds whether an index is attached, but not after a change that it has seen.
        self.through.indices.put_settings(index=NAME, body={"index": {"refresh_interval": "1s"}})

    def clocked(self, work: Callable[[], object]) -> GatewayTook:
        before = self.gateway.cpu_seconds
        took = timed(work, self.engine)
        used = self.gateway.cpu_seconds - before
        return GatewayTook(took.seconds, took.engine + took.here + used, used)

    def bulk(self, client: OpenSearch, *, fields: bool = False) -> None:
        scheme = Scheme()

        def action(id_: str, source: dict[str, Any]) -> dict[str, Any]:
            ours = {"winnow": winnow_fields(source["body"], scheme)} if fields and source["body"] else {}
            return {"_index": NAME, "_id": id_, "_source": source | ours}

        helpers.bulk(client, (action(*each) for each in self.articles))
        self.client.indices.refresh(index=NAME)

    def load_and_attach(self) -> None:
        self.bulk(self.client)
        attach(self.client, self._address)


def bulk_table(measured: Measured, rounds: int) -> Table:
    """Load all documents in each way."""
    ways: dict[str, Callable[[], None]] = {
        ALONE: lambda: measured.bulk(measured.client),
        PASSED: lambda: measured.bulk(measured.through),
        FILLED: lambda: measured.bulk(measured.through),
        IN_CLIENT: lambda: measured.bulk(measured.client, fields=True),
        AFTERWARDS: measured.load_and_attach,
    }

    def load(kind: str) -> GatewayTook:
        measured.make(attached=kind not in (ALONE, PASSED))
        return measured.clocked(ways[kind])

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

    def write(kind: str) -> GatewayTook:
        measured.make(attached=kind == FILLED)
        client = measured.client if kind == ALONE else measured.through

        def put() -> None:
            for id_, source in measured.articles[:count]:
                client.index(index=NAME, id=id_, body=source)

        return measured.clocked(put)

    took = in_rounds((ALONE, PASSED, FILLED), write, rounds)
    return Table(f"`PUT _doc/ID` of {count:,} real pages, one after another", COLUMNS, list(rows(took, count)))


def search_table(measured: Measured, count: int) -> Table:
    """Search for one document, and for as many as make a large answer."""
    measured.make(attached=True)
    measured.bulk(measured.client)
    bytes_each = sum(len(source["body"]) for _, source in measured.articles) / len(measured.articles)
    bodies = {
        "10 hits without their source": {"size": 10, "_source": False, "query": {"match": {"body": "the"}}},
        f"an answer of about {LARGE / 1e6:.0f} MB": {"size": int(LARGE / bytes_each) + 1, "query": {"match_all": {}}},
    }
    found = []
    for what, body in bodies.items():
        sent = json.dumps(body)
        took: dict[str, list[GatewayTook]] = {ALONE: [], PASSED: []}
        urls = {ALONE: measured.engine.url, PASSED: measured.gateway.url}
        lines = {kind: HTTPConnection(urlsplit(url).netloc) for kind, url in urls.items()}
        for number in range(count + count // 5):
            for kind, line in lines.items():
                one = measured.clocked(partial(ask, line, sent))
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


def ask(line: HTTPConnection, body: str) -> None:
    line.request("POST", f"/{NAME}/_search", body, {"content-type": "application/json"})
    response = line.getresponse()
    response.read()
    assert response.status == 200


def rows(took: dict[str, list[GatewayTook]], count: int) -> Iterator[tuple[str, ...]]:
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
