"""Time to the first byte of each screen of the search UI, and how much it weighs."""

from __future__ import annotations

import gzip
import time
from collections import defaultdict
from http.client import HTTPConnection
from itertools import pairwise
from random import Random
from statistics import median, quantiles
from urllib.parse import urlencode, urlsplit

from benchmarks.table import Table
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from tests.web.served_fixture import Served

WARM_UP = 10  # rounds that are not measured
# Screens, with the p95 in milliseconds that they should have at 6,000 pages.
AIMS = {
    "first screen": 100,
    "search": 100,
    "compare": 100,
    "page with its matches": 250,
    "clusters": 100,
    "suggestions": 100,
}
AIM_AT_100_000 = 400


def screens_table(title: str, served: Served, queries: list[str], *, large: bool) -> Table:
    """Ask for each screen in turn, each time about another page or other words."""
    connection = HTTPConnection(urlsplit(served.address).netloc, timeout=300)
    seconds: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    pairs = near_duplicates(served.store, len(queries))
    for words, (a, b) in zip(queries, pairs, strict=True):
        addresses = {
            "first screen": "/",
            "search": f"/search?{urlencode({'words': words})}",
            "compare": f"/compare/{a}/{b}",
            "page with its matches": f"/page/{a}",
            "clusters": "/clusters",
            "suggestions": f"/api/v1/suggest?{urlencode({'words': words[:-1]})}",
        }
        for kind, address in addresses.items():
            start = time.perf_counter()
            connection.request("GET", address, headers={"accept-encoding": "gzip"})
            response = connection.getresponse()
            seconds[kind].append(time.perf_counter() - start)
            body = response.read()
            assert response.status == 200, f"{address}: {response.status}"
            whole = gzip.decompress(body) if response.headers["content-encoding"] == "gzip" else body
            sizes[kind].append((len(whole), len(body)))
    connection.close()
    rows = []
    for kind, aim in AIMS.items():
        cuts = quantiles(seconds[kind][WARM_UP:], n=20, method="inclusive")
        times = f"{cuts[9] * 1e3:.0f}", f"{cuts[18] * 1e3:.0f}", f"{AIM_AT_100_000 if large else aim}"
        rows.append((kind, *times, *(f"{median(size[at] for size in sizes[kind]) / 1e3:.1f}" for at in (0, 1))))
    return Table(title, ("", "ms, p50", "ms, p95", "aim", "kB, median", "kB sent"), rows)


def near_duplicates(store: str, count: int) -> list[tuple[str, str]]:
    """Return pairs of pages of the same cluster, at different URLs where there are such."""
    with Index.open(store, create=False) as index:
        clusters = [each.cluster for each in index.clusters(min_pages=2, limit=1_000)]
        Random(7).shuffle(clusters)
        pairs = []
        for cluster in clusters[:count]:
            first, *others = index.cluster_pages(cluster, limit=20)
            pairs.append((first.id, others[-1].id))
        if not pairs:
            cards = [card.id for card, _ in zip(index.store.scan(Card), range(count + 1), strict=False)]
            pairs = list(pairwise(cards))
    return [pairs[number % len(pairs)] for number in range(count)]
