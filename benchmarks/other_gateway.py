"""Compares the gateway of this checkout with that of another one, and with the engine alone.

    python -m benchmarks.other_gateway ../before [--rounds 5] [--scale 1]

All of them do the same jobs on one node, in turns. The table has the median of the times that a document or a search
takes, and of the ratios in each round. CPU is that of the gateway alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from benchmarks.gateway import ALONE, Article, Measured, Took, ask, in_rounds, measured_gateways
from benchmarks.table import Run, Table
from benchmarks.unpacked_data import real_records

SINGLE, SEARCHES, GROUPED = 400, 300, 80  # documents and searches of one round
OTHER, THIS = "the other gateway", "this gateway"
KINDS = (ALONE, OTHER, THIS)
SEARCH = json.dumps({"query": {"match": {"body": "the query"}}, "_source": ["headline"]})

Job = Callable[[str], Took]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("tree", type=Path, help="the other checkout, built")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="much less than 1 only shows that everything works")
    given = parser.parse_args()
    run = Run(given.scale)
    records = real_records()[:: max(1, round(1 / run.scale))]
    articles = [(record.url, {"headline": record.title or "", "body": record.text}) for record in records]
    with measured_gateways(articles, given.tree, None) as (other, this):
        print(table(Jobs(other, this, run), given.rounds).markdown())


class Jobs:
    """What is measured, at the engine and through both gateways."""

    def __init__(self, other: Measured, this: Measured, run: Run) -> None:
        self._measured = {ALONE: this, OTHER: other, THIS: this}
        self._articles: Sequence[Article] = this.articles
        self._single = run.size(SINGLE, least=5)
        self._searches = run.size(SEARCHES, least=5)
        self._grouped = run.size(GROUPED, least=5)

    def jobs(self) -> dict[str, tuple[Job, int]]:
        """Return each job, and how many documents or searches it has."""
        every = len(self._articles)
        return {
            "`helpers.bulk`, not attached": (lambda kind: self._bulk(kind, attached=False), every),
            "`helpers.bulk`, with fields": (lambda kind: self._bulk(kind, attached=True), every),
            "`PUT _doc/ID`, not attached": (lambda kind: self._put(kind, attached=False), self._single),
            "`PUT _doc/ID`, with fields": (lambda kind: self._put(kind, attached=True), self._single),
            "`_search`": (lambda kind: self._search(kind, "", self._searches), self._searches),
            "`_search?winnow=group`": (lambda kind: self._search(kind, "?winnow=group", self._grouped), self._grouped),
        }

    def _bulk(self, kind: str, *, attached: bool) -> Took:
        measured = self._measured[kind]
        name = measured.make(attached=attached and kind != ALONE)
        client = measured.client if kind == ALONE else measured.through
        return measured.clocked(lambda: measured.bulk(client, name))

    def _put(self, kind: str, *, attached: bool) -> Took:
        measured = self._measured[kind]
        name = measured.make(attached=attached and kind != ALONE)
        client = measured.client if kind == ALONE else measured.through

        def put() -> None:
            for id_, source in self._articles[: self._single]:
                client.index(index=name, id=id_, body=source)

        return measured.clocked(put)

    def _search(self, kind: str, options: str, count: int) -> Took:
        measured = self._measured[kind]
        line = HTTPConnection(urlsplit(measured.url if kind == ALONE else measured.gateway.url).netloc)
        path = f"/articles/_search{'' if kind == ALONE else options}"

        def search() -> None:
            for _ in range(count):
                ask(line, path, SEARCH)

        try:
            return measured.clocked(search)
        finally:
            line.close()

    def load_for_searches(self) -> None:
        this = self._measured[THIS]
        this.bulk(this.through, this.make(attached=True))


def table(jobs: Jobs, rounds: int) -> Table:
    rows = []
    for name, (job, count) in jobs.jobs().items():
        if name == "`_search`":
            jobs.load_for_searches()
        took = in_rounds(KINDS, job, rounds)
        each = {kind: median(one.seconds for one in some) / count * 1e3 for kind, some in took.items()}
        cpu = {kind: median(one.gateway for one in some) / count * 1e3 for kind, some in took.items()}
        ratios = [this.seconds / other.seconds for this, other in zip(took[THIS], took[OTHER], strict=True)]
        cpu_ratios = [
            this.gateway / max(other.gateway, 1e-9) for this, other in zip(took[THIS], took[OTHER], strict=True)
        ]
        rows.append(
            (
                name,
                *(f"{each[kind]:.2f}" for kind in KINDS),
                f"{median(ratios):.2f} ×",
                f"{cpu[OTHER]:.2f}",
                f"{cpu[THIS]:.2f}",
                f"{median(cpu_ratios):.2f} ×",
            )
        )
        print(f"{name}: {median(ratios):.2f} × the time, {median(cpu_ratios):.2f} × the CPU", flush=True)
    columns = ("", *(f"{kind}, ms" for kind in KINDS), "ratio", "CPU ms, other", "CPU ms, this", "ratio of CPU")
    return Table(f"Milliseconds a document or search, the median of {rounds} rounds", columns, rows)


if __name__ == "__main__":
    main()
