"""Reads hits whose fields may have a stamp. If it does not fit, the text decides whether they are stale.

Every change of a document raises its version. The stamp of winnow's fields in an attached index is the version that
they were made from, and the UUID of the index: a copy of an index counts versions anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.dsl.pages import Search
from opensearch_winnow.queries.searching.engine_hits import Answer, EngineHits, Key, hit_key
from opensearch_winnow.queries.searching.grouping import Call, Steps
from opensearch_winnow.queries.searching.hit_documents import FieldTexts, Hit


class StampedHits(EngineHits):
    """The hits of a search in any index. Fields without a stamp, as `winnow_fields` returns them, are trusted."""

    def __init__(
        self,
        body: Search,
        search: Callable[[Search], Steps[Answer]],
        scheme: Scheme,
        *,
        below: str,
        texts: FieldTexts,
        count: bool,
    ) -> None:
        self.stale = 0  # hits whose fields were made from another version
        self._prefix = f"{below}." if below else ""
        self._uuids: dict[str, str] = {}  # of the indices, by name
        super().__init__(body, search, scheme, below=below, texts=texts, count=count)
        self._signatures |= {"version": True}

    @property
    def _field_names(self) -> Sequence[str]:
        return *super()._field_names, "stamp"

    def _renew(self, hits: Sequence[Hit]) -> Steps[dict[Key, Hit]]:
        field = f"{self._prefix}stamp"
        stamped = [hit for hit in hits if field in hit.get("fields", {})]
        yield from self._read_uuids({hit["_index"] for hit in stamped} - self._uuids.keys())
        stale = [hit for hit in stamped if hit["fields"][field] != [f"{hit['_version']}-{self._uuids[hit['_index']]}"]]
        self.stale += len(stale)
        found = yield from self._with_texts(stale, {"_source": [*self._texts.paths, f"{self._prefix}text_digest"]})
        documents = {key: found.get(key) for key in map(hit_key, stale)}
        for hit in stale:
            document = documents[hit_key(hit)]
            if document is None or self._texts.text(document) is None:  # its resemblance to others is unknown
                hit["fields"] |= {f"{self._prefix}shingle_count": [0]}
        return {key: document for key, document in documents.items() if document is not None}

    def _read_uuids(self, indices: set[str]) -> Steps[None]:
        """Read the UUIDs of indices. Without them no stamp fits, and the texts are read."""
        if not indices:
            return
        self._uuids |= dict.fromkeys(indices, "")
        try:
            found = yield Call("indices.get_settings", {"index": ",".join(sorted(indices)), "name": "index.uuid"})
        except Exception:  # the user may not read settings, for example
            return
        self._uuids |= {index: found[index]["settings"]["index"]["uuid"] for index in found}
