"""Explains the errors of an engine in plain words, and says what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

MAX_QUOTED_CHARS = 200  # of an engine's own message
BUSY = "it has more requests than it can handle; try again later, or send fewer at once"

# The types of errors that end when a node is back, or when others have replaced it.
UNAVAILABLE_TYPES = (
    "no_shard_available_action_exception",
    "unavailable_shards_exception",
    "no_node_available_exception",
    "node_not_connected_exception",
    "node_disconnected_exception",
    "node_closed_exception",
    "connect_transport_exception",
    "receive_timeout_transport_exception",
)
UNAVAILABLE_SHARD = "a part of the index is not available, perhaps because a node is down; try again when it is back"

# Patterns and explanations; the first match counts. Patterns are matched against the engine's error with one line
# "type: reason" for each cause, from the outermost to the innermost.
EXPLANATIONS = [
    (re.compile(pattern, re.MULTILINE), explanation)
    for pattern, explanation in (
        (
            r"^index_not_found_exception: .*\[require_alias\]",
            "there is no store of this name; `winnow setup` or `winnow index` creates it",
        ),
        (
            r"^index_not_found_exception: no such index \[(winnow\..+?\.settings)\]",
            "there is no index {0}, which holds its settings: was winnow detached? `winnow attach` creates it again",
        ),
        (
            r"^index_not_found_exception: no such index \[(.+?)\]",
            "there is no index {0}; `winnow index` or `winnow setup` creates it",
        ),
        # Every index with a mapping has this field.
        (
            r"No mapping found for \[_seq_no\]",
            "the index is empty and has no mapping; it was probably deleted meanwhile, and created anew",
        ),
        (r"^index_closed_exception: .*\[(.+)\]", "the index {0} is closed; open it (POST /{0}/_open)"),
        (r"^index_closed_exception", "the index is closed; open it (POST /INDEX/_open)"),
        (r"^invalid_index_name_exception: (.*)", "that is not a valid name of an index ({0})"),
        # Blocks. The engine itself removes only the block of a full disk, once there is room again.
        (
            r"flood-stage|index read-only / allow delete",
            "the disk of a node is nearly full, so the index is read-only; free some space, and the engine unlocks it",
        ),
        (r"FORBIDDEN/10/", "the disks of the cluster are nearly full, so it creates no index; free some space"),
        (r"FORBIDDEN/(?:6|13)/", "the whole cluster is locked for writing; its administrator has to unlock it"),
        (
            r"FORBIDDEN/8/",
            "the index is locked for writing (index.blocks.write), for example during a migration; try again later",
        ),
        (r"FORBIDDEN/5/", "the index is read-only (index.blocks.read_only); remove the lock"),
        (r"FORBIDDEN/7/", "the index is locked for reading (index.blocks.read); remove the lock"),
        (
            r"^cluster_block_exception: .*state not recovered",
            "the cluster is still starting; try again soon",
        ),
        (
            r"^cluster_block_exception: .*SERVICE_UNAVAILABLE|^(?:cluster_manager|master)_not_discovered_exception",
            "the cluster has no manager, because too few of its nodes run or find each other; try again when they do",
        ),
        # Permissions, as OpenSearch and Elasticsearch report them.
        (
            r"^security_exception: .*?\[((?:indices|cluster):[\w:/*]+)",
            "the user may not do {0}; ask the administrator of the cluster for this permission",
        ),
        (r"^security_exception", "the user may not do this; ask the administrator of the cluster for the permission"),
        # Fields.
        (
            r"(Limit of total fields \[\d+\] has been exceeded)",
            "{0}; raise index.mapping.total_fields.limit",  # the engine's own words, which people search for
        ),
        (
            r"^strict_dynamic_mapping_exception: .*introduction of \[(.+?)\]",
            "the index has no field {0} and allows no new ones; it was not created by this version of winnow",
        ),
        (
            r"^mapper_parsing_exception: failed to parse field \[(.+?)\] of type \[(.+?)\]",
            "a value does not fit the field {0} of the index, which has the type {1}",
        ),
        (
            r"mapper \[(.+?)\] cannot be changed from type \[(.+?)\] to \[(.+?)\]",
            "the field {0} of the index has the type {1} but must have the type {2}; use another index",
        ),
        (r"immense term in field=\"(.+?)\"", "a value of the field {0} is longer than the engine can index"),
        (r"id \[.*\] is too long", "an id is longer than the engine accepts"),
        (r"^fail_processor_exception: (.*)", "{0}"),  # a check of our ingest pipeline, which has its own message
        (r"^version_conflict_engine_exception", "another process changed it at the same time; try again"),
        (r"^document_missing_exception", "it no longer exists"),
        (
            r"no mapping found for [`\[](.+?)[`\]] in order to (?:collapse|sort) on",
            "an index has no field {0} yet, perhaps a new one behind an alias; run `winnow attach --update`",
        ),
        # Scripts.
        (
            r"Too many dynamic script compilations",
            "the engine compiles no more scripts this minute (script.max_compilations_rate); try again later",
        ),
        (
            r"\[prefix\] queries .*allow_expensive_queries",
            "the cluster refuses expensive queries (search.allow_expensive_queries), such as mill*; use whole words",
        ),
        (
            r"allow_expensive_queries",
            "the cluster refuses expensive queries (search.allow_expensive_queries); use queries without scripts",
        ),
        (
            r"cannot execute \[.*?\] scripts|cannot execute scripts using",
            "the cluster refuses scripts (script.allowed_types, script.allowed_contexts); use queries without them",
        ),
        (r"unable to find script \[(.+?)\]", "the script {0} is not in the cluster; run `winnow setup` to add it"),
        (
            r"pipeline with id \[(.+?)\] does not exist",
            "the pipeline {0} is not in the cluster; run `winnow setup` to add it",
        ),
        # Limits.
        (
            r"^too_many_(?:nested_)?clauses|maxClauseCount",
            "the query has more clauses than the engine accepts (indices.query.bool.max_clause_count); ask for less",
        ),
        (r"^circuit_breaking_exception", "the engine is short of memory; try again later, or give it a larger heap"),
        (
            r"too many (?:scroll|search|Point In Time) contexts",
            "too many scans or cursors are open at the moment; try again in a few minutes",
        ),
        (
            r"^search_context_missing_exception",
            "reading took too long, and the engine has dropped its state; start again",
        ),
        (
            r"maximum.* shards open",
            "the cluster is at its limit of shards (cluster.max_shards_per_node); remove an index, or raise the limit",
        ),
        (r"^\w*rejected_execution_exception", BUSY),
        (r"^process_cluster_event_timeout_exception", "the cluster is too busy to change anything; try again later"),
        (
            rf"^(?:{'|'.join(UNAVAILABLE_TYPES)}): ",
            UNAVAILABLE_SHARD,
        ),
        (
            r"^incomplete_answer: (.*)",
            "only a part of the index has answered ({0}); try again when all of it is available",
        ),
        (r"no handler found for uri|contains unrecognized parameter", "this engine is too old or too new for winnow"),
    )
]


def explain_error(error: Any, status: int | None = None) -> str:
    """Explain the `error` of an engine's answer, or of one item in it, as a part of a sentence."""
    causes = list(_causes(error))
    lines = "\n".join(f"{kind}: {reason}" for kind, reason in causes)
    for pattern, explanation in EXPLANATIONS:
        if match := pattern.search(lines):
            return explanation.format(*map(shorten, match.groups()))
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return BUSY
    if status == HTTPStatus.SERVICE_UNAVAILABLE and not causes:
        return UNAVAILABLE_SHARD
    reasons = [shorten(reason or kind) for kind, reason in causes]
    inner = f" ({reasons[-1]})" if reasons and reasons[-1] not in reasons[0] else ""
    return f"the engine says: {reasons[0] if reasons else 'nothing'}{inner}{f' (status {status})' if status else ''}"


def is_unavailable(error: Any) -> bool:
    """Return whether the `error` of an answer, or one of its causes, is a missing node or shard."""
    return any(kind in UNAVAILABLE_TYPES for kind, _ in _causes(error))


def shorten(text: str) -> str:
    """Return the text as one line of at most MAX_QUOTED_CHARS characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED_CHARS else f"{line[: MAX_QUOTED_CHARS - 1]}…"


def _causes(error: Any) -> Iterator[tuple[str, str]]:
    """Yield the type and reason of an error and of its causes, the innermost last."""
    if not isinstance(error, Mapping):
        if error:
            yield "error", str(error)
        return
    if error.get("reason") != "all shards failed":
        closed = f" [{error.get('index')}]" if error.get("reason") == "closed" and error.get("index") else ""
        yield str(error.get("type") or ""), f"{error.get('reason') or ''}{closed}"
    for shard in error.get("failed_shards") or error.get("root_cause") or []:
        cause = shard.get("reason") if isinstance(shard.get("reason"), Mapping) else shard
        if cause != error and cause.get("reason") != error.get("reason"):
            yield from _causes(cause)
    if error.get("caused_by"):
        yield from _causes(error["caused_by"])
