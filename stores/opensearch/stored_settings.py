"""Reads and writes the settings of a store, which are documents of a second index."""

from __future__ import annotations

import json
import time
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.stores.opensearch.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.index_client import IndexClient

CACHE_SECONDS = 1.0  # one question reads the same setting several times
MAX_SETTINGS = 10_000  # an engine returns no more hits at once
VALUES_PER_REQUEST = 20  # a single value can have megabytes


class StoredSettings:
    """The settings of a store by name, cached for a second."""

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self.index = index.settings_index
        self._cache: dict[str, tuple[float, str | None]] = {}  # by name: time of expiry, and the value as JSON

    def read(self, name: str) -> Any:
        until, value = self._cache.get(name, (0.0, None))
        if time.monotonic() > until:
            with reporting_engine_errors(self._index.name, "read"):
                answer = self._client.get(index=self.index, id=name, params={"ignore": 404})
            document = self._index.checked(answer)  # a missing index is an error
            value = document["_source"]["value"] if document["found"] else None
            self._cache[name] = time.monotonic() + CACHE_SECONDS, value
        # Decoded each time, because the caller may change the value.
        return None if value is None else json.loads(value)

    def read_all(self, beginning: str) -> dict[str, Any]:
        """Return the settings whose names begin with `beginning`."""
        body = {"size": MAX_SETTINGS, "_source": False}
        answer = self._index.raw_search(body, self.index)
        with reporting_engine_errors(self._index.name, "read"):
            names = sorted(hit["_id"] for hit in answer["hits"]["hits"] if hit["_id"].startswith(beginning))
            values: dict[str, Any] = {}
            for start in range(0, len(names), VALUES_PER_REQUEST):
                documents = self._client.mget(
                    index=self.index, body={"ids": names[start : start + VALUES_PER_REQUEST]}
                )["docs"]
                values |= {each["_id"]: json.loads(each["_source"]["value"]) for each in documents if each["found"]}
        return values

    def change(self, name: str, value: Any) -> None:
        """Set a setting, or remove it if `value` is None."""
        self._cache.pop(name, None)
        with reporting_engine_errors(self._index.name, "written"):
            if value is None:
                self._client.delete(index=self.index, id=name, params={"refresh": "true", "ignore": 404})
            else:
                document = {"value": json.dumps(value)}
                self._client.index(index=self.index, id=name, body=document, params={"refresh": "true"})

    @property
    def _client(self) -> OpenSearch:
        return self._index.client
