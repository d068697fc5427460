"""Finds and removes the traces of attaching: fields, settings, and parts of the engine.

An index has traces not only while it is attached. Its copies have some, and so has one whose detaching was killed.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from opensearchpy import OpenSearch

from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.mappings.attached_fields import NOTICED_SECONDS, attached_name, settings_index_of
from opensearch_winnow.mappings.opensearch_mapping import META
from opensearch_winnow.mappings.opensearch_scripts import SOURCES
from opensearch_winnow.mappings.opensearch_search_pipeline import search_pipeline_name
from opensearch_winnow.stores.opensearch.index_client import NO_PARTIAL_RESULTS
from opensearch_winnow.stores.opensearch.own_index.attached_opening import Mappings
from opensearch_winnow.stores.opensearch.own_index.attached_writer import removal
from opensearch_winnow.stores.opensearch.own_index.run_lock import RunLock
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_loop import CHANGED, NOT_FOUND
from opensearch_winnow.stores.opensearch.requests.client import Address, engine_of
from opensearch_winnow.stores.opensearch.requests.complete_answers import complete
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.store import StoreError

DOCUMENTS_AT_A_TIME = 1_000  # from which fields are removed
WHOLE_DOCUMENTS_AT_A_TIME = 100  # … where whole documents must be read
MAX_ROUNDS = 10  # each removes the fields that programs have written during the one before
UNMAPPED = ("false", "runtime")  # values of `dynamic` with which documents have fields that `properties` lack
LOCKS = tuple(f"index.blocks.{name}" for name in ("read_only", "write", "read_only_allow_delete"))
RECOGNISED_BY = {"id", "arrival", "stamp", "text_digest", "minhash"}  # fields that no other program has together


class Traces(NamedTuple):
    """The fields, settings and templates that attaching has left."""

    mappings: Mappings  # of the indices
    below: list[str]  # the object fields that hold winnow's fields
    settings_index: str
    has_settings: bool  # that no other index needs


def traces_of(client: OpenSearch, address: Address) -> Traces:
    """Return the traces in an index; raises StoreError if there are none, or if they belong to more indices."""
    name = str(address)
    with reporting_engine_errors(name, "detached"):
        found: Mappings = client.indices.get_mapping(index=address.index, params={"ignore_unavailable": "true"})
        attached = {index: each["mappings"]["_meta"][META] for index, each in found.items() if _is_attached(each)}
        settings = {each["settings"] for each in attached.values()} or {settings_index_of(address.index)}
        if len(settings) > 1:
            raise StoreError(
                f"{name} has indices that were attached in different ways; name one of them: {', '.join(found)}"
            )
        below = {each["fields"]["below"] for each in attached.values()}
        below = below.union(*map(_recognised, found.values()))
        (settings_index,) = settings
        users = sorted(_users(client, settings_index).keys() - found.keys())
        for locked, reason in locked_indices(client, address).items():
            if locked in attached:
                raise StoreError(f"{name} cannot be detached: {reason}; unlock it first")
        has_settings = not users and client.indices.exists(index=settings_index)
        traces = Traces(found, sorted(below), settings_index, has_settings)
        whole = attached_name(settings_index)
        if whole != address.index:  # it is a copy, or a part of an alias
            parts = client.indices.get_mapping(index=whole, params={"ignore_unavailable": "true"})
            if parts.keys() & found.keys():
                raise StoreError(
                    f"{name} cannot be detached by itself: it was attached as a part of {whole}; detach that"
                )
        if attached:
            client.count(index=address.index)  # it fails if an index is closed, and nothing is changed yet
            return traces
        if not found and users:
            raise StoreError(f"{name} cannot be detached: there is no index of this name; detach {', '.join(users)}")
        if not found and not has_settings:
            raise StoreError(f"{name} cannot be detached: there is no index of this name")
        if not has_settings and not (traces.below and count_fields(client, address, traces)):
            unseen = "; fields that its mapping does not know (dynamic: false) were not looked at"
            is_partial = any(str(each["mappings"].get("dynamic")).lower() in UNMAPPED for each in found.values())
            raise StoreError(
                f"{name} is not attached, and no document has winnow's fields: there is nothing to remove"
                + unseen * is_partial
            )
    return traces


def _is_attached(described: Mapping[str, Any]) -> bool:
    """Return whether an index was attached, by any version of winnow."""
    return "attached" in (described["mappings"].get("_meta", {}).get(META) or {})


def locked_indices(client: OpenSearch, address: Address) -> dict[str, str]:
    """Return the indices whose documents cannot be written, each with the reason."""
    options = {"flat_settings": "true", "ignore_unavailable": "true"}
    with reporting_engine_errors(str(address), "read"):
        found = client.indices.get_settings(index=address.index, name=",".join(LOCKS), params=options)
    locks = {index: [name for name in LOCKS if each["settings"].get(name) == "true"] for index, each in found.items()}
    return {
        index: f"{index} is locked ({names[0]}), so its documents cannot be written"
        for index, names in locks.items()
        if names
    }


def remove_attachments(client: OpenSearch, address: Address) -> bool:
    """Remove the attachment from the `_meta` of all indices, and return whether there was one.

    The newest index of an alias comes last: as long as it is attached, no gateway attaches it again.
    """
    found: Mappings = client.indices.get_mapping(index=address.index, params={"ignore_unavailable": "true"})
    attached = {index: each["mappings"]["_meta"] for index, each in sorted(found.items()) if _is_attached(each)}
    for index, meta in attached.items():
        rest = {key: value for key, value in meta.items() if key != META}
        client.indices.put_mapping(index=index, body={"_meta": rest})
    return bool(attached)


def _recognised(described: Mapping[str, Any]) -> set[str]:
    """Return the object fields that hold winnow's fields by their names, as in a copy of an attached index.

    The copy may have other types, if it was loaded without the mapping. Programs that write `winnow_fields`
    themselves write no `id` and no `arrival`.
    """
    properties = described["mappings"].get("properties", {})
    return {name for name, each in properties.items() if each.get("properties", {}).keys() >= RECOGNISED_BY}


def _with_fields(traces: Traces) -> dict[str, Any]:
    """Return the query for documents that have fields of winnow."""
    fields = [f"{below}.{field}" for below in traces.below for field in ("id", "sketch_count", "cluster")]
    return {"bool": {"should": [{"exists": {"field": field}} for field in fields]}}


def count_fields(client: OpenSearch, address: Address, traces: Traces) -> int:
    """Count the documents that have fields of winnow now."""
    with reporting_engine_errors(str(address), "detached"):
        client.indices.refresh(index=address.index)
        number: int = complete(client.count(index=address.index, body={"query": _with_fields(traces)}))["count"]
        return number


def remove_fields(
    client: OpenSearch, address: Address, traces: Traces, lock: RunLock, progress: Progress | None
) -> tuple[int, int]:
    """Remove winnow's fields from all documents; return the number of these, and of documents that have fields again.

    Gateways add fields until they notice that the index is detached, so it is searched again after NOTICED_SECONDS.
    """
    name, index = str(address), address.index
    by_script = engine_of(client, name).uses_scripts
    search = {"query": _with_fields(traces), "size": DOCUMENTS_AT_A_TIME, "_source": False}
    if not by_script:
        search |= {"size": WHOLE_DOCUMENTS_AT_A_TIME, "_source": True, "seq_no_primary_term": True}
    noticed, done = time.monotonic() + NOTICED_SECONDS, 0
    for _ in range(MAX_ROUNDS):
        is_noticed = time.monotonic() >= noticed
        waiting = count_fields(client, address, traces)
        if not waiting:
            if is_noticed:
                return done, 0
            time.sleep(max(0.0, noticed - time.monotonic()))
        while waiting > 0:
            if progress:
                progress("removing fields", done, done + waiting)
            lock.check()
            with reporting_engine_errors(name, "detached"):
                client.indices.refresh(index=index)
                hits = complete(client.search(index=index, body=search, params=NO_PARTIAL_RESULTS))["hits"]["hits"]
                if not hits:
                    break
                waiting -= len(hits)
                operations = [removal(hit, traces.below, by_script=by_script) for hit in hits]
                for written in bulk(client, operations, name=name, require_alias=False):
                    if written.outcome == "failed" and written.reason not in (NOT_FOUND, CHANGED):
                        raise StoreError(f"{name} cannot be detached: {written.reason}")
                    done += written.reason != CHANGED  # the next search finds it again
    return done, count_fields(client, address, traces)


def _attachments(client: OpenSearch) -> dict[str, dict[str, Any]]:
    """Return winnow's part of the `_meta` of all indices of the engine, by index."""
    mappings = client.indices.get_mapping(params={"filter_path": f"*.mappings._meta.{META}", "expand_wildcards": "all"})
    return {index: each["mappings"]["_meta"][META] for index, each in mappings.items()}


def shared_parts(client: OpenSearch, traces: Traces) -> list[tuple[str, str, list[str]]]:
    """Return the parts that belong to the whole engine: name, path, and the names of other indices that need it."""
    others = {index: each for index, each in _attachments(client).items() if index not in traces.mappings}
    names = _names_to_detach(client, others)
    scripts = [(f"script {id_}", f"/_scripts/{id_}", sorted(set(names.values()))) for id_ in SOURCES]
    if not engine_of(client).search_pipelines:
        return scripts
    used: dict[str, set[str]] = {}
    for index, other in others.items():
        used.setdefault(other.get("fields", {}).get("below", "winnow"), set()).add(names[index])
    pipelines = {search_pipeline_name(f"{below}.cluster"): sorted(used.get(below, ())) for below in traces.below}
    return [
        *((f"search pipeline {name}", f"/_search/pipeline/{quote(name)}", used) for name, used in pipelines.items()),
        *scripts,
    ]


def _users(client: OpenSearch, settings_index: str) -> dict[str, dict[str, Any]]:
    """Return the attached indices whose settings are in an index."""
    return {index: each for index, each in _attachments(client).items() if each.get("settings") == settings_index}


def _names_to_detach(client: OpenSearch, attached: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the name to detach each attached index by: that of its alias or data stream, or its own.

    Copies, and indices that have left their alias, are detached by their own names.
    """
    wholes = {index: attached_name(each.get("settings", "")) for index, each in attached.items()}
    behind = {
        whole: client.indices.get_mapping(index=whole, params={"ignore_unavailable": "true"})
        for whole in {*wholes.values()} - {""}
    }
    return {index: whole if index in behind.get(whole, ()) else index for index, whole in wholes.items()}


def remove_settings(client: OpenSearch, settings_index: str, indices: Collection[str] = ()) -> list[str]:
    """Remove settings unless an index besides these `indices` needs them; return the names of such indices."""
    users = {index: each for index, each in _users(client, settings_index).items() if index not in indices}
    if not users:
        client.indices.delete(index=settings_index, params={"ignore_unavailable": "true"})
    return sorted({*_names_to_detach(client, users).values()})
