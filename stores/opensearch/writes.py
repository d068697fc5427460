"""Writes and deletes pages on OpenSearch, and keeps track of the latest capture of each URL."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Any, Literal, NamedTuple

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.written_time import microseconds
from opensearch_winnow.mappings.opensearch_document import TEXT_KEYS, document_fields, document_of
from opensearch_winnow.mappings.record import Record, StoredDigests
from opensearch_winnow.queries.dsl.filters import Clause, of_urls
from opensearch_winnow.queries.dsl.pages import first
from opensearch_winnow.stores.blocked_pages import SETTING as BLOCKED, BlockedPages
from opensearch_winnow.stores.last_deletion import new_mark
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_loop import CHANGED, NOT_FOUND
from opensearch_winnow.stores.opensearch.requests.bulk_operation import Operation
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.stored_settings import StoredSettings
from opensearch_winnow.stores.store import StoreError, WriteOutcome

KEYS_PER_REQUEST = 10_000  # URLs or ids; engines accept up to 65,536
MAX_TRIES = 10  # to change a page that other programs keep changing
Version = tuple[int, int]  # of a document: its sequence number and primary term

Kind = Literal["index", "update", "delete"]
FINGERPRINT_KEYS = ("fingerprints", "fingerprint_count", "positions")
DigestName = Literal["text_digest", "content_digest"]
# Engines keep deleted documents to bring copies of a shard up to date, and check every 30 s which of them they still
# need. A missing copy makes them keep all for up to twelve hours.
LEASE_SECONDS = 90.0
POLL_SECONDS = 1.0
MERGE_SECONDS = 3_600  # the longest time to wait for a merge; the engine goes on merging afterwards
ALLOWED_SHARE = "index.merge.policy.expunge_deletes_allowed"  # in per cent; by default a segment may keep a tenth


class StoredCapture(NamedTuple):
    """The fields of a stored page that matter when a capture of the same URL is written or deleted."""

    url: str
    time: int | None  # microseconds since 1970
    latest: bool
    arrival: int
    cluster: str


class Writer:
    """Writes to a store. Each write first looks up the captures of the same URLs; searches see it when it returns."""

    def __init__(self, index: IndexClient, settings: StoredSettings) -> None:
        self._index = index
        self._settings = settings
        self._arrival = 0  # of the last new page

    def write(self, records: Sequence[Record]) -> list[WriteOutcome]:
        """Write records and return the outcome of each. Of records with the same id, the last one is stored.

        Blocked pages are not written. Blocking a page adds it to the list first, then finds and deletes its captures.
        So the list is read again when searches find the written pages: a page that is on it by now is deleted here. A
        page that is added later is found, and deleted, by the process that adds it.
        """
        ids = [record.id for record in records]
        new = dict(zip(ids, records, strict=True))
        if not new:
            return []
        blocked = self._blocked(new)
        to_write = {id_: record for id_, record in new.items() if id_ not in blocked}
        try:
            before, failed = self._write_all(to_write) if to_write else ({}, {})
        except StoreError:
            with suppress(StoreError):  # some of them may be written
                self.delete(self._blocked(to_write))
            raise
        if listed := self._blocked(to_write).difference(failed):
            self.delete(listed)
        return list(_outcomes(ids, before, failed, blocked | listed))

    def _blocked(self, records: Mapping[str, Record]) -> set[str]:
        """Return the ids of the records whose pages are on the list of blocked pages now."""
        blocked = BlockedPages(self._settings.read(BLOCKED, cached=False) if self._settings.exist() else ())
        return {id_ for id_, record in records.items() if record.url in blocked}

    def _write_all(self, new: Mapping[str, Record]) -> tuple[Mapping[str, StoredCapture], dict[str, str]]:
        """Write records by id. Return the earlier captures of their URLs, and the reasons of failures by id."""
        before = self._captures_of(record.url for record in new.values())
        to_write = {id_: self._capture(record, before.get(id_)) for id_, record in new.items()}
        latest = _latest(before | to_write)
        replaced = {id_: each for id_, each in before.items() if each.latest and id_ not in latest | to_write.keys()}
        failed = self._write(list(self._operations(new, to_write, latest, replaced)))
        stored = {id_: each._replace(latest=id_ in latest) for id_, each in to_write.items() if id_ not in failed}
        self._set_latest(before | {id_: each._replace(latest=False) for id_, each in replaced.items()} | stored)
        self._index.refresh()
        return before, failed

    def delete(self, ids: Iterable[str]) -> int:
        """Delete pages by id and return how many existed."""
        to_delete = self._captures_by_id(ids)
        if not to_delete:
            return 0
        before = self._captures_of(capture.url for capture in to_delete.values())
        self._execute([self._operation("delete", id_) for id_ in to_delete])
        self._set_latest({id_: each for id_, each in before.items() if id_ not in to_delete})
        self._index.refresh()
        if self._settings.exist():
            self._settings.set(new_mark())
        return len(to_delete)

    def erase(self) -> None:
        """Drop deleted pages from the files of the engine."""
        erase_deleted(self._index)

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        """Set the clusters of pages by id and return how many of the pages exist."""
        stored = self._captures_by_id(clusters)
        self._update({id_: {"cluster": clusters[id_]} for id_, each in stored.items() if each.cluster != clusters[id_]})
        self._index.refresh()
        return len(stored)

    def set_fingerprints(self, records: Sequence[Record]) -> int:
        """Set the fingerprints of pages that still have the text of their record, and return how many pages exist."""
        return self._change(records, FINGERPRINT_KEYS, if_same="text_digest")

    def set_texts(self, records: Sequence[Record]) -> int:
        """Set title, text and hashes of pages that still have the content of their record; return how many exist."""
        return self._change(records, TEXT_KEYS, if_same="content_digest")

    def _change(self, records: Sequence[Record], keys: Sequence[str], *, if_same: DigestName) -> int:
        """Set the fields `keys` of pages to those of their records if both have the same digest `if_same`."""
        waiting, existing = {record.id: record for record in records}, 0
        for _ in range(MAX_TRIES):
            documents = self._digests(waiting, if_same)
            existing = existing or len(documents)
            changed = []
            operations = [
                self._operation("update", id_, document_fields(waiting[id_], keys), only_if=version)
                for id_, (digest, version) in documents.items()
                if digest == getattr(StoredDigests.of(waiting[id_]), if_same)
            ]
            for each in self._bulk(operations):
                if each.reason == CHANGED:  # another process may have replaced the page since it was read
                    changed.append(each.id)
                else:
                    self._check(each)
            if not changed:
                self._index.refresh()
                return existing
            waiting = {id_: waiting[id_] for id_ in changed}
        raise StoreError(f"{self._index.name} cannot be written: other programs change the same pages all the time")

    def _operations(
        self,
        new: Mapping[str, Record],
        to_write: Mapping[str, StoredCapture],
        latest: set[str],
        replaced: Mapping[str, StoredCapture],
    ) -> Iterator[Operation]:
        """Yield the writes. A capture that a new one replaces as the latest of its URL loses the mark first.

        If the process is killed in between, the new page is missing, and the next run writes it. In the other order,
        two captures would stay marked as the latest, because that run would find the new page unchanged.
        """
        ids_by_url: dict[str, list[str]] = {}
        for id_, capture in replaced.items():
            ids_by_url.setdefault(capture.url, []).append(id_)
        for id_, capture in to_write.items():
            for old in ids_by_url.pop(capture.url, ()):
                yield self._operation("update", old, {"latest": False})
            yield self._operation("index", id_, document_of(new[id_], arrival=capture.arrival, latest=id_ in latest))

    def _write(self, operations: Sequence[Operation]) -> dict[str, str]:
        """Write pages, and return the reasons of failures by id."""
        failed = {}
        for operation, each in zip(operations, self._bulk(operations), strict=True):
            if each.outcome == "failed" and operation.kind == "index":
                failed[each.id] = each.reason
            else:
                self._check(each)
        return failed

    def _capture(self, record: Record, before: StoredCapture | None) -> StoredCapture:
        """Return the capture of a record to be written. It keeps the arrival of the page that it replaces."""
        if before is None:
            self._arrival = max(self._arrival + 1, time.time_ns())
        at = None if record.fetched_at is None else microseconds(record.fetched_at)
        return StoredCapture(record.url, at, False, before.arrival if before else self._arrival, record.cluster)

    def _set_latest(self, captures: Mapping[str, StoredCapture]) -> None:
        """Correct the field `latest` where it is wrong."""
        latest = _latest(captures)
        self._update(
            {id_: {"latest": id_ in latest} for id_, each in captures.items() if each.latest != (id_ in latest)}
        )

    def _update(self, changes: Mapping[str, dict[str, Any]]) -> None:
        self._execute([self._operation("update", id_, each) for id_, each in changes.items()])

    def _captures_of(self, urls: Iterable[str]) -> dict[str, StoredCapture]:
        wanted = dict.fromkeys(urls)
        captures = self._captures(of_urls(some) for some in batches(wanted, KEYS_PER_REQUEST))
        return {id_: each for id_, each in captures.items() if each.url in wanted}

    def _captures_by_id(self, ids: Iterable[str]) -> dict[str, StoredCapture]:
        some_ids = batches(dict.fromkeys(ids), KEYS_PER_REQUEST)
        return self._captures({"ids": {"values": some}} for some in some_ids)

    def _captures(self, clauses: Iterable[Clause]) -> dict[str, StoredCapture]:
        """Return captures by id. Sources, which are large, are read only for URLs too long to be indexed."""
        captures = {}
        for clause in clauses:
            search = first([clause]) | {"docvalue_fields": ["url", "fetched_us", "latest", "arrival", "cluster"]}
            for hit in self._index.all_hits(search):
                value = {name: values[0] for name, values in hit["fields"].items()}
                captures[hit["_id"]] = StoredCapture(
                    value.get("url", ""),
                    value.get("fetched_us"),
                    value["latest"],
                    value["arrival"],
                    value.get("cluster", ""),
                )
        unread = [id_ for id_, each in captures.items() if not each.url]
        for id_, source in self._index.sources(unread, ["url"]).items():
            captures[id_] = captures[id_]._replace(url=source["url"])
        return captures

    def _digests(self, ids: Iterable[str], name: DigestName) -> dict[str, tuple[str, Version]]:
        """Return the digests `name` of pages by id, each with the version of the page that has it."""
        found: dict[str, tuple[str, Version]] = {}
        for some in batches(ids, KEYS_PER_REQUEST):
            with reporting_engine_errors(self._index.name, "read"):
                answer = self._index.client.mget(
                    index=self._index.index_name, body={"ids": some}, params={"_source_includes": name}
                )
            for each in map(self._index.checked, answer["docs"]):
                if each["found"]:
                    version = each["_seq_no"], each["_primary_term"]
                    found[each["_id"]] = each["_source"].get(name, ""), version
        return found

    def _operation(
        self, kind: Kind, id_: str, source: dict[str, Any] | None = None, only_if: Version | None = None
    ) -> Operation:
        return Operation(kind, self._index.index_name, id_, source, only_if=only_if)

    def _execute(self, operations: Sequence[Operation]) -> None:
        for each in self._bulk(operations):
            self._check(each)

    def _check(self, written: WriteOutcome) -> None:
        # Another process may have just deleted it.
        if written.outcome == "failed" and written.reason != NOT_FOUND:
            raise StoreError(f"{self._index.name} cannot be written: {written.reason}")

    def _bulk(self, operations: Sequence[Operation]) -> list[WriteOutcome]:
        with reporting_engine_errors(self._index.name, "written"):
            name, client = self._index.name, self._index.client
            return list(bulk(client, operations, name=name, require_alias=self._index.alias))


def _latest(captures: Mapping[str, StoredCapture]) -> set[str]:
    """Return the id of the latest capture of each URL. No two have the same time; an unknown time is the earliest."""
    last: dict[str, tuple[float, str]] = {}
    for id_, each in captures.items():
        rank = (-inf if each.time is None else each.time, id_)
        last[each.url] = max(last.get(each.url, rank), rank)
    return {id_ for _, id_ in last.values()}


def _outcomes(
    ids: Iterable[str], before: Iterable[str], failed: Mapping[str, str], blocked: Collection[str]
) -> Iterator[WriteOutcome]:
    known = set(before)
    for id_ in ids:
        if id_ in failed:
            yield WriteOutcome(id_, "failed", failed[id_])
        elif id_ in blocked:
            yield WriteOutcome(id_, "blocked")
        else:
            yield WriteOutcome(id_, "replaced" if id_ in known else "added")
            known.add(id_)


def erase_deleted(index: IndexClient) -> None:
    """Merge all segments that have deleted documents, in the index of the pages and in that of the settings."""
    indices = [index.index_name, index.settings_index]
    with reporting_engine_errors(index.name, "written"):
        client = index.client.indices
        client.refresh(index=indices)
        stats = client.stats(index=indices, params={"level": "shards"})
        if not stats["_all"]["total"]["docs"]["deleted"]:
            return
        _wait_for_leases(index, indices, {key: shard["seq_no"]["max_seq_no"] for key, shard in _shards(stats)})
        client.flush(index=indices)  # an engine also keeps documents that were deleted since its last commit
        client.put_settings(index=indices, body={ALLOWED_SHARE: 0})
        try:
            client.forcemerge(index=indices, params={"only_expunge_deletes": "true", "request_timeout": MERGE_SECONDS})
        finally:
            client.put_settings(index=indices, body={ALLOWED_SHARE: None})


def _wait_for_leases(index: IndexClient, indices: list[str], last: dict[tuple[str, str], int]) -> None:
    """Wait until no copy of a shard needs the operations up to `last`."""
    deadline = time.monotonic() + LEASE_SECONDS
    while True:
        stats = index.client.indices.stats(index=indices, params={"level": "shards"})
        if all(
            lease["retaining_seq_no"] > last.get(key, -1)
            for key, shard in _shards(stats)
            for lease in shard["retention_leases"]["leases"]
        ):
            return
        if time.monotonic() > deadline:
            raise StoreError(
                f"{index.name} cannot be erased yet: the engine keeps deleted documents for a copy of a shard that is"
                " missing or behind; run winnow delete --erase when the cluster is green"
            )
        time.sleep(POLL_SECONDS)


def _shards(stats: dict[str, Any]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Yield each copy of a shard, as the names of its index and shard, and its statistics."""
    for name, index in stats["indices"].items():
        for number, copies in index["shards"].items():
            for copy in copies:
                yield (name, number), copy
