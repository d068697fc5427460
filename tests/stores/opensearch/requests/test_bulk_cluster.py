"""Bulk writes while a node dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_operation import BulkLimits, Operation

pytestmark = pytest.mark.check

PAGES = 6_000
KILLED_AT = 2_000


@pytest.mark.xdist_group("nodes")
def test_a_killed_node_loses_no_document(start_engine: Callable[..., Running]) -> None:
    """One of three nodes, which holds primaries, is killed: all documents are written all the same."""
    engine = start_engine(nodes=3)
    victim = "node-2"

    def operations() -> Iterator[Operation]:
        for number in range(PAGES):
            if number == KILLED_AT:
                os.kill(engine.pids[victim], signal.SIGKILL)
            yield Operation("index", "pages", str(number), {"n": number, "text": "as good as any other " * 20})

    with OpenSearch(list(engine.urls.values()), timeout=60, dead_timeout=1) as client:
        client.indices.create(
            index="pages-000001",
            body={"settings": {"number_of_shards": 3, "number_of_replicas": 1}, "aliases": {"pages": {}}},
            wait_for_active_shards="all",
        )
        shards = client.cat.shards(index="pages", format="json", h="node,prirep")
        assert {"node": victim, "prirep": "p"} in shards
        written = list(bulk(client, operations(), limits=BulkLimits(count=100, give_up_after=60.0)))
        assert [each.id for each in written] == [str(number) for number in range(PAGES)]
        # Not always "added": another node may have repeated a write that the dead node had begun.
        assert "failed" not in {each.outcome for each in written}
        assert victim not in {node.name for node in engine.alive}
        client.indices.refresh(index="pages")
        assert client.count(index="pages")["count"] == PAGES
