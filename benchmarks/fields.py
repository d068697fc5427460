"""Documents a second that `winnow fields` and `POST /api/v1/fields` give their fields, beside `Index.add`.

All work on the same generated documents, in turns, each in processes of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from benchmarks.generated_pages import generated_pages
from benchmarks.table import Run, Table, times
from tests.web.served_fixture import WINNOW, serving

DOCUMENTS = 100_000
BATCH = 100  # documents of one request
ROUNDS = 5  # of this part of the documents each, in turns
ADD = """
import json, sys
from opensearch_winnow import Index, Page
rows = map(json.loads, sys.stdin)
with Index.open(sys.argv[1]) as index:
    index.add(Page(row["url"], text=row["text"]) for row in rows)
"""
BESIDE = "Index.add, to a file"


def tables(run: Run) -> Iterator[Table]:
    count = run.size(DOCUMENTS, least=ROUNDS * BATCH)
    size = count // ROUNDS
    seconds: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)  # of all processes
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        for number in range(ROUNDS):
            rows = Path(folder, f"{number}.jsonl")
            rows.write_text("".join(lines(number * size, (number + 1) * size)), encoding="utf-8")
            for name, work in CANDIDATES.items():
                before = children_seconds()
                seconds[name].append(work(rows))
                cpu[name].append(children_seconds() - before)
    best = {name: (min(seconds[name]), min(cpu[name])) for name in CANDIDATES}
    yield Table(
        f"{count:,} documents of 6.6 kB, {size:,} at a time",
        ("", "documents/s", "documents per CPU second", f"of {BESIDE.partition(',')[0]}"),
        [
            (name, f"{size / taken:,.0f}", f"{size / used:,.0f}", times(best[BESIDE][1] / used))
            for name, (taken, used) in best.items()
        ],
        "The best of the rounds. Index.add also writes a store, with the text and the index of its words. For the"
        " endpoint, the CPU seconds are those of the server, without the client.",
    )


def lines(start: int, end: int) -> Iterator[str]:
    for page in generated_pages(start, end):
        yield json.dumps({"url": page.url, "text": page.text}) + "\n"


def children_seconds() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def piped(rows: Path, *command: str | Path) -> float:
    start = time.monotonic()
    with rows.open("rb") as file:
        subprocess.run(command, check=True, stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def requested(rows: Path) -> float:
    """Send batches to a server, on one connection that is kept."""
    documents = rows.read_text(encoding="utf-8").splitlines()
    with serving(None) as served:
        start = time.monotonic()
        connection = HTTPConnection(urlsplit(served.address).netloc)
        for at in range(0, len(documents), BATCH):
            body = '{"documents": [' + ",".join(documents[at : at + BATCH]) + "]}"
            connection.request("POST", "/api/v1/fields", body.encode(), {"Content-Type": "application/json"})
            assert connection.getresponse().read()
        seconds = time.monotonic() - start
        connection.close()
    return seconds


CANDIDATES: dict[str, Callable[[Path], float]] = {
    BESIDE: lambda rows: piped(rows, sys.executable, "-c", ADD, rows.with_suffix(".winnow")),
    "winnow fields": lambda rows: piped(rows, WINNOW, "fields", "--url", "url"),
    f"POST /api/v1/fields, batches of {BATCH}": requested,
}
