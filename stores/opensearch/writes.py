"""Writing to OpenSearch: pages come and go, and of the captures of a URL one is the latest."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, Literal, NamedTuple

from opensearch_winnow.mappings.opensearch_document import source_of
from opensearch_winnow.mappings.record import Record, microseconds
from opensearch_winnow.queries.dsl.filters import Clause, of_urls
from opensearch_winnow.queries.dsl.pages import first
from opensearch_winnow.stores.opensearch.bulk import bulk
from opensearch_winnow.stores.opensearch.bulk_loop import NOT_THERE
from opensearch_winnow.stores.opensearch.bulk_operation import Operation
from opensearch_winnow.stores.opensearch.cluster import Cluster
from opensearch_winnow.stores.opensearch.errors import told
from opensearch_winnow.stores.store import StoreError, Written

AT_A_TIME = 10_000  # URLs or ids, in a request; engines take 65,536

Kind = Literal["index", "update", "delete"]


class Capture(NamedTuple):
    """What is looked at of a page when another one comes or goes."""

    url: str
    time: int | None  # microseconds
    latest: bool
    place: int
    cluster: str


class Writer:
    """Each write looks first what is there of the same URLs, and is seen by all searches when it is done."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._place = 0  # of the last page

    def write(self, records: Sequence[Record]) -> list[Written]:
        """Of records with the same id the last one stays."""
        ids = [record.id for record in records]
        new = dict(zip(ids, records, strict=True))
        if not new:
            return []
        there = self._captures_of(record.url for record in new.values())
        coming = {id_: self._capture(record, there.get(id_)) for id_, record in new.items()}
        latest = _latest(there | coming)
        operations = [
            self._operation("index", id_, source_of(new[id_], place=capture.place, latest=id_ in latest))
            for id_, capture in coming.items()
        ]
        failed = {each.id: each.reason for each in self._bulk(operations) if each.outcome == "failed"}
        stored = {id_: each._replace(latest=id_ in latest) for id_, each in coming.items() if id_ not in failed}
        self._set_latest(there | stored)
        self._cluster.refresh()
        return list(_outcomes(ids, there, failed))

    def delete(self, ids: Iterable[str]) -> int:
        going = self._captures_by_id(ids)
        if not going:
            return 0
        there = self._captures_of(capture.url for capture in going.values())
        self._carry_out([self._operation("delete", id_) for id_ in going])
        self._set_latest({id_: each for id_, each in there.items() if id_ not in going})
        self._cluster.refresh()
        return len(going)

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        there = self._captures_by_id(clusters)
        self._update({id_: {"cluster": clusters[id_]} for id_, each in there.items() if each.cluster != clusters[id_]})
        self._cluster.refresh()
        return len(there)

    def _capture(self, record: Record, before: Capture | None) -> Capture:
        """Of a record that is about to be written: it keeps the place of the one that it replaces."""
        if before is None:
            self._place = max(self._place + 1, time.time_ns())
        at = None if record.fetched_at is None else microseconds(record.fetched_at)
        return Capture(record.url, at, False, before.place if before else self._place, record.cluster)

    def _set_latest(self, captures: Mapping[str, Capture]) -> None:
        """Change those that say something else than what is so now."""
        latest = _latest(captures)
        self._update(
            {id_: {"latest": id_ in latest} for id_, each in captures.items() if each.latest != (id_ in latest)}
        )

    def _update(self, changes: Mapping[str, dict[str, Any]]) -> None:
        self._carry_out([self._operation("update", id_, each) for id_, each in changes.items()])

    def _captures_of(self, urls: Iterable[str]) -> dict[str, Capture]:
        wanted = dict.fromkeys(urls)
        found = self._captures(of_urls(some) for some in _few(wanted))
        return {id_: each for id_, each in found.items() if each.url in wanted}

    def _captures_by_id(self, ids: Iterable[str]) -> dict[str, Capture]:
        return self._captures({"ids": {"values": some}} for some in _few(dict.fromkeys(ids)))

    def _captures(self, clauses: Iterable[Clause]) -> dict[str, Capture]:
        """By id. Their sources, which are large, are read for those URLs alone that are too long to be indexed."""
        found = {}
        for clause in clauses:
            search = first([clause]) | {"docvalue_fields": ["url", "fetched_us", "latest", "place", "cluster"]}
            for hit in self._cluster.all_hits(search):
                value = {name: values[0] for name, values in hit["fields"].items()}
                found[hit["_id"]] = Capture(
                    value.get("url", ""),
                    value.get("fetched_us"),
                    value["latest"],
                    value["place"],
                    value.get("cluster", ""),
                )
        unread = [id_ for id_, each in found.items() if not each.url]
        for id_, source in self._cluster.sources(unread, ["url"]).items():
            found[id_] = found[id_]._replace(url=source["url"])
        return found

    def _operation(self, kind: Kind, id_: str, source: dict[str, Any] | None = None) -> Operation:
        return Operation(kind, self._cluster.index, id_, source)

    def _carry_out(self, operations: Sequence[Operation]) -> None:
        for each in self._bulk(operations):
            # Somebody else may have just deleted it.
            if each.outcome == "failed" and each.reason != NOT_THERE:
                raise StoreError(f"{self._cluster.name} cannot be written: {each.reason}")

    def _bulk(self, operations: Sequence[Operation]) -> list[Written]:
        with told(self._cluster.name, "written"):
            name, client = self._cluster.name, self._cluster.client
            return list(bulk(client, operations, name=name, require_alias=self._cluster.alias))


def _latest(captures: Mapping[str, Capture]) -> set[str]:
    """The ids of the latest captures. No two of a URL have the same time; one that is not known is before all."""
    last: dict[str, tuple[float, str]] = {}
    for id_, each in captures.items():
        rank = (-inf if each.time is None else each.time, id_)
        last[each.url] = max(last.get(each.url, rank), rank)
    return {id_ for _, id_ in last.values()}


def _outcomes(ids: Iterable[str], there: Iterable[str], failed: Mapping[str, str]) -> Iterator[Written]:
    known = set(there)
    for id_ in ids:
        if id_ in failed:
            yield Written(id_, "failed", failed[id_])
        else:
            yield Written(id_, "replaced" if id_ in known else "added")
            known.add(id_)


def _few(keys: Iterable[str]) -> Iterator[list[str]]:
    every = list(keys)
    return (every[start : start + AT_A_TIME] for start in range(0, len(every), AT_A_TIME))
