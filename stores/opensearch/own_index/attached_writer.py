"""Writes the clusters of pages to an attached index. Only attaching writes anything else to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.dsl.filters import all_of
from opensearch_winnow.stores.opensearch.index_client import EngineHit
from opensearch_winnow.stores.opensearch.own_index.attached_index_client import AttachedIndexClient
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_loop import CHANGED, NOT_FOUND
from opensearch_winnow.stores.opensearch.requests.bulk_operation import Operation
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.store import StoreError, WriteOutcome

IDS_PER_REQUEST = 1_000
REMOVE = "for (def name : params.names) { ctx._source.remove(name) }"
MAX_TRIES = 10  # for a document that other programs keep changing


class AttachedWriter:
    """Writes clusters to documents, and refuses to write or delete documents themselves."""

    def __init__(self, index: AttachedIndexClient) -> None:
        self._index = index

    def write(self, records: Sequence[Record]) -> list[WriteOutcome]:  # noqa: ARG002
        raise self._refusal("adds no pages to it: write documents as before, then run `winnow attach --update`")

    def delete(self, ids: Iterable[str]) -> int:  # noqa: ARG002
        raise self._refusal("deletes nothing in it: delete documents as before")

    def set_fingerprints(self, records: Sequence[Record]) -> int:  # noqa: ARG002
        raise self._refusal("does not rotate fingerprints in it")

    def set_texts(self, records: Sequence[Record]) -> int:  # noqa: ARG002
        raise self._refusal("changes no texts in it")

    def erase(self) -> None:
        raise self._refusal("erases nothing in it")

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        """Set the clusters of pages by id and return how many of the pages exist."""
        existing = sum(self._set_clusters(dict(batch)) for batch in batches(clusters.items(), IDS_PER_REQUEST))
        self._index.refresh()
        return existing

    def _set_clusters(self, clusters: Mapping[str, str]) -> int:
        names, maker = self._index.names, self._index.maker
        waiting, existing = dict(clusters), 0
        for _ in range(MAX_TRIES):
            hits = self._documents(waiting)
            existing = existing or len(hits)
            operations: dict[str, Operation] = {}
            for hit in hits:
                values = {name: each[0] for name, each in hit["fields"].items()}
                id_ = values[names["id"]]
                if values.get(names["cluster"]) == waiting[id_]:
                    continue
                change = {"cluster": waiting[id_]}
                if values.get(names["stamp"]) == maker.fitting_stamp(hit):  # its other fields fit, and go on to fit
                    change["stamp"] = maker.stamp(hit["_index"], hit["_version"] + 1)
                operations[id_] = update(hit, maker.fields.members(change))
            changed = self._execute(operations)
            if not changed:
                return existing
            waiting = {id_: clusters[id_] for id_ in changed}
            self._index.refresh()
        raise StoreError(f"{self._index.name} cannot be written: other programs change the same documents all the time")

    def _documents(self, ids: Iterable[str]) -> list[EngineHit]:
        names = self._index.names
        search = {
            "query": all_of([{"terms": {names["id"]: list(ids)}}]),
            "size": IDS_PER_REQUEST,
            "_source": False,
            "docvalue_fields": [names["id"], names["cluster"], names["stamp"]],
            "version": True,
            "seq_no_primary_term": True,
        }
        hits: list[EngineHit] = self._index.raw_search(search, self._index.index_name)["hits"]["hits"]
        self._index.note_indices(hits)
        return hits

    def _execute(self, operations: Mapping[str, Operation]) -> list[str]:
        """Execute updates by page id, and return the ids of documents that other programs have changed meanwhile."""
        name, client = self._index.name, self._index.client
        changed = []
        with reporting_engine_errors(name, "written"):
            outcomes = bulk(client, operations.values(), name=name, require_alias=False)
            for id_, each in zip(operations, outcomes, strict=True):
                if each.reason == CHANGED:
                    changed.append(id_)
                elif each.outcome == "failed" and each.reason != NOT_FOUND:
                    raise StoreError(f"{name} cannot be written: {each.reason}")
        return changed

    def _refusal(self, consequence: str) -> StoreError:
        return StoreError(f"{self._index.name} is an index of your own, and winnow {consequence}")


def update(document: EngineHit, change: Mapping[str, object]) -> Operation:
    """Return an update that is executed only if its document has not changed since it was read."""
    return Operation(
        "update",
        document["_index"],
        document["_id"],
        change,
        routing=document.get("_routing"),
        only_if=(document["_seq_no"], document["_primary_term"]),
    )


def removal(document: EngineHit, below: Iterable[str], *, by_script: bool) -> Operation:
    """Return an operation that removes all of winnow's fields from a document; without a script, `document` is whole.

    They are in the object fields `below`. Without a script the document is written anew, but only if it has not changed
    since it was read.
    """
    index, id_, routing = document["_index"], document["_id"], document.get("_routing")
    names = [name for each in below for name in (each, f"{each}.cluster")]
    if by_script:
        script = {"lang": "painless", "source": REMOVE, "params": {"names": names}}
        return Operation("script", index, id_, script, routing=routing)
    rest = {name: value for name, value in document["_source"].items() if name not in names}
    version = document["_seq_no"], document["_primary_term"]
    return Operation("index", index, id_, rest, routing=routing, only_if=version)
