"""The settings of a store: documents of an index beside it."""

from __future__ import annotations

import json
import time
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.stores.opensearch.cluster import Cluster
from opensearch_winnow.stores.opensearch.errors import told

REMEMBERED = 1.0  # seconds; a question looks several times
MOST = 10_000  # names; an engine returns no more at once
AT_ONCE = 20  # values, of which one may have megabytes


class KeptSettings:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.index = f"{cluster.index}.settings"
        self._known: dict[str, tuple[float, str | None]] = {}  # until when, and the value in JSON

    def read(self, name: str) -> Any:
        until, value = self._known.get(name, (0.0, None))
        if time.monotonic() > until:
            with told(self._cluster.name, "read"):
                answer = self._client.get(index=self.index, id=name, params={"ignore": 404})
            found = self._cluster.sound(answer)  # an index that is not there is an error
            value = found["_source"]["value"] if found["found"] else None
            self._known[name] = time.monotonic() + REMEMBERED, value
        # Made anew each time: whoever gets a value may change it.
        return None if value is None else json.loads(value)

    def read_all(self, beginning: str) -> dict[str, Any]:
        """Those whose names begin so."""
        body = {"size": MOST, "_source": False}
        with told(self._cluster.name, "read"):
            found = self._client.search(index=self.index, body=body, params={"allow_partial_search_results": "false"})
            names = sorted(hit["_id"] for hit in found["hits"]["hits"] if hit["_id"].startswith(beginning))
            values: dict[str, Any] = {}
            for start in range(0, len(names), AT_ONCE):
                documents = self._client.mget(index=self.index, body={"ids": names[start : start + AT_ONCE]})["docs"]
                values |= {each["_id"]: json.loads(each["_source"]["value"]) for each in documents if each["found"]}
        return values

    def change(self, name: str, value: Any) -> None:
        """None takes it out."""
        self._known.pop(name, None)
        with told(self._cluster.name, "written"):
            if value is None:
                self._client.delete(index=self.index, id=name, params={"refresh": "true", "ignore": 404})
            else:
                document = {"value": json.dumps(value)}
                self._client.index(index=self.index, id=name, body=document, params={"refresh": "true"})

    @property
    def _client(self) -> OpenSearch:
        return self._cluster.client
