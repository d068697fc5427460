"""A long run of `winnow serve` under load, while pages are added to its store."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from statistics import median, quantiles
from threading import Lock, Thread
from urllib.parse import urlencode

import pytest

from benchmarks.generated_pages import generated_pages
from tests.web.served_fixture import WINNOW, Asking, serving

pytestmark = pytest.mark.soak

CLIENTS = 64
REQUESTS = int(os.environ.get("WINNOW_SOAK_REQUESTS", "100000"))
PAGES, BATCH = 5_000, 500  # in the store at first; added at a time
BATCHES = 10  # added during the first third of the requests, so that memory is compared on a store of one size


def test_memory_stays_flat_under_load(tmp_path: Path, record_property: Callable[[str, int], None]) -> None:
    store = tmp_path / "load.winnow"
    add_pages(store, tmp_path, 0, PAGES)
    with serving(store) as served:
        load = Load(served)
        memory: list[int] = []
        clients = [Thread(target=load.ask_until_done, args=[number]) for number in range(CLIENTS)]
        for each in clients:
            each.start()
        added = 0
        while any(each.is_alive() for each in clients):
            if added < BATCHES and load.sent >= REQUESTS // 3 * added // BATCHES:
                add_pages(store, tmp_path, PAGES + added * BATCH, PAGES + (added + 1) * BATCH)
                added += 1
            memory.append(resident_kib(served.process.pid))
            time.sleep(1)
        assert served.json("/api/v1/statistics")["pages"] == PAGES + added * BATCH
    middle, last = (median(memory[at : at + len(memory) // 10 + 1]) for at in (len(memory) // 2, len(memory) * 9 // 10))
    figures = {
        "clients": CLIENTS,
        "requests": load.sent,
        **{f"answers {status}": number for status, number in load.statuses.items()},
        "p50 ms": round(1000 * median(load.seconds)),
        "p99 ms": round(1000 * quantiles(load.seconds, n=100)[-1]),
        "pages added meanwhile": added * BATCH,
        "memory MB in the middle": round(middle / 1024),
        "memory MB at the end": round(last / 1024),
    }
    for name, figure in figures.items():
        record_property(name, figure)
    assert set(load.statuses) <= {200, 503}, load.statuses
    assert load.statuses[200] > 0.9 * load.sent
    assert last < 1.1 * middle


class Load:
    """Requests of many clients: searches, pages, comparisons and quoted texts."""

    def __init__(self, served: Asking) -> None:
        self._served = served
        self._lock = Lock()
        self.sent = 0
        self.seconds: list[float] = []
        self.statuses: Counter[int] = Counter()

    def ask_until_done(self, number: int) -> None:
        for path, body in self._requests(Random(number)):
            with self._lock:
                if self.sent >= REQUESTS:
                    return
                self.sent += 1
            start = time.monotonic()
            reply = self._served.send(path, body, content_type="application/json") if body else self._served.get(path)
            with self._lock:
                self.seconds.append(time.monotonic() - start)
                self.statuses[reply.status] += 1

    def _requests(self, random: Random) -> Iterator[tuple[str, bytes | None]]:
        for _ in count():
            page, second = (next(generated_pages(at, at + 1)) for at in random.choices(range(PAGES), k=2))
            text = page.text or ""
            words = " ".join(random.sample(text.split(), 2))
            yield f"/search?{urlencode({'words': words, 'any_word': 'on'})}", None
            yield f"/api/v1/search?{urlencode({'words': words})}", None
            yield f"/api/v1/pages?{urlencode({'url': page.url})}", None
            place = random.randrange(len(text) // 2)
            yield "/api/v1/quotes", json.dumps({"text": text[place : place + 2_000]}).encode()
            yield f"/api/v1/compare?{urlencode({'a': page.url, 'b': second.url})}", None
            yield "/clusters", None


def add_pages(store: Path, folder: Path, start: int, end: int) -> None:
    source = folder / f"pages-{start}.jsonl"
    with source.open("w", encoding="utf-8") as lines:
        for page in generated_pages(start, end):
            lines.write(json.dumps({"url": page.url, "text": page.text}) + "\n")
    subprocess.run([WINNOW, "index", source, "--store", store, "--quiet"], check=True, capture_output=True)
    source.unlink()


def resident_kib(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0
