"""Reads hits in an attached index, to be grouped. Fields that are out of date are made again from the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.ingest.own_index.json_document import decoded
from opensearch_winnow.mappings.opensearch_document import hash_fields
from opensearch_winnow.queries.dsl.pages import Search
from opensearch_winnow.queries.searching.engine_hits import Answer, EngineHits, Key, hit_key
from opensearch_winnow.queries.searching.grouping import Call, Steps
from opensearch_winnow.queries.searching.hit_documents import Hit

SKETCH_FIELDS = ("shingle_count", "minhash")


class AttachedTexts:
    """Reads the texts of hits in the same way as for their fingerprints."""

    def __init__(self, maker: FieldsMaker) -> None:
        self._reader = maker.reader
        self.paths = maker.fields.read

    def text(self, hit: Hit) -> str | None:
        if "_source" not in hit:
            return None
        try:
            return self._reader.text(decoded_source(hit)["_source"])
        except WinnowError:  # HTML that cannot be read
            return None

    def name(self, hit: Hit) -> str | None:
        return self._reader.address(decoded_source(hit)["_source"], str(hit["_id"]))


class AttachedHits(EngineHits):
    """The hits of a search in an attached index that have been read so far.

    A change of a document raises its version, so that its stamp no longer fits. The signature of such a hit is made
    from its present text.
    """

    def __init__(self, body: Search, maker: FieldsMaker) -> None:
        fields = maker.fields
        self._maker = maker
        self.top: Answer = {}  # the first answer of the engine, whole
        self.took = 0  # milliseconds of the engine, for all requests
        self.timed_out = False
        self.stale = 0  # hits whose fields were made from another version
        self.shards: Any = None  # as the engine reports them; from an answer with failures, if there is one
        super().__init__(body, self._at_engine, maker.scheme, below=fields.below, texts=AttachedTexts(maker))
        self._signatures |= {"version": True}
        if "query" in body:
            self._signatures["query"] = _without_inner_hits(body["query"])

    @property
    def _field_names(self) -> Sequence[str]:
        return *SKETCH_FIELDS, "stamp"

    def _at_engine(self, search: Search) -> Steps[Answer]:
        point = {name: self.body[name] for name in ("pit",) if name in self.body}  # also where texts are read
        answer = yield Call("search", {"body": search | point})
        self.top = self.top or answer
        self.took += answer["took"]
        self.timed_out = self.timed_out or answer["timed_out"]
        if self.shards is None or answer["_shards"]["failed"]:
            self.shards = answer["_shards"]
        return {name: part for name, part in answer.items() if name != "aggregations"}

    @property
    def partial(self) -> bool:
        """True if a shard has not answered, or not in time."""
        return bool(self.timed_out or self.shards["failed"])

    def _renew(self, hits: Sequence[Hit]) -> Steps[dict[Key, Hit]]:
        fields, maker = self._maker.fields, self._maker
        below = fields.below
        with_fields = [hit for hit in hits if f"{below}.shingle_count" in hit.get("fields", {})]
        stale = [hit for hit in with_fields if hit["fields"].get(f"{below}.stamp") != [maker.fitting_stamp(hit)]]
        self.stale += len(stale)
        search = {"_source": [below, fields.cluster, *fields.read], "version": True}
        found = yield from self._with_texts(stale, search)
        for hit in stale:
            document = found.get(hit_key(hit))
            made = self._made_again(document) if document else hash_fields()
            hit["fields"] |= {f"{below}.{name}": [made[name]] for name in SKETCH_FIELDS}
        return {}

    def _made_again(self, document: Hit) -> dict[str, Any]:
        try:
            return self._maker.made(AttachedDocument.of(decoded_source(document), self._maker.fields))
        except WinnowError:  # HTML that cannot be read
            return hash_fields()


def decoded_source(hit: Hit) -> Hit:
    """Return a hit with its document decoded. In answers that are passed on, it is bytes."""
    source = hit.get("_source")
    return {**hit, "_source": decoded(source)} if isinstance(source, msgspec.Raw) else hit


def _without_inner_hits(query: Any) -> Any:
    """Return the query without inner hits, which only shown hits need. It finds and scores the same."""
    if isinstance(query, list):
        return [_without_inner_hits(each) for each in query]
    if not isinstance(query, dict):
        return query
    collects = "inner_hits" in query and "query" in query
    return {
        name: _without_inner_hits(value) for name, value in query.items() if not (collects and name == "inner_hits")
    }
