"""Simulates visitors of the search UI, who search, open a page, compare it with a similar one, and search again."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from http.client import HTTPConnection, HTTPException
from itertools import count
from threading import Thread
from urllib.parse import urlencode, urlsplit

from benchmarks.table import Table
from benchmarks.timing import percentiles

VISITORS = 50


class Visitor(Thread):
    """Sends requests without a pause until `end`, and keeps their `seconds` by the kind of screen, and `errors`."""

    def __init__(self, number: int, address: str, queries: list[str], end: float) -> None:
        super().__init__()
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self._number, self._queries, self._end = number, queries, end
        self._connection = HTTPConnection(urlsplit(address).netloc, timeout=300)

    def run(self) -> None:
        for turn in count(self._number * 7):
            words = self._queries[turn % len(self._queries)]
            results = self._get("search", f"/search?{urlencode({'words': words})}")
            page = re.search(r'href="(/page/\w+)"', results)
            pair = re.search(r'href="(/compare/\w+/\w+)"', results)
            if page:
                self._get("page", page[1])
            if pair:
                self._get("compare", pair[1])
            if turn % 5 == 0:
                self._get("clusters", "/clusters")
                self._get("search as JSON", f"/api/v1/search?{urlencode({'words': words})}")
            if time.monotonic() > self._end:
                break
        self._connection.close()

    def _get(self, kind: str, path: str) -> str:
        if time.monotonic() > self._end:
            return ""
        start = time.perf_counter()
        try:
            self._connection.request("GET", path)
            response = self._connection.getresponse()
            body = response.read().decode()
        except (OSError, HTTPException) as error:
            self._connection.close()
            self.errors.append(f"{path}: {error!r}")
            return ""
        self.seconds[kind].append(time.perf_counter() - start)
        if response.status != 200:
            self.errors.append(f"{path}: {response.status} {body[:200]}")
        return body


def visitors_table(title: str, address: str, queries: list[str], seconds: int) -> Table:
    start = time.monotonic()
    visitors = [Visitor(number, address, queries, start + seconds) for number in range(VISITORS)]
    for each in visitors:
        each.start()
    for each in visitors:
        each.join()
    taken = time.monotonic() - start
    errors = [error for each in visitors for error in each.errors]
    kinds = list(dict.fromkeys(kind for each in visitors for kind in each.seconds))
    by_kind = {kind: [one for each in visitors for one in each.seconds[kind]] for kind in kinds}
    by_kind["all"] = [one for every in by_kind.values() for one in every]
    rows = []
    for kind, every in by_kind.items():
        middle, late = percentiles([*every, *every])  # twice, because there may be one only
        rows.append((kind, f"{len(every):,}", f"{len(every) / taken:.0f}", f"{middle:.0f}", f"{late:.0f}"))
    first = f" The first: {errors[0]}" if errors else ""
    note = f"Aim: no errors. Errors: {len(errors):,}.{first} They do not pause between an answer and the next request."
    return Table(title, ("", "answers", "a second", "ms, p50", "ms, p95"), rows, note)
