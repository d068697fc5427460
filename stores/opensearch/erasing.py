"""Makes the engine drop deleted documents from its files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from opensearch_winnow.stores.opensearch.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.store import StoreError

# Engines keep deleted documents to bring copies of a shard up to date, and look every 30 s which they still need. A
# copy that is missing holds them for up to twelve hours.
LEASE_SECONDS = 90.0
POLL_SECONDS = 1.0
MERGE_SECONDS = 3_600  # the longest to wait for; the engine goes on merging afterwards
ALLOWED_SHARE = "index.merge.policy.expunge_deletes_allowed"  # in per cent; by default a segment may keep a tenth


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
        client.flush(index=indices)  # an engine also keeps what its last commit does not have
        client.put_settings(index=indices, body={ALLOWED_SHARE: 0})
        try:
            client.forcemerge(index=indices, params={"only_expunge_deletes": "true", "request_timeout": MERGE_SECONDS})
        finally:
            client.put_settings(index=indices, body={ALLOWED_SHARE: None})


def _wait_for_leases(index: IndexClient, indices: list[str], last: dict[tuple[str, str], int]) -> None:
    """Wait until no copy of a shard needs the operations up to the `last` one."""
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
    """Yield the numbers of each copy of a shard, with the names of its index and of the shard."""
    for name, index in stats["indices"].items():
        for number, copies in index["shards"].items():
            for copy in copies:
                yield (name, number), copy
