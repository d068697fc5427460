"""Attaches winnow to an index of your own, so that it is a store, and detaches it again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote

from opensearchpy import NotFoundError, OpenSearch

from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.opensearch_mapping import META
from opensearch_winnow.mappings.opensearch_scripts import SOURCES
from opensearch_winnow.mappings.opensearch_search_pipeline import search_pipeline_name
from opensearch_winnow.mappings.own_fields import OWN_FIELDS, Attachment, OwnFields, fields_in, settings_index_of
from opensearch_winnow.mappings.written_scheme import written
from opensearch_winnow.stores.opened_scheme import opened_scheme
from opensearch_winnow.stores.opensearch.backfill import AttachReport, Backfill, Progress
from opensearch_winnow.stores.opensearch.bulk import bulk
from opensearch_winnow.stores.opensearch.bulk_loop import CHANGED, NOT_FOUND
from opensearch_winnow.stores.opensearch.client import Address, engine_of
from opensearch_winnow.stores.opensearch.complete_answers import complete
from opensearch_winnow.stores.opensearch.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.index_client import NO_PARTIAL_RESULTS
from opensearch_winnow.stores.opensearch.own_index_client import OwnIndexClient
from opensearch_winnow.stores.opensearch.own_opening import Mappings, attachment_of, own_index_client
from opensearch_winnow.stores.opensearch.own_writer import removal
from opensearch_winnow.stores.opensearch.setup import (
    Step,
    StepResult,
    check,
    create,
    script_steps,
    search_pipeline_step,
    settings_step,
)
from opensearch_winnow.stores.store import StoreError

# The types that a field of each purpose may have. Others would be taken for texts or times that they are not.
TEXTS = ("text", "keyword", "match_only_text", "annotated_text", "wildcard", "search_as_you_type", "constant_keyword")
TIMES = ("date", "date_nanos", "long")
MAX_FIELDS_NAMED = 20  # in an error
DOCUMENTS_AT_A_TIME = 1_000  # from which fields are removed
WHOLE_DOCUMENTS_AT_A_TIME = 100  # … where they have to be read for that
SOURCE_SETTINGS = ("index.mapping.source.mode", "index.mode")
SYNTHETIC_MODES = ("logsdb", "time_series")  # kinds of indices that have a synthetic _source unless told otherwise


class Plan(NamedTuple):
    """What attaching will do to an index."""

    attachment: Attachment
    is_attached: bool  # already
    documents: int
    steps: list[StepResult]
    mappings: Mappings


class Detached(NamedTuple):
    """What detaching has done."""

    documents: int  # whose fields were removed
    removed: list[str]
    kept: list[str]  # parts that others need as well


def plan(
    client: OpenSearch,
    address: Address,
    fields: OwnFields | None = None,
    scheme: Scheme | None = None,
    *,
    key: str | None = None,
) -> Plan:
    """Check an index, and return what attaching will do. Changes nothing.

    Without `fields`, the index must be attached already. Raises StoreError, in one sentence, if it cannot be attached.
    """
    name, index = str(address), address.index
    found = _mappings(client, address)
    attached = attachment_of(found, name)
    if attached is None and fields is None:
        raise StoreError(f"{name} is not attached yet: name the field that holds the text")
    for each, described in found.items():
        _check_index(each, described["mappings"])
    _check_source(client, address)
    if attached is None:
        assert fields is not None
        chosen = Attachment.of(fields, with_key(scheme or Scheme(), key), settings_index_of(index))
        _check_fields(name, found, fields)
    else:
        chosen = attached
        if fields is not None and fields != attached.fields:
            there = attached.fields
            raise StoreError(
                f"{name} is attached already, with other fields ({there}, below {there.below}): to change them, run"
                " `winnow detach` first; to bring it up to date, run `winnow attach --update`"
            )
        if scheme is not None and written(scheme).choices != attached.scheme.choices:
            scheme = with_key(scheme, key)
            raise StoreError(
                f"{name} is attached with scheme {attached.scheme.id}, not {scheme.id}: hashes of different schemes are"
                " never compared, so run `winnow detach` first to change it"
            )
    with reporting_engine_errors(name, "attached"):
        documents = complete(client.count(index=index))["count"]
        parts = [
            *script_steps(),
            search_pipeline_step(search_pipeline_name(chosen.fields.cluster), chosen.fields.cluster),
            settings_step(chosen.settings_index),
        ]
        results = [StepResult(step, check(client, step)) for step in parts]
    results += [_mapping_step(each, found[each], chosen) for each in sorted(found)]
    return Plan(chosen, attached is not None, documents, results, found)


def attach(
    client: OpenSearch,
    address: Address,
    fields: OwnFields | None = None,
    scheme: Scheme | None = None,
    *,
    key: str | None = None,
    slices: int = 2,
    per_second: float | None = None,
    progress: Progress | None = None,
) -> AttachReport:
    """Make an index of your own a store: add winnow's fields to its mapping and to all documents that lack them.

    If it is attached already, documents that are new or have changed are brought up to date.
    """
    planned = plan(client, address, fields, scheme, key=key)
    index = _opened(client, address, planned, scheme, key)
    for step, outcome in planned.steps:
        if outcome == "missing":
            create(client, str(address), step)
    return Backfill(index, slices=slices, per_second=per_second, progress=progress).run()


def stale(client: OpenSearch, address: Address, key: str | None = None) -> int:
    """Count the documents of an attached index that are new or have another text than their fields were made from."""
    return Backfill(_opened(client, address, plan(client, address, key=key), None, key)).stale()


def detach(client: OpenSearch, address: Address, progress: Progress | None = None) -> Detached:
    """Take away what attaching has added: the fields of all documents, the settings, and what no other index needs.

    The mapping keeps the names of the fields, because engines cannot remove them.
    """
    name = str(address)
    found = _mappings(client, address, "detached")
    attached = attachment_of(found, name)
    if attached is None:
        raise StoreError(f"{name} is not attached, so there is nothing to take away")
    whole = attached.settings_index.removeprefix("winnow.").removesuffix(".settings")
    if whole != address.index and client.indices.exists(index=whole):
        raise StoreError(f"{name} cannot be detached by itself: it was attached as a part of {whole}; detach that")
    documents = _remove_fields(client, address, attached.fields, progress)
    removed, kept = [f"index {attached.settings_index}"], []
    with reporting_engine_errors(name, "detached"):
        client.indices.delete(index=attached.settings_index, params={"ignore_unavailable": "true"})
        for part, path, is_needed in _shared_parts(client, attached.fields, set(found)):
            if is_needed:
                kept.append(part)
                continue
            try:
                client.transport.perform_request("DELETE", path)
                removed.append(part)
            except NotFoundError:  # the cluster refused it, or somebody has deleted it
                continue
        for each, described in found.items():
            rest = {key: value for key, value in described["mappings"].get("_meta", {}).items() if key != META}
            client.indices.put_mapping(index=each, body={"_meta": rest})
    return Detached(documents, removed, kept)


def _opened(
    client: OpenSearch, address: Address, planned: Plan, scheme: Scheme | None, key: str | None
) -> OwnIndexClient:
    opened = opened_scheme(str(address), planned.attachment.scheme, scheme, key)
    return own_index_client(client, address, planned.attachment, opened, planned.mappings)


# --- checking ---------------------------------------------------------------------------------------------------------


def _mappings(client: OpenSearch, address: Address, doing: str = "attached") -> Mappings:
    found: Mappings = {}
    with reporting_engine_errors(str(address), doing), suppress(NotFoundError):
        found = client.indices.get_mapping(index=address.index)
    if not found:
        raise StoreError(f"{address} cannot be {doing}: there is no index of this name")
    return found


def _check_index(name: str, mapping: Mapping[str, Any]) -> None:
    if "format" in (mapping.get("_meta", {}).get(META) or {}):
        raise StoreError(f"{name} is a store that winnow made, so there is nothing to attach")
    source = mapping.get("_source", {})
    partial = source.get("enabled") is False or source.get("mode", "stored") != "stored"
    if partial or source.get("includes") or source.get("excludes"):
        raise StoreError(
            f"{name} cannot be attached: its _source is not complete (_source in its mapping), so that writing a field"
            " to a document would lose others"
        )


def _check_source(client: OpenSearch, address: Address) -> None:
    """Refuse an index whose _source the engine puts together from fields: writing one would change others."""
    with reporting_engine_errors(str(address), "attached"):
        found = client.indices.get_settings(
            index=address.index, name=",".join(SOURCE_SETTINGS), params={"flat_settings": "true"}
        )
    for index, described in found.items():
        source, mode = (described["settings"].get(name, "") for name in SOURCE_SETTINGS)
        if source == "synthetic" or (not source and mode in SYNTHETIC_MODES):
            raise StoreError(
                f"{index} cannot be attached: its _source is synthetic (index.mapping.source.mode), so that writing a"
                " field to a document would change others"
            )


def _check_fields(name: str, found: Mappings, fields: OwnFields) -> None:
    known = {path: definition for each in found.values() for path, definition in fields_in(each["mappings"])}
    for path in fields.read:
        types = TIMES if path == fields.time else TEXTS
        definition = known.get(path, {})
        if definition.get("type") == "alias":
            raise StoreError(
                f"{name} cannot be attached: {path} is another name of {definition['path']}; give that one"
            )
        if definition.get("type") not in types:
            kind = definition.get("type", "object")
            problem = f"its field {path} has the type {kind}" if path in known else f"it has no field {path}"
            fitting = [each for each in known if known[each].get("type") in types and not _is_ours(each, known)]
            there = f"; it has {', '.join(sorted(fitting)[:MAX_FIELDS_NAMED])}" if fitting else ""
            raise StoreError(f"{name} cannot be attached: {problem}{there}")
    if "." in fields.below or not fields.below.strip():
        raise StoreError(f"winnow's fields are below a field with a plain name, such as winnow, not {fields.below!r}")
    for each in found.values():
        _check_below(name, each["mappings"].get("properties", {}).get(fields.below), fields.below)


def _is_ours(path: str, known: Mapping[str, Any]) -> bool:
    """Whether a field is one that winnow has added before."""
    below, _, field = path.partition(".")
    return field in OWN_FIELDS and f"{below}.minhash" in known


def _check_below(name: str, there: Mapping[str, Any] | None, below: str) -> None:
    """Refuse a field that is not winnow's; one that was made with `mapping_fragment` is."""
    if there is None:
        return
    types = {field: definition.get("type") for field, definition in there.get("properties", {}).items()}
    if not types or any(kind != OWN_FIELDS.get(field, {}).get("type", "?") for field, kind in types.items()):
        if {"stamp", "text_digest", "minhash"} <= types.keys():
            raise StoreError(
                f"{name} cannot be attached: its fields {below} were loaded without their mapping; load the documents"
                " again, into an index with the mapping of winnow fields --mapping"
            )
        raise StoreError(
            f"{name} cannot be attached: it has a field {below} of its own; choose another name with --below"
        )


def _mapping_step(index: str, described: Mapping[str, Any], attachment: Attachment) -> StepResult:
    mapping = described["mappings"]
    meta = mapping.get("_meta", {}) | {META: attachment.meta()}
    path = f"/{quote(index)}/_mapping"
    body = {"_meta": meta, "properties": attachment.fields.properties()}
    step = Step(f"fields of {index}", "PUT", path, body, path, cluster_wide=False)
    there = mapping.get("properties", {}).get(attachment.fields.below, {}).get("properties", {})
    is_there = mapping.get("_meta") == meta and there.keys() >= OWN_FIELDS.keys()
    return StepResult(step, "there" if is_there else "missing")


# --- detaching --------------------------------------------------------------------------------------------------------


def _remove_fields(client: OpenSearch, address: Address, fields: OwnFields, progress: Progress | None) -> int:
    """Remove winnow's fields from all documents, and return from how many."""
    name, index = str(address), address.index
    ours = [{"exists": {"field": f"{fields.below}.{field}"}} for field in ("id", "sketch_count", "cluster")]
    by_script = engine_of(client, name).uses_scripts
    search = {"query": {"bool": {"should": ours}}, "size": DOCUMENTS_AT_A_TIME, "_source": False}
    if not by_script:
        search |= {"size": WHOLE_DOCUMENTS_AT_A_TIME, "_source": True, "seq_no_primary_term": True}
    done = 0
    while True:
        with reporting_engine_errors(name, "detached"):
            client.indices.refresh(index=index)
            hits = complete(client.search(index=index, body=search, params=NO_PARTIAL_RESULTS))["hits"]
        if progress:
            progress("removing fields", done, done + hits["total"]["value"])
        if not hits["hits"]:
            return done
        operations = [removal(hit, fields, by_script=by_script) for hit in hits["hits"]]
        with reporting_engine_errors(name, "detached"):
            for written in bulk(client, operations, name=name, require_alias=False):
                if written.outcome == "failed" and written.reason not in (NOT_FOUND, CHANGED):
                    raise StoreError(f"{name} cannot be detached: {written.reason}")
                done += written.reason != CHANGED  # the next search finds it again


def _shared_parts(client: OpenSearch, fields: OwnFields, indices: set[str]) -> list[tuple[str, str, bool]]:
    """Return the parts that belong to the whole cluster: name, path, and whether another index needs it."""
    mappings = client.indices.get_mapping(params={"filter_path": f"*.mappings._meta.{META}", "expand_wildcards": "all"})
    others = [each["mappings"]["_meta"][META] for index, each in mappings.items() if index not in indices]
    same_field = any(other.get("fields", {}).get("below", "winnow") == fields.below for other in others)
    pipeline = search_pipeline_name(fields.cluster)
    return [
        (f"search pipeline {pipeline}", f"/_search/pipeline/{quote(pipeline)}", same_field),
        *((f"script {id_}", f"/_scripts/{id_}", bool(others)) for id_ in SOURCES),
    ]
