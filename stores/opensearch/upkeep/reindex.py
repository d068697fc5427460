"""Copies the pages of an index to another one within the engine, in rounds that catch up with writers.

Pages that were deleted from the original in the meantime are then deleted from the copy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from opensearchpy import NotFoundError, OpenSearch, OpenSearchException

from opensearch_winnow.mappings.opensearch_pipeline import NO_PIPELINE
from opensearch_winnow.queries.dsl.pages import Search, following
from opensearch_winnow.stores.opensearch.index_client import NO_PARTIAL_RESULTS
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_loop import NOT_FOUND
from opensearch_winnow.stores.opensearch.requests.bulk_operation import Operation
from opensearch_winnow.stores.opensearch.requests.complete_answers import complete
from opensearch_winnow.stores.opensearch.requests.error_reasons import explain_error
from opensearch_winnow.stores.store import StoreError

BATCH_SIZE = 500  # pages of some 20 kB each; the engine accepts batches of up to 100 MB
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 0.05, 1.0  # between two requests for the state of a task
REINDEX_ACTION = "indices:data/write/reindex"
MAX_IDS_TO_COMPARE = 1_000  # in a range of arrivals

Clause = dict[str, Any]


class Checkpoint(NamedTuple):
    """The progress of writing to a shard, as sequence numbers."""

    done: int  # every write up to this one is on all copies of the shard
    last: int  # the latest write, which may still be under way


class Reindexer:
    """Copies an index shard by shard, in rounds: each round copies the writes since the round before began.

    The writes to a shard have increasing sequence numbers. A round copies every page with a higher number than the
    checkpoint at the start of the round before, so some pages are copied twice. Rounds do not overlap, so a page is
    only replaced by a later version of itself.
    """

    def __init__(
        self,
        client: OpenSearch,
        old: str,
        new: str,
        progress: Callable[[str, float | None], None] = lambda step, share: None,  # noqa: ARG005
    ) -> None:
        self._client = client
        self._old = old
        self._new = new
        self._progress = progress
        self._copied: dict[int, int] = {}  # by shard: the sequence number up to which its pages are copied
        self.rounds = 0

    def run_round(self) -> int:
        """Copy the writes since the last round, and return the number of writes that came meanwhile."""
        self._wait_for_all()  # a task of an earlier round could put back an older version of a page
        before = self._checkpoints()
        complete(self._client.indices.refresh(index=self._old))
        self.rounds += 1
        tasks = [
            self._start(shard, len(before))
            for shard, checkpoint in before.items()
            if checkpoint.last > self._copied.get(shard, -1)
        ]
        self._wait(tasks)
        self._wait_for_all()
        self._copied = {shard: checkpoint.done for shard, checkpoint in before.items()}
        return sum(now.last - before[shard].done for shard, now in self._checkpoints().items())

    def cancel(self) -> None:
        """Cancel all tasks that copy to the new index, even those of other processes."""
        with suppress(OpenSearchException):
            for task in self._running():
                with suppress(NotFoundError):  # it has ended by itself
                    self._client.transport.perform_request(
                        "POST", f"/_tasks/{task}/_cancel", params={"wait_for_completion": "true"}
                    )

    def _running(self) -> list[str]:
        """Return the tasks that copy to the new index."""
        answer = self._client.transport.perform_request(
            "GET", "/_tasks", params={"actions": REINDEX_ACTION, "detailed": "true"}
        )
        return [
            task
            for node in answer["nodes"].values()
            for task, about in node["tasks"].items()
            if f"to [{self._new}]" in about.get("description", "")
        ]

    def _wait_for_all(self) -> None:
        """Wait for every task that copies to the new index. A request that was sent twice has started two tasks."""
        while self._running():
            time.sleep(MAX_POLL_SECONDS)

    def _checkpoints(self) -> dict[int, Checkpoint]:
        stats = complete(self._client.indices.stats(index=self._old, params={"level": "shards"}))
        ((_, about),) = stats["indices"].items()
        return {
            int(shard): Checkpoint(copy["seq_no"]["global_checkpoint"], copy["seq_no"]["max_seq_no"])
            for shard, copies in about["shards"].items()
            for copy in copies
            if copy["routing"]["primary"]
        }

    def _start(self, shard: int, shards: int) -> str:
        source: dict[str, Any] = {"index": self._old, "size": BATCH_SIZE}
        if shard in self._copied:
            source["query"] = {"range": {"_seq_no": {"gt": self._copied[shard]}}}
        if shards > 1:
            source["slice"] = {"id": shard, "max": shards}  # as many slices as shards: then each slice is a shard
        answer = self._client.reindex(
            body={"source": source, "dest": {"index": self._new, "pipeline": NO_PIPELINE}},
            params={"wait_for_completion": "false"},
        )
        return str(answer["task"])

    def _wait(self, tasks: list[str]) -> None:
        pause = MIN_POLL_SECONDS
        progress = dict.fromkeys(tasks, (0, 0))  # pages copied, pages to copy
        while True:
            unfinished = False
            for task in tasks:
                about = self._client.tasks.get(task_id=task)
                status = about["task"]["status"]
                progress[task] = (status["created"] + status["updated"], status["total"])
                if about["completed"]:
                    self._check(about)
                unfinished |= not about["completed"]
            copied, total = (sum(column) for column in zip(*progress.values(), strict=True)) if progress else (0, 0)
            self._progress(f"copying pages (round {self.rounds})", copied / total if total else None)
            if not unfinished:
                return
            time.sleep(pause)
            pause = min(2 * pause, MAX_POLL_SECONDS)

    def _check(self, about: dict[str, Any]) -> None:
        failures = about.get("response", {}).get("failures") or []
        error = about.get("error") or next((each.get("cause") or each.get("reason") for each in failures), None)
        if error:
            raise StoreError(f"{self._old} cannot be copied to {self._new}: {explain_error(error)}")
        if "canceled" in about.get("response", {}):
            raise StoreError(f"copying {self._old} to {self._new} was cancelled: {about['response']['canceled']}")


def delete_leftovers(client: OpenSearch, old: str, new: str) -> int:
    """Delete from the new index the pages that are missing in the old one, and return their number.

    Both indices must be refreshed and closed to writes, and every page of the old one must be in the new one. Then a
    range of arrivals with equally many pages in both has the same pages, and only the other ranges are compared.
    """
    with_arrival: Clause = {"exists": {"field": "arrival"}}
    all_pages: list[Clause] = [{"bool": {"must_not": with_arrival}}, with_arrival]
    ids = [id_ for clause in all_pages for id_ in _leftovers(client, old, new, clause)]
    for written in bulk(client, (Operation("delete", new, id_) for id_ in ids), name=new, require_alias=False):
        if written.outcome == "failed" and written.reason != NOT_FOUND:
            raise StoreError(f"{new} cannot be written: {written.reason}")
    return len(ids)


def _leftovers(client: OpenSearch, old: str, new: str, clause: Clause) -> Iterator[str]:
    before, after = (int(complete(client.count(index=index, body={"query": clause}))["count"]) for index in (old, new))
    if before == after:
        return
    middle = _middle(client, new, clause) if after > MAX_IDS_TO_COMPARE else None
    if middle is None:
        yield from _ids(client, new, clause) - _ids(client, old, clause)
        return
    for side in ({"lte": middle}, {"gt": middle}):
        yield from _leftovers(client, old, new, {"bool": {"filter": [clause, {"range": {"arrival": side}}]}})


def _middle(client: OpenSearch, index: str, clause: Clause) -> int | None:
    """Return the middle of the range of arrivals; None if all pages have the same arrival, or none has one."""
    ends = []
    for order in ("asc", "desc"):
        body = {"size": 1, "query": clause, "sort": [{"arrival": order}], "_source": False}
        body["docvalue_fields"] = ["arrival"]
        hits = complete(client.search(index=index, body=body, params=NO_PARTIAL_RESULTS))["hits"]["hits"]
        ends += [hit["fields"]["arrival"][0] for hit in hits if "arrival" in hit.get("fields", {})]
    if len(ends) < 2 or ends[0] == ends[1]:
        return None
    return int(ends[0] + (ends[1] - ends[0]) // 2)


def _ids(client: OpenSearch, index: str, clause: Clause) -> set[str]:
    """Return the ids of pages, shard by shard. Each search starts after the last write that the previous one found."""
    shards = int(client.indices.get_settings(index=index)[index]["settings"]["index"]["number_of_shards"])
    ids: set[str] = set()
    for shard in range(shards):
        parameters = NO_PARTIAL_RESULTS | {"preference": f"_shards:{shard}"}
        search: Search | None = {
            "query": clause,
            "_source": False,
            "sort": [{"_seq_no": "asc"}],
            "size": MAX_IDS_TO_COMPARE,
        }
        while search is not None:
            hits = complete(client.search(index=index, body=search, params=parameters))["hits"]["hits"]
            ids.update(hit["_id"] for hit in hits)
            search = following(search, hits)
    return ids
