"""Brings winnow's fields in an attached index up to date, in new and changed documents or in all.

The writes to a shard are numbered. The settings of the store hold the number up to which a shard is done; the next run
looks at documents with higher numbers only. Documents that winnow itself wrote last are recognised by their stamps.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count, pairwise
from threading import Event, Lock
from typing import Any, NamedTuple

from opensearch_winnow.foundation.document_paths import text_at
from opensearch_winnow.foundation.progress import no_progress
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.queries.dsl.filters import all_of
from opensearch_winnow.stores.attach_options import AttachOptions
from opensearch_winnow.stores.opensearch.index_client import DOCUMENTS_PER_REQUEST, EngineHit, total
from opensearch_winnow.stores.opensearch.own_index.attach_reports import AttachReport
from opensearch_winnow.stores.opensearch.own_index.attached_index_client import AttachedIndexClient
from opensearch_winnow.stores.opensearch.own_index.attached_writer import update
from opensearch_winnow.stores.opensearch.own_index.run_lock import RunLock
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_loop import CHANGED, NOT_FOUND
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits, Operation
from opensearch_winnow.stores.opensearch.requests.error_reasons import UNAVAILABLE_SHARD
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.stored_settings import StoredSettings
from opensearch_winnow.stores.store import StoreError

CHECKPOINTS = "attached"  # the setting
HITS_PER_REQUEST = 5_000  # without their sources
FIRST_DOCUMENTS = 10  # in the first request for sources; the next ones are larger if the documents are small
MAX_CHARS_READ = 5_000_000  # of text in one request
MAX_ROUNDS = 20  # each brings documents up to date that were written during the one before
MAX_FAILURES = 10  # whose reasons are reported
LIMITS = BulkLimits(requests=2)

Key = tuple[str, str, int]  # of a document as it is: its index, its id, and the number of its last write
Checkpoints = dict[str, list[Any]]  # by shard, its history and the number of the last write that is done
DEFAULTS = AttachOptions()


class Shard(NamedTuple):
    """A shard of the index, and the numbers of its writes."""

    index_name: str
    number: int
    history: str  # another one means that the numbers of writes start anew
    complete: int  # all copies of the shard have every write up to this number, and keep it
    highest: int  # the number of the last write; some copies may lack writes between the two

    @property
    def key(self) -> str:
        return f"{self.index_name}/{self.number}"


class Slice(NamedTuple):
    """The documents of a shard whose last write has a number above `after`, up to `until`."""

    shard: Shard
    after: int
    until: int

    def query(self) -> dict[str, Any]:
        return all_of([{"range": {"_seq_no": {"gt": self.after, "lte": self.until}}}])

    def cut(self, parts: int) -> list[Slice]:
        """Cut it into parts of about the same number of writes."""
        size = self.until - self.after
        edges = [self.after + size * part // parts for part in range(parts + 1)]
        return [Slice(self.shard, *each) for each in pairwise(edges) if each[0] < each[1]]


class Repair(NamedTuple):
    """The write that a document needs."""

    operation: Operation
    counters: Sequence[str] = ()  # that it raises: `done` if a text gets other fields, `prepared` if it had its hashes


class Backfill:
    """Writes winnow's fields to the documents that lack them or have changed, several slices at a time.

    Other fields of a document stay as they are, and a document that changes at the same time is done again. A run after
    one that was stopped or killed continues where that one ended.
    """

    def __init__(
        self,
        index: AttachedIndexClient,
        options: AttachOptions = DEFAULTS,
        *,
        lock: RunLock | None = None,
        unwritable: Mapping[str, str] | None = None,
    ) -> None:
        self._index = index
        self._unwritable = unwritable or {}  # indices to leave as they are, each with the reason
        self._left_out: Counter[str] = Counter()  # documents of those indices that need fields
        self._run_lock = lock  # of a run that writes
        self._maker = index.maker
        self._settings = StoredSettings(index)
        slices, per_second = options.slices, options.per_second
        self._slices = slices
        self._pause = 0.0 if per_second is None else slices / per_second  # of a slice, after each document
        # At most as many documents in a request as may be written in a second.
        self._limits = LIMITS if per_second is None else replace(LIMITS, count=max(1, int(per_second / slices)))
        self._progress = options.progress or no_progress
        self._arrivals = count(time.time_ns())
        self._lock = Lock()
        self._stopping = Event()
        self._tally: Counter[str] = Counter()
        self._failures: list[str] = []
        self._failed: set[Key] = set()
        self._failed_in: set[str] = set()  # keys of shards

    def run(self) -> AttachReport:
        """Bring all documents up to date, and report their outcomes."""
        start = time.monotonic()
        phase = "fingerprinting documents"
        saved: Checkpoints = self._settings.get(CHECKPOINTS) or {}
        done = dict(saved)
        if self._unwritable:
            unwritable = [shard for shard in self._shards() if shard.index_name in self._unwritable]
            self._work("looking for changed documents", self._outstanding(unwritable, saved), self._leave_out)
        for _ in range(MAX_ROUNDS):
            shards = [shard for shard in self._shards() if shard.index_name not in self._unwritable]
            writes = self._tally["writes"]
            self._work(phase, self._outstanding(shards, done), self._mend)
            now = {shard.key: [shard.history, shard.complete] for shard in shards}
            done |= now
            # The next run looks again at shards in which documents failed.
            saved |= {key: each for key, each in now.items() if key not in self._failed_in}
            self._check_lock(now=True)
            self._settings.set({CHECKPOINTS: saved})
            if self._tally["writes"] == writes:
                break
            phase = "checking for changes made meanwhile"
        return self._report(time.monotonic() - start)

    def stale(self) -> int:
        """Count the documents that have another text than their fields were made from, or no fields."""
        saved: Checkpoints = self._settings.get(CHECKPOINTS) or {}
        self._work("looking for changed documents", self._outstanding(self._shards(), saved), self._count_stale)
        return self._tally["stale"]

    def _check_lock(self, *, now: bool = False) -> None:
        if self._run_lock is not None:
            self._run_lock.check(now=now)

    # --- slices of the index -----------------------------------------------------------------------------------------

    def _shards(self) -> list[Shard]:
        """Return the shards. Afterwards, searches see all writes up to `complete`."""
        index = self._index
        end = time.monotonic() + LIMITS.give_up_after
        while True:
            with reporting_engine_errors(index.name, "read"):
                stats = index.client.indices.stats(index=index.index_name, level="shards", metric="docs")
                settings = index.client.indices.get_settings(index=index.index_name, name="index.number_of_shards")
            shards = list(_started_shards(stats))
            if len(shards) == sum(int(each["settings"]["index"]["number_of_shards"]) for each in settings.values()):
                index.refresh()
                return shards
            if time.monotonic() > end:
                raise StoreError(f"{index.name} cannot be read: {UNAVAILABLE_SHARD}")
            self._stopping.wait(1)

    def _outstanding(self, shards: Sequence[Shard], checkpoints: Checkpoints) -> list[Slice]:
        slices = []
        for shard in shards:
            history, done = checkpoints.get(shard.key, ("", -1))
            slices += Slice(shard, done if history == shard.history else -1, shard.highest).cut(self._slices)
        return slices

    def _work(self, phase: str, slices: Sequence[Slice], do: Callable[[Slice], None]) -> None:
        """Do all slices in threads, and show their progress."""
        self._tally["seen"] = 0
        total_documents = sum(map(self._count, slices))
        with ThreadPoolExecutor(self._slices, "slice") as pool:
            futures = [pool.submit(do, each) for each in slices]
            try:
                for future in futures:
                    while not future.done():
                        self._progress(phase, min(self._tally["seen"], total_documents), total_documents)
                        time.sleep(0.05)
                    future.result()
            except BaseException:
                self._stopping.set()
                for future in futures:
                    future.cancel()
                raise

    # --- a slice ------------------------------------------------------------------------------------------------------

    def _mend(self, part: Slice) -> None:
        """Write the fields of the documents of a slice that need it."""
        expected: deque[tuple[Key, Sequence[str]]] = deque()  # without the operations, which may be large

        def operations() -> Iterator[Operation]:
            for document in self._stale_documents(part):
                if _key(document) in self._failed:  # in an earlier round
                    continue
                try:
                    repair = self._repair(document)
                except ExtractError as error:
                    self._fail(part, _key(document), str(error))
                    repair = self._cluster_alone(document)
                if repair is not None:
                    self._check_lock()
                    self._add("writes")
                    expected.append((_key(document), repair.counters))
                    yield repair.operation

        name = self._index.name
        with reporting_engine_errors(name, "written"):
            for written in bulk(self._index.client, operations(), name=name, limits=self._limits, require_alias=False):
                key, counters = expected.popleft()
                if written.outcome != "failed":
                    for counter in counters:
                        self._add(counter)
                elif written.reason not in (CHANGED, NOT_FOUND):  # those are done again, or deleted
                    self._fail(part, key, written.reason)

    def _leave_out(self, part: Slice) -> None:
        """Count the documents of a slice that need fields and cannot get them."""
        stale = sum(_stamp(hit) != self._maker.fitting_stamp(hit) for hits in self._hits(part) for hit in hits)
        with self._lock:
            self._left_out[part.shard.index_name] += stale

    def _count_stale(self, part: Slice) -> None:
        for document in self._stale_documents(part):
            found = AttachedDocument.of(document, self._maker.fields)
            with suppress(ExtractError):
                made = self._maker.made(found)
                self._add("stale", made["text_digest"] != found.stored.get("text_digest"))

    def _stale_documents(self, part: Slice) -> Iterator[EngineHit]:
        """Yield the documents of a slice whose fields are missing or may be out of date, as they are now."""
        for hits in self._hits(part):
            stale = [hit for hit in hits if _stamp(hit) != self._maker.fitting_stamp(hit)]
            self._add("seen", len(hits) - len(stale))
            size = FIRST_DOCUMENTS
            while stale:
                batch, stale = stale[:size], stale[size:]
                documents = self._read(batch)
                for document in documents:
                    if self._stopping.wait(self._pause):
                        return
                    yield document
                self._add("seen", len(batch))
                # Documents may be of any size: the largest of the last ones tells how many to read at once.
                largest = max((len(text_at(each["_source"], self._maker.fields.text)) for each in documents), default=0)
                size = min(max(MAX_CHARS_READ // max(largest, 1), 1), DOCUMENTS_PER_REQUEST)

    def _read(self, hits: Sequence[EngineHit]) -> list[EngineHit]:
        """Return documents as they are now, with the fields that are read; deleted documents are left out."""
        fields = [*self._maker.fields.read, self._maker.fields.below]
        keys = [{key: hit[key] for key in ("_index", "_id")} | _routing(hit) for hit in hits]
        with reporting_engine_errors(self._index.name, "read"):
            found = self._index.client.mget(body={"docs": keys}, params={"_source_includes": ",".join(fields)})["docs"]
        return [self._index.checked(each) for each in found if each.get("found") or "error" in each]

    def _hits(self, part: Slice) -> Iterator[list[EngineHit]]:
        """Yield the documents of a slice in the order of their last writes, without their sources."""
        search: dict[str, Any] = {
            "query": part.query(),
            "sort": [{"_seq_no": "asc"}],
            "size": HITS_PER_REQUEST,
            "_source": False,
            "docvalue_fields": [self._index.names["stamp"]],
            "version": True,
            "track_total_hits": False,
        }
        while True:
            hits: list[EngineHit] = self._search(part, search)["hits"]["hits"]
            if not hits:
                return
            self._index.note_indices(hits)
            yield hits
            search["search_after"] = hits[-1]["sort"]

    def _count(self, part: Slice) -> int:
        return total(self._search(part, {"query": part.query(), "size": 0, "track_total_hits": True}))

    def _search(self, part: Slice, search: dict[str, Any]) -> dict[str, Any]:
        return self._index.raw_search(search, part.shard.index_name, preference=f"_shards:{part.shard.number}")

    def _repair(self, hit: EngineHit) -> Repair | None:
        """Return the write that a document needs; None if its fields are up to date."""
        maker = self._maker
        document = AttachedDocument.of(hit, maker.fields)
        if document.stored.get("stamp") == maker.fitting_stamp(hit):
            return None
        made = maker.stamped(document, arrival=next(self._arrivals), version=document.next_version)
        changed = {name: value for name, value in made.items() if document.stored.get(name) != value}
        counters = ["done"] if made["text_digest"] and changed.keys() != {"stamp"} else []
        if counters and maker.is_prepared(document, made["text_digest"]):
            counters.append("prepared")
        return Repair(update(hit, maker.fields.members(changed)), counters)

    def _cluster_alone(self, hit: EngineHit) -> Repair | None:
        """Return the write that a document needs whose text cannot be read: engines fold all without a cluster."""
        document = AttachedDocument.of(hit, self._maker.fields)
        if "cluster" in document.stored:
            return None
        alone = {"id": document.page_id, "cluster": document.page_id}
        return Repair(update(hit, self._maker.fields.members(alone)))

    # --- counting -----------------------------------------------------------------------------------------------------

    def _add(self, name: str, number: int = 1) -> None:
        with self._lock:
            self._tally[name] += number

    def _fail(self, part: Slice, key: Key, reason: str) -> None:
        with self._lock:
            is_known = any(key[:2] == each[:2] for each in self._failed)  # our write of its cluster has another number
            self._failed.add(key)
            self._failed_in.add(part.shard.key)
            if len(self._failures) < MAX_FAILURES and not is_known:
                self._failures.append(f"{key[1]}: {reason}")

    def _report(self, seconds: float) -> AttachReport:
        index = self._index
        index.refresh()
        addresses = {"cardinality": {"field": index.names["url"], "precision_threshold": 40_000}}
        with_text = {
            "filter": [{"exists": {"field": index.names["arrival"]}}],
            "must_not": [{"term": {index.names["shingle_digest"]: ""}}],
        }
        counts: dict[str, Any] = {"texts": {"filter": {"bool": with_text}, "aggs": {"addresses": addresses}}}
        if (time_field := self._maker.fields.time) is not None:
            counts["unread"] = {
                "filter": {
                    "bool": {
                        "filter": [{"exists": {"field": name}} for name in (index.names["arrival"], time_field)],
                        "must_not": [{"exists": {"field": index.names["fetched_us"]}}],
                    }
                }
            }
        answer = index.raw_search({"size": 0, "track_total_hits": True, "aggs": counts}, index.index_name)
        texts = answer["aggregations"]["texts"]
        pages: int = texts["doc_count"]
        done = min(self._tally["done"], pages)
        failed = len({key[:2] for key in self._failed}) + self._left_out.total()
        rest = max(total(answer) - pages - failed, 0)
        return AttachReport(
            store=index.name,
            documents=total(answer),
            done=done,
            prepared=min(self._tally["prepared"], done),
            unchanged=pages - done,
            no_text=rest,
            failed=failed,
            times_unread=answer["aggregations"].get("unread", {}).get("doc_count", 0),
            addresses=min(texts["addresses"]["value"], pages),
            seconds=round(seconds, 3),
            refused={index: self._unwritable[index] for index, stale in self._left_out.items() if stale},
            made=[],
            new_indices=None,
            failures=self._failures,
        )


def _started_shards(stats: Mapping[str, Any]) -> Iterator[Shard]:
    for name, index in stats["indices"].items():
        for number, copies in index["shards"].items():
            for copy in copies:
                if copy["routing"]["primary"] and copy.get("seq_no") and copy.get("commit"):
                    history, numbers = copy["commit"]["user_data"]["history_uuid"], copy["seq_no"]
                    yield Shard(name, int(number), history, numbers["global_checkpoint"], numbers["max_seq_no"])


def _key(document: EngineHit) -> Key:
    return document["_index"], document["_id"], document["_seq_no"]


def _routing(hit: EngineHit) -> dict[str, str]:
    return {"routing": hit["_routing"]} if "_routing" in hit else {}


def _stamp(hit: EngineHit) -> Any:
    return next(iter(hit.get("fields", {}).values()), [None])[0]
