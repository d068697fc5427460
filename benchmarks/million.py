"""Questions to stores of up to a million generated pages, in a file and on OpenSearch, and how their time grows.

It takes an hour and 40 GB the first time. The stores stay in build/million, so that a second run only asks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from math import log
from pathlib import Path
from typing import NamedTuple

from opensearchpy import OpenSearch

from benchmarks.engine import Engine, local_engine, timed
from benchmarks.generated_pages import generated_pages
from benchmarks.store import QUESTIONS, Seconds, ask
from benchmarks.table import Run, Table
from benchmarks.timing import percentiles
from opensearch_winnow.index import Index
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up

FOLDER = Path("build", "million")
SIZES = (10_000, 100_000, 1_000_000)
SHARDS = 3  # of the store that is compared with one shard
CHUNK = 10_000  # pages that are generated, then added
HEAP = "4g"


class Answers(NamedTuple):
    """Answers of a store: the seconds of each question, by kind."""

    pages: int
    seconds: Seconds


def tables(run: Run) -> Iterator[Table]:
    folder = FOLDER if run.scale == 1 else FOLDER.with_name(f"million-{run.scale:g}")
    sizes = [run.size(size, least=20 * (number + 1)) for number, size in enumerate(SIZES)]
    count = run.size(QUESTIONS, least=5)
    files = [_in_a_file(folder, size) for size in sizes]
    yield growth_table("In a file", [_answers(store, size, count) for store, size in zip(files, sizes, strict=True)])
    with local_engine(folder / "engine", heap=HEAP) as engine:
        stores = [_on_opensearch(engine, folder, size) for size in sizes]
        yield growth_table(
            "On OpenSearch, one shard",
            [_answers(store, size, count) for store, size in zip(stores, sizes, strict=True)],
        )
        wide = _on_opensearch(engine, folder, sizes[1], shards=SHARDS)
        yield shards_table(*(_answers(store, sizes[1], count) for store in (stores[1], wide)))
        yield load_table(folder, [*files, *stores, wide])
        yield size_table([*files, *stores, wide])


def _in_a_file(folder: Path, size: int) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / f"pages-{size}.winnow"
    _fill(str(store), folder, size)
    return str(store)


def _on_opensearch(engine: Engine, folder: Path, size: int, *, shards: int = 1) -> str:
    name = f"pages-{size}" + (f"-{shards}-shards" if shards > 1 else "")
    with OpenSearch(engine.url, timeout=3_600) as client:
        set_up(client, name, shards=shards)
        if _fill(f"{engine.url}/{name}", folder, size, engine):
            client.indices.forcemerge(index=name, max_num_segments=1)
    return f"{engine.url}/{name}"


def _fill(store: str, folder: Path, size: int, engine: Engine | None = None) -> bool:
    """Add the pages that the store does not have yet; return whether some were added."""
    log_file = _log(folder, store)
    with Index.open(store, patient=True) as index:
        index.add([], failed=folder / "failed.jsonl")  # creates the store
        start = index.store.count()
        pages = generated_pages(start, size)
        while some := list(islice(pages, CHUNK)):
            took = timed(partial(index.add, some, failed=folder / "failed.jsonl"), engine)
            with log_file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([len(some), took.seconds, took.here, took.engine]) + "\n")
        return start < size


def _log(folder: Path, store: str) -> Path:
    return folder / f"{Path(store).name}.log"


def _answers(store: str, size: int, count: int) -> Answers:
    with Index.open(store, create=False) as index:
        return Answers(index.store.count(), ask(index, size, count))


def cells(answers: Answers, name: str) -> str:
    return " / ".join(f"{each:.1f}" for each in percentiles(answers.seconds[name], 50, 95, 99))


def growth_table(title: str, grown: Sequence[Answers]) -> Table:
    first, last = grown[0], grown[-1]
    rows = []
    for name in first.seconds:
        (early,), (late, slowest) = percentiles(first.seconds[name], 50), percentiles(last.seconds[name], 50, 99)
        exponent = log(late / early) / log(last.pages / first.pages)
        rows.append((name, *(cells(each, name) for each in grown), f"{exponent:.2f}", f"{slowest / late:.0f} ×"))
    return Table(
        f"{title}: milliseconds, p50 / p95 / p99",
        ("", *(f"{each.pages:,} pages" for each in grown), "exponent of growth", "p99 / p50"),
        rows,
        f"{len(next(iter(last.seconds.values())))} questions of each kind, one after the other. The exponent is that of"
        " p50 from the smallest to the largest store: 0 if the time stays, 1 if it grows like the store. One page in"
        " ten is a near-duplicate of another, and one in three quotes a passage; the most popular is on 3.4 % of all"
        " pages. Aim: p99 at most 10 × p50.",
    )


def shards_table(one: Answers, three: Answers) -> Table:
    rows = [
        (
            name,
            cells(one, name),
            cells(three, name),
            f"{percentiles(three.seconds[name])[0] / percentiles(one.seconds[name])[0]:.2f} ×",
        )
        for name in one.seconds
    ]
    return Table(
        f"{one.pages:,} pages on OpenSearch: milliseconds, p50 / p95 / p99",
        ("", "1 shard", f"{SHARDS} shards", "p50"),
        rows,
        "On one node with two cores. Each shard is one segment.",
    )


def load_table(folder: Path, stores: Sequence[str]) -> Table:
    rows = []
    for store in stores:
        loads = [json.loads(line) for line in _log(folder, store).read_text(encoding="utf-8").splitlines()]
        tenth = max(len(loads) // 10, 1)
        for part, some in {"first": loads[:tenth], "last": loads[-tenth:]}.items():
            pages, seconds, here, of_engine = (sum(column) for column in zip(*some, strict=True))
            rows.append(
                (
                    Path(store).name,
                    part,
                    f"{pages / seconds:,.0f}",
                    f"{here / pages * 1e3:.2f}",
                    f"{of_engine / pages * 1e3:.2f}",
                )
            )
    return Table(
        "Adding pages: the first tenth, and the last",
        ("store", "tenth", "pages a second", "CPU ms a page, here", "of the engine"),
        rows,
        "One process makes the records and writes them, so both are counted.",
    )


def size_table(stores: Sequence[str]) -> Table:
    rows = []
    for store in stores:
        with Index.open(store, create=False) as index:
            statistics = index.statistics()
            rows.append((Path(store).name, f"{sum(statistics.sizes.values()) / statistics.pages:,.0f}"))
    return Table("Bytes of a page", ("store", "bytes"), rows, "About 6.6 kB of text each.")
