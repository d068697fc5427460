"""The settings of a store: documents of an index beside it."""

from __future__ import annotations

import json
import time
from typing import Any

from opensearch_winnow.stores.opensearch.cluster import Cluster
from opensearch_winnow.stores.opensearch.errors import told

REMEMBERED = 1.0  # seconds; a question looks several times
MOST = 1_000


class KeptSettings:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.index = f"{cluster.index}.settings"
        self._known: dict[str, str] = {}
        self._until = 0.0

    def read(self) -> dict[str, Any]:
        if time.monotonic() > self._until:
            with told(self._cluster.name, "read"):
                answer = self._cluster.client.search(
                    index=self.index, body={"size": MOST}, params={"allow_partial_search_results": "false"}
                )
            self._known = {hit["_id"]: hit["_source"]["value"] for hit in answer["hits"]["hits"]}
            self._until = time.monotonic() + REMEMBERED
        # Made anew each time: whoever gets a value may change it.
        return {name: json.loads(value) for name, value in self._known.items()}

    def change(self, name: str, value: Any) -> None:
        """None takes it out."""
        client = self._cluster.client
        self._until = 0.0
        with told(self._cluster.name, "written"):
            if value is None:
                client.delete(index=self.index, id=name, params={"refresh": "true", "ignore": 404})
            else:
                document = {"value": json.dumps(value)}
                client.index(index=self.index, id=name, body=document, params={"refresh": "true"})
