"""Which pages a query is about, as clauses of its `filter`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from opensearch_winnow.mappings.record import microseconds, storable
from opensearch_winnow.queries.filters import Filters, Selection

Clause = dict[str, Any]

LONGEST = 8_191  # UTF-16 units of a keyword that is indexed: its bytes are then never more than Lucene takes


def conditions(where: Filters) -> list[Clause]:
    """One clause each; none where all pages are meant."""
    clauses: list[Clause] = [
        {"term": {name: storable(value)}}
        for name, value in (("site", where.site), ("crawl", where.crawl))
        if value is not None
    ]
    if where.since is not None or where.until is not None:
        clauses.append(_period(gte=where.since, lt=where.until))
    if where.latest:
        clauses.append({"term": {"latest": True}})
    if isinstance(where, Selection):
        if where.url is not None:
            clauses.append(of_urls([where.url]))
        if where.cluster is not None:
            clauses.append({"term": {"cluster": storable(where.cluster)}})
        if where.payload_digest is not None:
            clauses.append({"term": {"payload_digest": storable(where.payload_digest)}})
    return clauses


def all_of(clauses: Iterable[Clause]) -> Clause:
    """A query without scores: the pages for which all clauses hold."""
    # With no clause, sorted by a number and without a total, OpenSearch 3.8.0 leaves out pages for deleted ones.
    return {"bool": {"filter": list(clauses) or [{"match_all": {}}]}}


def of_urls(urls: Iterable[str]) -> Clause:
    """The captures of these URLs; and where one is too long to be indexed, those of all that are."""
    stored = [storable(url) for url in urls]
    known: Clause = {"terms": {"url": stored}}
    if all(len(url) <= LONGEST // 2 for url in stored):  # a character may be two units
        return known
    return {"bool": {"should": [known, {"bool": {"must_not": {"exists": {"field": "url"}}}}]}}


def _period(**bounds: datetime | None) -> Clause:
    """By `fetched_us`, which is exact; `fetched_at` is in milliseconds."""
    return {"range": {"fetched_us": {name: microseconds(time) for name, time in bounds.items() if time is not None}}}
