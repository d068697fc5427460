"""Attaches winnow to an index of your own, so that it is a store, and detaches it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote

from opensearchpy import AuthorizationException, NotFoundError, OpenSearch, OpenSearchException, RequestError

from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.mappings.attached_fields import (
    WINNOW_FIELDS,
    AttachedFields,
    Attachment,
    attached_name,
    fields_in,
    settings_index_of,
)
from opensearch_winnow.mappings.opensearch_search_pipeline import search_pipeline_name
from opensearch_winnow.mappings.written_scheme import written
from opensearch_winnow.stores.attach_options import AttachOptions
from opensearch_winnow.stores.opened_scheme import opened_scheme
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.opensearch.own_index.attach_reports import (
    AttachPlan,
    AttachReport,
    Detached,
    NewIndices,
)
from opensearch_winnow.stores.opensearch.own_index.attached_index_client import AttachedIndexClient
from opensearch_winnow.stores.opensearch.own_index.attached_opening import (
    Mappings,
    attached_index_client,
    attachment_of,
)
from opensearch_winnow.stores.opensearch.own_index.attached_template import (
    check_attached_by_itself,
    remove_template,
    template_steps,
)
from opensearch_winnow.stores.opensearch.own_index.backfill import DEFAULTS, Backfill
from opensearch_winnow.stores.opensearch.own_index.refused_indices import refused_indices
from opensearch_winnow.stores.opensearch.own_index.run_lock import RunLock
from opensearch_winnow.stores.opensearch.own_index.traces import (
    locked_indices,
    remove_attachments,
    remove_fields,
    remove_settings,
    shared_parts,
    traces_of,
)
from opensearch_winnow.stores.opensearch.requests.client import Address
from opensearch_winnow.stores.opensearch.requests.complete_answers import complete
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.upkeep.setup import (
    Step,
    StepResult,
    check,
    create,
    script_steps,
    search_pipeline_step,
    settings_step,
)
from opensearch_winnow.stores.store import StoreError

# The types that a field of each purpose may have. Values of other types would be misread as texts or times.
TEXTS = ("text", "keyword", "match_only_text", "annotated_text", "wildcard", "search_as_you_type", "constant_keyword")
TIMES = ("date", "date_nanos", "long")
MAX_FIELDS_NAMED = 20  # in an error
# Errors by which an engine refuses to change one index: its other indices may accept the same.
REFUSALS = (RequestError, AuthorizationException, NotFoundError)


class Plan(NamedTuple):
    """The plan of attaching an index."""

    address: Address
    attachment: Attachment
    is_attached: bool  # already
    documents: int
    steps: list[StepResult]
    mappings: Mappings
    refused: dict[str, str]  # by index, why it cannot have winnow's fields

    @property
    def unknown_formats(self) -> list[str]:
        """The formats of times in its mappings that winnow does not know."""
        maker = FieldsMaker(self.attachment.fields, Scheme())
        maker.note_mappings(self.mappings)
        return sorted({part for each in maker.time_formats.values() for part in each.unknown})

    @property
    def new_indices(self) -> NewIndices | None:
        """The new indices that a template attaches; None without a template."""
        templates = [
            (step.body["index_patterns"], outcome) for step, outcome in self.steps if "index_patterns" in step.body
        ]
        if not templates:
            return None
        patterns = [pattern for each, _ in templates for pattern in each]
        is_new = any(outcome == "missing" for _, outcome in templates)
        return NewIndices(patterns, max(self.mappings) if is_new else None)

    def answer(self, stale: int) -> AttachPlan:
        """Return the plan as an answer for users, with the number of documents that are `stale`."""
        return AttachPlan(
            store=str(self.address),
            documents=self.documents,
            stale=stale,
            unknown_formats=self.unknown_formats,
            steps=[step for step, outcome in self.steps if outcome == "missing"],
            new_indices=self.new_indices,
        )


def plan(client: OpenSearch, address: Address, options: AttachOptions = DEFAULTS) -> Plan:
    """Check an index, and return the plan of attaching it. Changes nothing.

    Without fields, the index must be attached already. With a template, new indices behind an alias or data stream
    will be attached from their start; the pattern fits their names if no template does. Raises StoreError, in one
    sentence, if it cannot be attached.
    """
    fields, scheme, key = options.fields, options.scheme, options.key
    name, index = str(address), address.index
    found = _mappings(client, address)
    attached = attachment_of(found, name)
    if attached is None and fields is None:
        raise StoreError(f"{name} is not attached, or not any more: name the field that holds the text")
    refused = refused_indices(client, address, found)
    if attached is None or len(refused) == len(found):
        for reason in refused.values():
            raise StoreError(reason)
    if attached is None:
        assert fields is not None
        chosen = Attachment.of(fields, with_key(scheme or Scheme(), key), settings_index_of(index))
        _check_fields(name, found, fields)
    else:
        chosen = attached
        check_attached_by_itself(client, address, found, attached)
        if fields is not None:
            _check_part(client, address, found, attached)
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
    if options.template:  # before the mappings: an index that comes in between has one of the two
        results += template_steps(client, address, chosen, options.pattern)
    results += [_mapping_step(each, found[each], chosen) for each in sorted(found.keys() - refused.keys())]
    return Plan(address, chosen, attached is not None, documents, results, found, refused)


def attach(client: OpenSearch, address: Address, options: AttachOptions = DEFAULTS) -> AttachReport:
    """Make an index of your own a store: add winnow's fields to its mapping and to all documents that lack them.

    If it is attached already, documents that are new or have changed are brought up to date. If some indices of an
    alias or data stream refuse, the others are attached, and the report names those; if all of them do, it raises a
    StoreError.
    """
    planned = plan(client, address, options)
    index, new_indices = _opened(client, planned, options), planned.new_indices
    made, _ = _create_missing(client, address, [each for each in planned.steps if not each.step.locked])
    with RunLock(index, "attach", progress=options.progress) as lock:
        try:
            planned = plan(client, address, options)  # it may have been detached before the lock
            index = _opened(client, planned, options)
            more, refused = _create_missing(client, address, planned.steps)
            refused = planned.refused | refused
            if len(refused) == len(planned.mappings):
                first, *others = refused.values()
                raise StoreError(first + f" (and {len(others):,} more of its indices)" * bool(others))
            locked = locked_indices(client, address)
            report = Backfill(index, options, lock=lock, unwritable=locked | refused).run()
            return replace(report, refused=refused | report.refused, made=made + more, new_indices=new_indices)
        except StoreError as error:
            is_gone = False
            with suppress(OpenSearchException, StoreError):  # it may be the engine that is gone
                is_gone = not client.indices.exists(index=address.index)
                if not lock.has_others():
                    lock.stop()
                    remove_settings(client, index.settings_index)
            if is_gone:
                raise StoreError(f"{address} cannot be attached: it was deleted meanwhile") from error
            raise


def gone(client: OpenSearch, address: Address) -> str:
    """Return a sentence if an index that was attached is not any more; empty if it is, or if the engine is gone."""
    with suppress(OpenSearchException, StoreError):
        if not client.indices.exists(index=address.index):
            return f"{address} was deleted while this ran"
        if attachment_of(_mappings(client, address), str(address)) is None:
            return (
                f"winnow was detached from {address} while this ran, or it is a new index of this name; to attach it"
                " again, name the field that holds the text, as in --text body"
            )
    return ""


def stale(client: OpenSearch, address: Address, key: str | None = None) -> int:
    """Count the documents of an attached index that are new or have another text than their fields were made from."""
    options = AttachOptions(key=key)
    return Backfill(_opened(client, plan(client, address, options), options)).stale()


def detach(client: OpenSearch, address: Address, progress: Progress | None = None) -> Detached:
    """Remove winnow's fields from all documents, the settings, and parts of the engine that no other index needs.

    Also removes the fields of a copy of an attached index, and settings whose index is gone. The mapping keeps the
    names of the fields, because engines cannot remove them.
    """
    name = str(address)
    traces = traces_of(client, address)
    index = IndexClient(client, name, address.index, alias=False)
    index.settings_index = traces.settings_index
    has_settings = traces.has_settings
    with RunLock(index, "detach", alone=True, progress=progress) as lock:
        traces = traces_of(client, address)  # a run that has just ended may have changed it
        with reporting_engine_errors(name, "detached"):
            templates = remove_template(client, address)  # first, so that indices that come now are not attached
            remove_attachments(client, address)  # then this, so that gateways add no more fields
        documents, meanwhile = remove_fields(client, address, traces, lock, progress) if traces.below else (0, 0)
        with reporting_engine_errors(name, "detached"):
            is_attached_again = remove_attachments(client, address)  # by a gateway that had looked it up before
        if is_attached_again:
            more, meanwhile = remove_fields(client, address, traces, lock, progress)
            documents += more
        removed, kept = templates.removed, {}
        with reporting_engine_errors(name, "detached"):
            for part, path, needed_by in shared_parts(client, traces):
                if needed_by:
                    kept[part] = needed_by
                    continue
                try:
                    client.transport.perform_request("DELETE", path)
                    removed.append(part)
                except NotFoundError:  # the engine refused it, or it was deleted before
                    continue
            lock.stop()
            # Last, because the lock is in it.
            if needed_by := remove_settings(client, index.settings_index, traces.mappings):
                kept = {f"index {index.settings_index}": needed_by, **kept}
            elif has_settings:
                removed.insert(0, f"index {index.settings_index}")
    return Detached(name, documents, removed, kept, templates.left, meanwhile)


def _opened(client: OpenSearch, planned: Plan, options: AttachOptions) -> AttachedIndexClient:
    address, attachment = planned.address, planned.attachment
    opened = opened_scheme(str(address), attachment.scheme, options.scheme, options.key)
    return attached_index_client(client, address, attachment, opened, planned.mappings)


# --- checking ---------------------------------------------------------------------------------------------------------


def _mappings(client: OpenSearch, address: Address) -> Mappings:
    found: Mappings = {}
    with reporting_engine_errors(str(address), "attached"), suppress(NotFoundError):
        found = client.indices.get_mapping(index=address.index)
    if not found:
        raise StoreError(f"{address} cannot be attached: there is no index of this name")
    return found


def _check_part(client: OpenSearch, address: Address, found: Mappings, attached: Attachment) -> None:
    """Refuse an index that is attached as a part of an alias or a data stream already."""
    whole = attached_name(attached.settings_index)
    if whole != address.index:
        with reporting_engine_errors(str(address), "attached"):
            parts = client.indices.get_mapping(index=whole, params={"ignore_unavailable": "true"})
        if found.keys() <= parts.keys():
            raise StoreError(
                f"{address} cannot be attached by itself: it is attached as a part of {whole}; to bring that up to"
                f" date, run `winnow attach {replace(address, index=whole)} --update`"
            )


def _check_fields(name: str, found: Mappings, fields: AttachedFields) -> None:
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
    for each in found.values():
        _check_below(name, each["mappings"].get("properties", {}).get(fields.below), fields.below)


def _is_ours(path: str, known: Mapping[str, Any]) -> bool:
    """Return whether a field is one that winnow has added before."""
    below, _, field = path.partition(".")
    return field in WINNOW_FIELDS and f"{below}.minhash" in known


def _check_below(name: str, there: Mapping[str, Any] | None, below: str) -> None:
    """Refuse a field that winnow did not make. A field made with `mapping_fragment` is winnow's."""
    if there is None:
        return
    types = {field: definition.get("type") for field, definition in there.get("properties", {}).items()}
    if not types or any(kind != WINNOW_FIELDS.get(field, {}).get("type", "?") for field, kind in types.items()):
        if {"stamp", "text_digest", "minhash"} <= types.keys():
            raise StoreError(
                f"{name} cannot be attached: its fields {below} were loaded without their mapping; load the documents"
                " again, into an index with the mapping of winnow fields --mapping"
            )
        raise StoreError(
            f"{name} cannot be attached: it has a field {below} of its own; choose another name with --below"
        )


def _create_missing(
    client: OpenSearch, address: Address, steps: Sequence[StepResult]
) -> tuple[list[str], dict[str, str]]:
    """Create the missing parts; return their names, and by index the reasons why mappings cannot be changed."""
    made, refused = [], {}
    for step in (step for step, outcome in steps if outcome == "missing"):
        try:
            if create(client, str(address), step) == "made":
                made.append(step.what)
        except StoreError as error:
            if not (step.mapped_index and isinstance(error.__cause__, REFUSALS)):
                raise
            refused[step.mapped_index] = str(error)
    return made, refused


def _mapping_step(index: str, described: Mapping[str, Any], attachment: Attachment) -> StepResult:
    mapping = described["mappings"]
    path = f"/{quote(index)}/_mapping"
    body = attachment.mapping(mapping)
    step = Step(f"fields of {index}", "PUT", path, body, path, engine_wide=False, locked=True, mapped_index=index)
    there = mapping.get("properties", {}).get(attachment.fields.below, {}).get("properties", {})
    is_there = mapping.get("_meta") == body["_meta"] and there.keys() >= WINNOW_FIELDS.keys()
    return StepResult(step, "there" if is_there else "missing")
