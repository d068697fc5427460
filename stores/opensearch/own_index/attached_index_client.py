"""Reads an attached index as a store: translates names of fields in requests and answers.

A store asks for `text`, `url`, `arrival` and other fields of its own mapping. Here, `text` and `title` are the fields
that were named when the index was attached, and all others are below the object field `winnow`. A document without
winnow's fields is not a page of the store.

Each change of a document raises its version, so that its stamp no longer fits. The fields of such a document are made
again from its text before the store sees them: an answer never comes from fields that are out of date.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.document_paths import value_at
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.mappings.attached_fields import WINNOW_FIELDS
from opensearch_winnow.mappings.opensearch_document import hash_fields
from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.dsl.filters import all_of
from opensearch_winnow.queries.dsl.pages import Search
from opensearch_winnow.stores.opensearch.index_client import (
    DOCUMENTS_PER_REQUEST,
    EngineHit,
    IndexClient,
)
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors

FIELD_LISTS = ("docvalue_fields", "_source", "fields")  # keys of a request whose values are names of fields
# Fields that every page of a store has, with the values that they have here.
CONSTANTS: dict[str, Any] = {"crawl": "", "content_digest": "", "latest": True}
LATEST = {"term": {"latest": True}}  # no document is marked as the latest of its address: all are found


class AttachedIndexClient(IndexClient):
    """Sends the requests of a store to an attached index, or to the indices behind an alias."""

    def __init__(
        self,
        client: OpenSearch,
        name: str,
        index: str,
        maker: FieldsMaker,
        *,
        settings_index: str,
        nested: Mapping[str, str],
    ) -> None:
        super().__init__(client, name, index, alias=False)
        self.settings_index = settings_index
        self.has_latest = False
        self.maker = maker
        self.fields = maker.fields
        below = maker.fields.below
        self.names: dict[str, str] = {
            field: f"{below}.{field}" for field in (*WINNOW_FIELDS, *CONSTANTS, "payload_digest", "canonical")
        }
        self.names["title"] = maker.fields.title or f"{below}.title"  # the latter does not exist
        self._fields = {name: field for field, name in self.names.items()}
        self._nested = nested  # the paths of nested objects, by the text field in them

    def sources(self, ids: Iterable[str], fields: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
        """Return the sources of pages by id. A search, because engines get documents by `_id` and routing only."""
        distinct = (id_ for id_ in dict.fromkeys(ids) if id_ == storable(id_))
        found: dict[str, dict[str, Any]] = {}
        for batch in batches(distinct, DOCUMENTS_PER_REQUEST):
            search = {"query": all_of([{"ids": {"values": batch}}]), "size": len(batch), "track_total_hits": False}
            found |= {hit["_id"]: hit["_source"] for hit in self.hits(search | {"_source": list(fields) or True})}
        return found

    def term_vectors(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        fields = ("doc", "fields")  # the rest are options, of which one is called `positions`
        requests = [each | self._renamed({name: each[name] for name in fields}) for each in body["docs"]]
        documents = super().term_vectors({"docs": requests})
        for document in documents:
            vectors = document.get("term_vectors", {})
            document["term_vectors"] = {self._fields.get(name, name): vector for name, vector in vectors.items()}
        return documents

    def note_indices(self, hits: Sequence[EngineHit]) -> None:
        """Read the UUIDs and the formats of times of the indices if a hit is in a new one, as after a rollover."""
        maker = self.maker
        if any(hit["_index"] not in maker.uuids for hit in hits):
            with reporting_engine_errors(self.name, "read"):
                found = self.client.indices.get_settings(index=self.index_name, name="index.uuid")
                if maker.fields.time and not found.keys() <= maker.time_formats.keys():
                    maker.note_mappings(self.client.indices.get_mapping(index=self.index_name))
            maker.uuids.update((name, each["settings"]["index"]["uuid"]) for name, each in found.items())

    # --- requests -----------------------------------------------------------------------------------------------------

    def _request(self, search: Search) -> Search:
        body: Search = self._renamed(search)
        attached = {"exists": {"field": self.names["arrival"]}}
        body["query"] = {"bool": {"must": [body.get("query", {"match_all": {}})], "filter": [attached]}}
        if body.get("size") == 0:
            return body
        # An index that is new behind an alias may not have the fields yet.
        body["sort"] = [_sorted_if_mapped(each) for each in body.get("sort", ())]
        body["version"] = True
        checked = [self.names["stamp"], self.names["id"]]
        match body.get("_source", True):
            case True:
                body["_source"] = [self.fields.below, *self.fields.read]
            case list() as names:
                body["_source"] = [*names, *checked]
            case False:
                body["docvalue_fields"] = [*body.get("docvalue_fields", ()), *checked]
        return body

    def _renamed(self, part: Any) -> Any:
        """Return a part of a request with the names that fields have in this index."""
        if isinstance(part, list):
            return [self._renamed(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "ids" in part:
            return {"terms": {self.names["id"]: part["ids"]["values"]}}
        if part == LATEST:
            return {"match_all": {}}
        for kind, inner in part.items():
            if isinstance(inner, dict) and "text" in inner:
                return self._words_in_text(kind, inner["text"])
        renamed: dict[str | None, Any] = {}
        for key, value in part.items():
            if key in FIELD_LISTS and isinstance(value, list):
                renamed[key] = [name for field in value for name in self._paths(field)]
            elif key == "field":
                renamed[key] = self.names[value]
            elif key == "pit":
                renamed[key] = value
            else:
                renamed[self.names.get(key, key)] = self._renamed(value)
        return renamed

    def _paths(self, field: str) -> Sequence[str]:
        return self.fields.text if field == "text" else [self.names.get(field, field)]

    def _words_in_text(self, kind: str, words: Any) -> Search:
        """Return a clause for words in any of the text fields, some of which may be in nested objects."""
        clauses: list[Search] = []
        for field in self.fields.text:
            clause = {kind: {field: words}}
            path = self._nested.get(field)
            clauses.append({"nested": {"path": path, "query": clause, "score_mode": "max"}} if path else clause)
        return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}

    # --- answers ------------------------------------------------------------------------------------------------------

    def _answer(self, answer: dict[str, Any]) -> dict[str, Any]:
        hits: list[EngineHit] = answer.get("hits", {}).get("hits", [])
        self.note_indices(hits)
        renewed = self._renew([hit for hit in hits if self._value(hit, "stamp") != self.maker.fitting_stamp(hit)])
        for hit in hits:
            self._translate(hit, renewed.get(self._value(hit, "id"), {}))
        return answer

    def _value(self, hit: EngineHit, field: str) -> str:
        """Return the stamp or the id of a hit, which are in every answer."""
        found = hit.get("fields", {}).get(self.names[field])
        value: str = found[0] if found else value_at(hit.get("_source", {}), self.names[field])
        return value

    def _renew(self, stale: Sequence[EngineHit]) -> dict[str, dict[str, Any]]:
        """Return the fields of pages that have changed since winnow wrote them, made from their texts, by id."""
        documents = {self._value(hit, "id"): hit for hit in stale if self._is_whole(hit)}
        unread = [id_ for hit in stale if (id_ := self._value(hit, "id")) not in documents]
        for batch in batches(unread, DOCUMENTS_PER_REQUEST):
            documents |= self._read_again(batch)
        return {id_: self._made_again(document) for id_, document in documents.items()} | {
            id_: hash_fields() for id_ in unread if id_ not in documents
        }

    def _is_whole(self, hit: EngineHit) -> bool:
        """Return whether a hit has all values that its fields are made from."""
        source = hit.get("_source", {})
        return "text_digest" in self.fields.stored(source) and bool(self.maker.reader.text(source))

    def _read_again(self, ids: Sequence[str]) -> dict[str, EngineHit]:
        search = {
            "query": all_of([{"terms": {self.names["id"]: list(ids)}}]),
            "size": len(ids),
            "_source": [self.fields.below, *self.fields.read],
            "version": True,
        }
        answer = self.raw_search(search, self.index_name)
        return {self._value(hit, "id"): hit for hit in answer["hits"]["hits"]}

    def _made_again(self, document: EngineHit) -> dict[str, Any]:
        found = AttachedDocument.of(document, self.fields)
        return self.maker.made(found) | {"id": found.stored["id"]}

    def _translate(self, hit: EngineHit, renewed: Mapping[str, Any]) -> None:
        """Turn a hit into that of a page of a store: change its id and the names of its fields."""
        hit["_id"] = self._value(hit, "id")
        if "fields" in hit:
            named = {self._fields.get(name, name): values for name, values in hit["fields"].items()}
            hit["fields"] = {name: [renewed[name]] if name in renewed else values for name, values in named.items()}
        if "_source" in hit:
            source = hit["_source"]
            text = self.maker.reader.text(source)
            page = {**CONSTANTS, **self.fields.stored(source), **renewed, "text": text}
            if title := self.maker.reader.title(source):
                page["title"] = title
            hit["_source"] = page


def _sorted_if_mapped(sort: Mapping[str, Any]) -> dict[str, Any]:
    ((name, order),) = sort.items()
    field = WINNOW_FIELDS.get(name.rpartition(".")[2])
    options = order if isinstance(order, dict) else {"order": order}
    return {name: options if field is None else {"unmapped_type": field["type"], **options}}
