"""Documents a second that `winnow fields` and `POST /api/v1/fields` give their fields, beside `Index.add`.

All work on the same generated documents, in turns, each in processes of its own.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.generated_pages import generated_pages
from benchmarks.table import Run, Table, times

DOCUMENTS = 100_000
BATCH = 100  # documents of one request
ROUNDS = 5  # of this part of the documents each, in turns
WINNOW = str(Path(sys.executable).with_name("winnow"))
ADD = """
import json, sys
from opensearch_winnow import Index, Page
rows = map(json.loads, open(sys.argv[1], encoding="utf-8"))
with Index.open(sys.argv[2]) as index:
    index.add(Page(row["url"], text=row["text"]) for row in rows)
"""
BESIDE = "Index.add, to a file"


class Taken(NamedTuple):
    seconds: float
    cpu: float  # of all processes


def tables(run: Run) -> Iterator[Table]:
    count = run.size(DOCUMENTS, least=ROUNDS * BATCH)
    size = count // ROUNDS
    taken: dict[str, list[Taken]] = {}
    with TemporaryDirectory(prefix="winnow-bench-") as top:
        folder = Path(top)
        for number in range(ROUNDS):
            rows = folder / f"{number}.jsonl"
            rows.write_text("".join(lines(number * size, (number + 1) * size)), encoding="utf-8")
            for name, work in CANDIDATES.items():
                taken.setdefault(name, []).append(work(rows, folder / f"{number}.winnow"))
            rows.unlink()
    best = {
        name: Taken(min(each.seconds for each in all_), min(each.cpu for each in all_)) for name, all_ in taken.items()
    }
    rows_ = [
        (name, f"{size / each.seconds:,.0f}", f"{size / each.cpu:,.0f}", times(best[BESIDE].cpu / each.cpu))
        for name, each in best.items()
    ]
    yield Table(
        f"{count:,} documents of 6.6 kB, {size:,} at a time",
        ("", "documents/s", "documents per CPU second", f"of {BESIDE.partition(',')[0]}"),
        rows_,
        "The best of the rounds. Index.add also writes a store, with the text and the index of its words. For the"
        " endpoint, the CPU seconds are those of the server, without the client.",
    )


def lines(start: int, end: int) -> Iterator[str]:
    for page in generated_pages(start, end):
        yield json.dumps({"url": page.url, "text": page.text}) + "\n"


def measured(command: list[str], rows: Path | None = None) -> Taken:
    """Run a command on rows from a pipe, and return what it took."""
    before, start = os.times(), time.monotonic()
    if rows is None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    else:
        with rows.open("rb") as file:
            subprocess.run(command, check=True, stdin=file, stdout=subprocess.DEVNULL)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Taken(time.monotonic() - start, cpu)


def add(rows: Path, store: Path) -> Taken:
    return measured([sys.executable, "-c", ADD, str(rows), str(store)])


def filtered(rows: Path, _store: Path) -> Taken:
    return measured([WINNOW, "fields", "--url", "url"], rows)


def requested(rows: Path, _store: Path) -> Taken:
    """Send batches to a server, on one connection that is kept."""
    before = os.times()
    command = [WINNOW, "serve", "--stateless", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found
        documents = rows.read_text(encoding="utf-8").splitlines()
        start = time.monotonic()
        connection = http.client.HTTPConnection(urlsplit(found[0]).netloc)
        for at in range(0, len(documents), BATCH):
            body = '{"documents": [' + ",".join(documents[at : at + BATCH]) + "]}"
            connection.request("POST", "/api/v1/fields", body.encode(), {"Content-Type": "application/json"})
            assert connection.getresponse().read()
        seconds = time.monotonic() - start
        connection.close()
        server.terminate()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Taken(seconds, cpu)


CANDIDATES: dict[str, Callable[[Path, Path], Taken]] = {
    BESIDE: add,
    "winnow fields": filtered,
    f"POST /api/v1/fields, batches of {BATCH}": requested,
}
