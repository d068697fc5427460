"""Reads and writes the settings of a store, which are documents of a second index."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from opensearchpy import OpenSearch

from opensearch_winnow.stores.last_deletion import SETTING as LAST_DELETION
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_loop import CHANGED, NOT_FOUND
from opensearch_winnow.stores.opensearch.requests.bulk_operation import Operation
from opensearch_winnow.stores.opensearch.requests.complete_answers import complete
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.store import StoreError

CACHE_SECONDS = 1.0  # one question reads the same setting several times
MAX_NAMES_PER_REQUEST = 10_000  # an engine returns no more hits at once
KEEP_ALIVE = "1m"  # the longest pause between two requests for names, after which the engine drops the list
# A value can have megabytes: the first request asks for few, the next ones for as many as their mean size allows.
MIN_VALUES_PER_REQUEST = 20
MAX_VALUES_PER_REQUEST = 1_000
VALUE_CHARS_PER_REQUEST = 4_000_000
MAX_TRIES = 20  # to change a setting that other programs keep changing


class StoredSettings:
    """The settings of a store by name, cached for a second."""

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self.index = index.settings_index
        self._cache: dict[str, tuple[float, str | None]] = {}  # by name: time of expiry, and the value as JSON
        self._exist = False

    def exist(self) -> bool:
        """Return whether the store has settings. Opened by the name of the index behind its alias, it has none."""
        if not self._exist:
            with reporting_engine_errors(self._index.name, "read"):
                answer = self._client.get(index=self.index, id="any", params={"ignore": 404})
            self._exist = "error" not in answer
        return self._exist

    def get(self, name: str) -> Any:
        return self.read(name, cached=name != LAST_DELETION)  # caches of answers are valid until this one changes

    def read(self, name: str, *, cached: bool) -> Any:
        """Return a setting: if `cached`, it may come from the cache, otherwise it is read from the engine."""
        until, value = self._cache.get(name, (0.0, None))
        if not cached or time.monotonic() > until:
            document = self._document(name)
            value = document["_source"]["value"] if document["found"] else None
            self._cache[name] = time.monotonic() + CACHE_SECONDS, value
        # Decoded each time, because the caller may change the value.
        return None if value is None else json.loads(value)

    def names(self, prefix: str = "") -> list[str]:
        return sorted(name for name in self._all_names() if name.startswith(prefix))

    def with_prefix(self, prefix: str = "") -> dict[str, Any]:
        names = self.names(prefix)
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

    def set(self, values: Mapping[str, Any]) -> None:
        self._document("any")  # an engine would create a missing index, as after `winnow detach`, without its mapping
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
                # A setting to remove need not exist.
                if each.outcome == "failed" and values[each.id] is not None:
                    raise StoreError(f"{self._index.name} cannot be written: {each.reason}")
            self._client.indices.refresh(index=self.index)

    def change(self, name: str, change: Callable[[Any], Any]) -> None:
        """Set a setting to `change(value)`, and try again if another process changes it at the same time."""
        for _ in range(MAX_TRIES):
            document = self._document(name)
            found = document["found"]
            value = change(json.loads(document["_source"]["value"]) if found else None)
            self._cache.pop(name, None)
            if value is None and not found:
                return
            kind: Literal["index", "create", "delete"] = "delete" if value is None else "index" if found else "create"
            source = None if value is None else {"value": json.dumps(value)}
            version = (document["_seq_no"], document["_primary_term"]) if found else None
            operation = Operation(kind, self.index, name, source, only_if=version)
            with reporting_engine_errors(self._index.name, "written"):
                (written,) = bulk(self._client, [operation], name=self._index.name, require_alias=False)
                if written.outcome != "failed":
                    self._client.indices.refresh(index=self.index)
                    return
            if written.reason not in (CHANGED, NOT_FOUND):
                raise StoreError(f"{self._index.name} cannot be written: {written.reason}")
        raise StoreError(f"{self._index.name} cannot be written: other programs change {name} all the time")

    def _document(self, name: str) -> dict[str, Any]:
        with reporting_engine_errors(self._index.name, "read"):
            answer = self._client.get(index=self.index, id=name, params={"ignore": 404})
        return self._index.checked(answer)  # a missing index is an error

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
