"""Lists the crawls of a store, with their captures and times."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from opensearch_winnow.mappings.opensearch_document import time_of
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.store import Crawl

MAX_CRAWLS = 10_000  # buckets that an engine returns by default
TIMES = {
    "first": {"min": {"field": "fetched_us"}},
    "last": {"max": {"field": "fetched_us"}},
    "written": {"max": {"field": "place"}},
}


def crawls(index: IndexClient) -> list[Crawl]:
    """Return the crawls that have a name, in the order of their last captures; if these are equal, as written."""
    terms = {"field": "crawl", "size": MAX_CRAWLS}
    found = index.search({"size": 0, "aggs": {"crawls": {"terms": terms, "aggs": TIMES}}})["aggregations"]["crawls"]
    buckets = sorted((each for each in found["buckets"] if each["key"]), key=_order)
    return [Crawl(each["key"], each["doc_count"], _time(each["first"]), _time(each["last"])) for each in buckets]


def _order(bucket: dict[str, Any]) -> tuple[bool, float, float]:
    last, written = bucket["last"]["value"], bucket["written"]["value"]
    return last is not None, last or 0.0, written or 0.0


def _time(found: dict[str, Any]) -> datetime | None:
    return None if found["value"] is None else time_of(round(found["value"]))
