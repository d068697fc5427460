"""Copying the pages of an index to another one within the cluster, in rounds that catch up with its writers."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from opensearchpy import NotFoundError, OpenSearch, OpenSearchException

from opensearch_winnow.mappings.opensearch_pipeline import PAST_IT
from opensearch_winnow.stores.opensearch.refusals import reason_of
from opensearch_winnow.stores.store import StoreError

AT_A_TIME = 500  # pages in a batch: of some 20 kB each, while the engine takes up to 100 MB
SHORTEST, LONGEST = 0.05, 1.0  # seconds between two looks at a task
ACTION = "indices:data/write/reindex"


class Checkpoint(NamedTuple):
    """All that was written to a shard up to `done` is on all of its copies; `last` may be on its way."""

    done: int
    last: int


class Copies:
    """Each shard is copied by a task of its own, from where the one before has begun to read.

    Writes of a shard have numbers that rise: what has a higher one than all that was readable before a round began is
    copied again in the next, and so is what the round itself may have seen or not. A page is replaced by its later
    self, and never by an earlier one, for one round follows the other.
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
        self._copied: dict[int, int] = {}  # by shard: the number up to which its pages are there
        self.rounds = 0

    def round(self) -> int:
        """Copy what is new; how many writes came meanwhile."""
        before = self._checkpoints()
        self._client.indices.refresh(index=self._old)
        self.rounds += 1
        tasks = [
            self._start(shard, len(before))
            for shard, checkpoint in before.items()
            if checkpoint.last > self._copied.get(shard, -1)
        ]
        self._wait(tasks)
        self._copied = {shard: checkpoint.done for shard, checkpoint in before.items()}
        return sum(now.last - before[shard].done for shard, now in self._checkpoints().items())

    def cancel(self) -> None:
        """End all tasks that copy to the new index, whoever has started them."""
        with suppress(OpenSearchException):
            answer = self._client.transport.perform_request(
                "GET", "/_tasks", params={"actions": ACTION, "detailed": "true"}
            )
            found = [
                task
                for node in answer["nodes"].values()
                for task, about in node["tasks"].items()
                if f"to [{self._new}]" in about.get("description", "")
            ]
            for task in found:
                with suppress(NotFoundError):  # ended by itself
                    self._client.transport.perform_request(
                        "POST", f"/_tasks/{task}/_cancel", params={"wait_for_completion": "true"}
                    )

    def _checkpoints(self) -> dict[int, Checkpoint]:
        stats = self._client.indices.stats(index=self._old, params={"level": "shards"})
        ((_, about),) = stats["indices"].items()
        return {
            int(shard): Checkpoint(copy["seq_no"]["global_checkpoint"], copy["seq_no"]["max_seq_no"])
            for shard, copies in about["shards"].items()
            for copy in copies
            if copy["routing"]["primary"]
        }

    def _start(self, shard: int, shards: int) -> str:
        source: dict[str, Any] = {"index": self._old, "size": AT_A_TIME}
        if shard in self._copied:
            source["query"] = {"range": {"_seq_no": {"gt": self._copied[shard]}}}
        if shards > 1:
            source["slice"] = {"id": shard, "max": shards}  # as many as shards: each slice is one of them
        answer = self._client.reindex(
            body={"source": source, "dest": {"index": self._new, "pipeline": PAST_IT}},
            params={"wait_for_completion": "false"},
        )
        return str(answer["task"])

    def _wait(self, tasks: list[str]) -> None:
        pause = SHORTEST
        running = dict.fromkeys(tasks, (0, 0))  # copied, of all
        while True:
            left = False
            for task in tasks:
                about = self._client.tasks.get(task_id=task)
                status = about["task"]["status"]
                running[task] = (status["created"] + status["updated"], status["total"])
                if about["completed"]:
                    self._check(about)
                left |= not about["completed"]
            copied, total = (sum(column) for column in zip(*running.values(), strict=True)) if running else (0, 0)
            self._progress(f"copying pages (round {self.rounds})", copied / total if total else None)
            if not left:
                return
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)

    def _check(self, about: dict[str, Any]) -> None:
        failures = about.get("response", {}).get("failures") or []
        error = about.get("error") or next((each.get("cause") or each.get("reason") for each in failures), None)
        if error:
            raise StoreError(f"{self._old} cannot be copied to {self._new}: {reason_of(error)}")
        if "canceled" in about.get("response", {}):
            raise StoreError(f"copying {self._old} to {self._new} was cancelled: {about['response']['canceled']}")
