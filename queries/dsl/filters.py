"""Builds the clauses of a query's `filter`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from opensearch_winnow.foundation.written_time import microseconds
from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.filters import Filters, Selection

Clause = dict[str, Any]

MAX_KEYWORD_UNITS = 8_191  # UTF-16 units of an indexed keyword; in UTF-8 it then fits Lucene's limit in any case


def conditions(where: Filters) -> list[Clause]:
    """Return a clause for each filter that is set; none if all pages are wanted."""
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
        if where.urls is not None:
            clauses.append(of_urls(where.urls))
        if where.url_prefix is not None:
            clauses.append({"prefix": {"url": storable(where.url_prefix)}})
        if where.url_part is not None:
            literal = re.sub(r"([*?\\])", r"\\\1", storable(where.url_part))
            clauses.append({"wildcard": {"url": {"value": f"*{literal}*"}}})
        if where.clusters is not None:
            clauses.append({"terms": {"cluster": [storable(each) for each in where.clusters]}})
        for name, keys in (
            ("payload_digest", where.payload_digests),
            ("shingle_digest", where.shingle_digests),
            ("repeats", where.repeats),
        ):
            if keys is not None:
                clauses.append({"terms": {name: [storable(each) for each in keys]}})
    return clauses


def all_of(clauses: Iterable[Clause]) -> Clause:
    """Return a query, without scores, for the pages that satisfy all clauses."""
    # An empty filter will not do: sorted by a number and without a total, OpenSearch 3.8.0 then returns fewer pages
    # than there are, by as many as are deleted.
    return {"bool": {"filter": list(clauses) or [{"match_all": {}}]}}


def of_urls(urls: Iterable[str]) -> Clause:
    """Return a clause for the captures of `urls`.

    If a URL is too long to be indexed, the clause matches the captures of all such URLs.
    """
    stored = [storable(url) for url in urls]
    indexed: Clause = {"terms": {"url": stored}}
    if all(len(url) <= MAX_KEYWORD_UNITS // 2 for url in stored):  # a character has one or two units
        return indexed
    return {"bool": {"should": [indexed, {"bool": {"must_not": {"exists": {"field": "url"}}}}]}}


def _period(**bounds: datetime | None) -> Clause:
    """Return a range of `fetched_us`, which is exact to the microsecond; `fetched_at` has only milliseconds."""
    return {"range": {"fetched_us": {name: microseconds(time) for name, time in bounds.items() if time is not None}}}
