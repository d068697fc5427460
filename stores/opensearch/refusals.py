"""What an engine says when it refuses something, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

LONGEST = 200  # characters of what an engine says in its own words
MANY = "it has more requests than it can take; try again later, or send fewer at once"

# The first that matches what the engine says, each cause as a line "type: reason", from the outermost to the innermost.
WORDS = [
    (re.compile(pattern, re.MULTILINE), words)
    for pattern, words in (
        (
            r"^index_not_found_exception: .*\[require_alias\]",
            "there is no store of this name; `winnow setup` makes it, and `winnow index` too",
        ),
        (
            r"^index_not_found_exception: no such index \[(.+?)\]",
            "there is no index {0}; `winnow index` makes it, or `winnow setup`",
        ),
        (r"^index_closed_exception", "the index is closed; open it (POST /INDEX/_open)"),
        (r"^invalid_index_name_exception: (.*)", "that is no name of an index ({0})"),
        # Blocks. The engine takes off that of a full disk when there is room again, and no other one.
        (
            r"flood-stage|index read-only / allow delete",
            "the disk of a node is nearly full, so the index is read-only; free some of it, and the engine unlocks it",
        ),
        (r"FORBIDDEN/10/", "the disks of the cluster are nearly full, so it makes no index; free some of them"),
        (r"FORBIDDEN/(?:6|13)/", "the whole cluster is locked for writing; its administrator has to unlock it"),
        (
            r"FORBIDDEN/8/",
            "the index is locked for writing (index.blocks.write), as while it is migrated; try again later",
        ),
        (r"FORBIDDEN/5/", "the index can only be read (index.blocks.read_only); take the lock off"),
        (r"FORBIDDEN/7/", "the index is locked for reading (index.blocks.read); take the lock off"),
        (
            r"^cluster_block_exception: .*SERVICE_UNAVAILABLE|^(?:cluster_manager|master)_not_discovered_exception",
            "the cluster is just starting, or its nodes do not find each other; try again soon",
        ),
        # Permissions, in the words of OpenSearch, and of Elasticsearch.
        (
            r"^security_exception: .*?\[((?:indices|cluster):[\w:/*]+)",
            "the user may not do {0}; ask the administrator of the cluster for this permission",
        ),
        (r"^security_exception", "the user may not do this; ask the administrator of the cluster for the permission"),
        # Fields.
        (
            r"^strict_dynamic_mapping_exception: .*introduction of \[(.+?)\]",
            "the index has no field {0} and takes no new ones; it was not made by this version of winnow",
        ),
        (
            r"^mapper_parsing_exception: failed to parse field \[(.+?)\] of type \[(.+?)\]",
            "the field {0} of the index is of type {1}, which this value is not",
        ),
        (
            r"mapper \[(.+?)\] cannot be changed from type \[(.+?)\] to \[(.+?)\]",
            "the field {0} of the index is of type {1}, and has to be {2}; use another index",
        ),
        (r"immense term in field=\"(.+?)\"", "a value of the field {0} is longer than the engine can index"),
        (r"id \[.*\] is too long", "an id is longer than the engine takes"),
        (r"^fail_processor_exception: (.*)", "{0}"),  # a check of our own, in words of our own
        (r"^version_conflict_engine_exception", "it was changed by somebody else at the same time; try again"),
        (r"^document_missing_exception", "it is no longer there"),
        # Scripts.
        (
            r"Too many dynamic script compilations",
            "the engine has compiled more scripts than it may (script.max_compilations_rate); try again in a minute",
        ),
        (
            r"\[prefix\] queries .*allow_expensive_queries",
            "the cluster refuses expensive queries (search.allow_expensive_queries), as a star is; type whole words",
        ),
        (
            r"allow_expensive_queries",
            "the cluster refuses expensive queries (search.allow_expensive_queries), and scripts are; ask without them",
        ),
        (
            r"cannot execute \[.*?\] scripts|cannot execute scripts using",
            "the cluster refuses scripts (script.allowed_types, script.allowed_contexts); ask without them",
        ),
        (r"unable to find script \[(.+?)\]", "the script {0} is not in the cluster; `winnow setup` puts it there"),
        (r"pipeline with id \[(.+?)\] does not exist", "the pipeline {0} is not in the cluster; run `winnow setup`"),
        # Limits.
        (
            r"^too_many_(?:nested_)?clauses|maxClauseCount",
            "the question has more parts than the engine takes (indices.query.bool.max_clause_count); ask for less",
        ),
        (r"^circuit_breaking_exception", "the engine is short of memory; try again later, or give it a larger heap"),
        (
            r"too many (?:scroll|search|Point In Time) contexts",
            "too many others have a scan or a cursor open at this time; try again in a few minutes",
        ),
        (
            r"^search_context_missing_exception",
            "the engine no longer knows this reading, which took too long; start again",
        ),
        (
            r"maximum.* shards open",
            "the cluster has as many shards as it may (cluster.max_shards_per_node); remove an index, or raise that",
        ),
        (r"^\w*rejected_execution_exception", MANY),
        (r"^process_cluster_event_timeout_exception", "the cluster is too busy to change anything; try again later"),
        (
            r"^no_shard_available_action_exception|^unavailable_shards_exception|^no_node_available_exception",
            "a part of the index is not available, as when a node is down; try again when it is back",
        ),
        (r"no handler found for uri|contains unrecognized parameter", "this engine is too old or too new for winnow"),
    )
]


def reason_of(error: Any, status: int | None = None) -> str:
    """What is wrong by the `error` of an engine's answer, or of an item of it: a part of a sentence."""
    causes = list(_causes(error))
    said = "\n".join(f"{kind}: {reason}" for kind, reason in causes)
    for pattern, words in WORDS:
        if found := pattern.search(said):
            return words.format(*map(short, found.groups()))
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return MANY
    if status == HTTPStatus.SERVICE_UNAVAILABLE and not causes:
        return "a part of the index is not available, as when a node is down; try again when it is back"
    reasons = [short(reason or kind) for kind, reason in causes]
    inner = f" ({reasons[-1]})" if reasons and reasons[-1] not in reasons[0] else ""
    return f"the engine says: {reasons[0] if reasons else 'nothing'}{inner}{f' (status {status})' if status else ''}"


def short(text: str) -> str:
    """As one line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _causes(error: Any) -> Iterator[tuple[str, str]]:
    """Type and reason of an error and of what it came from, the innermost last."""
    if not isinstance(error, Mapping):
        if error:
            yield "error", str(error)
        return
    if error.get("reason") != "all shards failed":
        yield str(error.get("type") or ""), str(error.get("reason") or "")
    for shard in error.get("failed_shards") or error.get("root_cause") or []:
        cause = shard.get("reason") if isinstance(shard.get("reason"), Mapping) else shard
        if cause != error and cause.get("reason") != error.get("reason"):
            yield from _causes(cause)
    if error.get("caused_by"):
        yield from _causes(error["caused_by"])
