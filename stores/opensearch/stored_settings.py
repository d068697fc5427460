"""Reads and writes the settings of a store, which are documents of a second index."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.stores.opensearch.bulk import bulk
from opensearch_winnow.stores.opensearch.bulk_operation import Operation
from opensearch_winnow.stores.opensearch.complete_answers import complete
from opensearch_winnow.stores.opensearch.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.store import StoreError

CACHE_SECONDS = 1.0  # one question reads the same setting several times
MAX_NAMES_PER_REQUEST = 10_000  # an engine returns no more hits at once
KEEP_ALIVE = "1m"  # for which the engine keeps the list of names between two requests
# A single value can have megabytes. The first request is for few; the next ones for as many as fit by their mean size.
MIN_VALUES_PER_REQUEST = 20
MAX_VALUES_PER_REQUEST = 1_000
VALUE_CHARS_PER_REQUEST = 4_000_000


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

    def names(self, beginning: str) -> list[str]:
        """Return the names of the settings that begin with `beginning`, sorted."""
        return sorted(name for name in self._all_names() if name.startswith(beginning))

    def read_all(self, beginning: str) -> dict[str, Any]:
        """Return the settings whose names begin with `beginning`, by name."""
        names = self.names(beginning)
        values: dict[str, Any] = {}
        start, size = 0, MIN_VALUES_PER_REQUEST
        while start < len(names):
            some = names[start : start + size]
            with reporting_engine_errors(self._index.name, "read"):
                documents = self._client.mget(index=self.index, body={"ids": some})["docs"]
            found = {each["_id"]: each["_source"]["value"] for each in documents if each["found"]}
            values |= {name: json.loads(value) for name, value in found.items()}
            start += size
            mean = sum(map(len, found.values())) // max(len(found), 1)
            size = min(max(VALUE_CHARS_PER_REQUEST // max(mean, 1), MIN_VALUES_PER_REQUEST), MAX_VALUES_PER_REQUEST)
        return values

    def change(self, values: Mapping[str, Any]) -> None:
        """Set settings by name; remove those whose value is None."""
        for name in values:
            self._cache.pop(name, None)
        operations = [
            Operation("delete", self.index, name)
            if value is None
            else Operation("index", self.index, name, {"value": json.dumps(value)})
            for name, value in values.items()
        ]
        with reporting_engine_errors(self._index.name, "written"):
            for each in bulk(self._client, operations, name=self._index.name, require_alias=False):
                # A setting that is to be removed need not exist.
                if each.outcome == "failed" and values[each.id] is not None:
                    raise StoreError(f"{self._index.name} cannot be written: {each.reason}")
            self._client.indices.refresh(index=self.index)

    def _all_names(self) -> Iterator[str]:
        body = {"size": MAX_NAMES_PER_REQUEST, "_source": False, "track_total_hits": True}
        answer = self._index.raw_search(body, self.index)
        if answer["hits"]["total"]["value"] <= MAX_NAMES_PER_REQUEST:
            yield from (hit["_id"] for hit in answer["hits"]["hits"])
            return
        answer = self._index.raw_search(body, self.index, scroll=KEEP_ALIVE)
        try:
            while hits := answer["hits"]["hits"]:
                yield from (hit["_id"] for hit in hits)
                with reporting_engine_errors(self._index.name, "read"):
                    scroll = {"scroll_id": answer["_scroll_id"], "scroll": KEEP_ALIVE}
                    answer = complete(self._client.scroll(body=scroll))
        finally:
            self._index.clear_scroll(answer["_scroll_id"])

    @property
    def _client(self) -> OpenSearch:
        return self._index.client
