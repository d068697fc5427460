"""The clusters of the known crawl, and helpers for the tests of their screens."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from opensearch_winnow.mappings.record import capture_id
from opensearch_winnow.queries.compare import compare
from tests.web.known_crawl_fixture import EARLIER, IDS, MILL, MIRROR, NEAR, PAGES, SHOUTED

FIRST = EARLIER[0]  # of the mill's captures: the representative
IN_MILL = [*EARLIER, IDS[MILL], IDS[MIRROR], IDS[NEAR], IDS[SHOUTED]]  # in the order of time


def text_of(id_: str) -> str:
    (page,) = (each for each in PAGES if capture_id(each.url, each.fetched_at) == id_)
    return page.text or ""


def by_resemblance(first: str, ids: Iterable[str]) -> list[str]:
    """Return these pages in the order in which the cluster of `first` lists them."""
    urls = {id_: url for url, id_ in IDS.items()}
    return sorted(ids, key=lambda id_: (-compare(text_of(first), text_of(id_)).resemblance, urls[id_]))


MILL_PAGES = [FIRST, *by_resemblance(FIRST, (IDS[MIRROR], IDS[NEAR], IDS[SHOUTED]))]  # one for each URL


def lowest_by_force(ids: list[str]) -> float:
    return min(compare(text_of(a), text_of(b)).resemblance for a, b in combinations(ids, 2))
