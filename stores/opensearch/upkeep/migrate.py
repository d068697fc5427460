"""Moves a store to a new index with the current mapping, while others read and write it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from opensearchpy import NotFoundError, OpenSearch, OpenSearchException, RequestError

from opensearch_winnow.mappings.opensearch_mapping import (
    LOADED,
    LOADING,
    index_settings,
    mapping,
    replica_settings,
    written_in,
)
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.mappings.written_scheme import WrittenScheme
from opensearch_winnow.stores.engine_index import Migration
from opensearch_winnow.stores.opensearch.requests.complete_answers import complete
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.upkeep.reindex import Reindexer, delete_leftovers
from opensearch_winnow.stores.opensearch.upkeep.setup import ALREADY_EXISTS
from opensearch_winnow.stores.store import StoreError

MAX_WRITES_BEFORE_LAST_ROUND = 1_000  # few enough to be copied while writers wait
MAX_ROUNDS = 20  # before the last one starts even if there are more writes
# Keys in the _meta of a new index until the store has moved to it: the old index, and the id of the migration.
UNFINISHED, MIGRATION = "winnow_migration_from", "winnow_migration"

Progress = Callable[[str, float | None], None]  # called with the current step, and the share of it that is done


@dataclass(frozen=True, slots=True)
class MovedIndex:
    """The index that a store is moved from."""

    index: str
    settings: dict[str, Any]
    mapping: dict[str, Any]
    aliases: dict[str, dict[str, Any]]


def migrate(
    client: OpenSearch,
    name: str,
    *,
    shards: int | None = None,
    replicas: int | None = None,
    delete_old: bool = False,
    progress: Progress = lambda step, share: None,  # noqa: ARG005
) -> Migration:
    """Copy all pages to the next index, such as NAME-000002, and point the alias to it.

    Others can read and write the store meanwhile. Each round copies what was written during the round before; writers
    wait only for the last, short round. If the migration is stopped, the store is unchanged, and the migration
    can be started again. The old index stays, closed to writes, unless `delete_old` is set.
    """
    started = time.monotonic()
    with reporting_engine_errors(name, "migrated"):
        source = _source(client, name)
        if source.index == name and not delete_old:
            raise StoreError(
                f"{name} is an index, not an alias: it has to be deleted before an alias can take its name. Use"
                " --delete-old to allow that"
            )
        _open_to_writes(client, source.index)  # a migration that was killed may have left it closed
        new = _next_index(client, name, source.index)
        new_uuid = _create(client, new, source, shards, replicas)
        reindexer = Reindexer(client, source.index, new, progress)
        swapping = False
        try:
            for _ in range(MAX_ROUNDS):
                if reindexer.run_round() <= MAX_WRITES_BEFORE_LAST_ROUND:
                    break
            # Both take time, so they are done now, before writers wait.
            client.indices.refresh(index=new)
            client.indices.put_settings(index=new, body=LOADED)
            with _closed_to_writes(client, source.index):
                closed = time.monotonic()
                reindexer.run_round()
                pages = _make_equal(client, name, source.index, new)
                if _uuid(client, new) != new_uuid:
                    raise StoreError(f"another process is migrating {name} too; this migration has ended")
                swapping = True
                _swap(client, name, source, new)
        except BaseException:
            reindexer.cancel()
            if not swapping:  # otherwise the alias may already point to the new index, even if no answer said so
                with suppress(OpenSearchException):
                    client.indices.delete(index=new)
            raise
        waited = time.monotonic() - closed
        client.indices.put_mapping(index=new, body={"_meta": mapping(_scheme(source))["_meta"]})
        if delete_old and source.index != name:
            client.indices.delete(index=source.index, params={"ignore_unavailable": "true"})
    return Migration(source.index, new, pages, reindexer.rounds, waited, time.monotonic() - started, delete_old)


def _source(client: OpenSearch, name: str) -> MovedIndex:
    found = client.indices.get(index=name)
    if len(found) != 1:
        raise StoreError(f"{name} is an alias of {len(found)} indices; name one of them: {', '.join(found)}")
    ((index, about),) = found.items()
    return MovedIndex(index, about["settings"]["index"], about["mappings"], about["aliases"])


def _scheme(source: MovedIndex) -> WrittenScheme:
    try:
        return written_in(source.mapping, source.index)
    except RecordsError as error:
        raise StoreError(str(error)) from None


def _next_index(client: OpenSearch, name: str, current: str) -> str:
    """Delete the indices of unfinished migrations, and return the name of a new one."""
    pattern = re.compile(re.escape(name) + r"-(\d{6})")
    found = client.indices.get(index=f"{name}-*")
    numbers = {index: int(match[1]) for index in found if (match := pattern.fullmatch(index))}
    for index, number in numbers.items():
        about = found[index]
        if (
            number > numbers.get(current, 0)
            and UNFINISHED in about["mappings"].get("_meta", {})
            and not about["aliases"]
        ):
            Reindexer(client, current, index).cancel()
            client.indices.delete(index=index, params={"ignore_unavailable": "true"})
    return f"{name}-{max(numbers.values(), default=0) + 1:06}"


def _create(client: OpenSearch, new: str, source: MovedIndex, shards: int | None, replicas: int | None) -> str:
    """Create the new index and return its UUID. It keeps the fields that others have added to the old mapping."""
    fresh = mapping(_scheme(source))
    fresh["properties"] = source.mapping["properties"] | fresh["properties"]
    fresh["_meta"] |= {UNFINISHED: source.index, MIGRATION: uuid4().hex}
    settings = index_settings(shards or int(source.settings["number_of_shards"]), replicas) | LOADING
    if replicas is None and source.settings.get("auto_expand_replicas", "false") == "false":
        settings |= replica_settings(int(source.settings["number_of_replicas"]))
    try:
        client.indices.create(index=new, body={"settings": settings, "mappings": fresh})
    except RequestError as error:
        # A request may be sent twice: then it finds the index that it has created.
        if error.error != ALREADY_EXISTS or _meta(client, new).get(MIGRATION) != fresh["_meta"][MIGRATION]:
            raise
    return _uuid(client, new)


def _uuid(client: OpenSearch, index: str) -> str:
    try:
        return str(client.indices.get_settings(index=index)[index]["settings"]["index"]["uuid"])
    except NotFoundError:
        return ""


def _meta(client: OpenSearch, index: str) -> dict[str, Any]:
    found: dict[str, Any] = client.indices.get_mapping(index=index)[index]["mappings"].get("_meta", {})
    return found


@contextmanager
def _closed_to_writes(client: OpenSearch, index: str) -> Iterator[None]:
    """Close an index to writes, and open it again only after an error.

    It stays closed after a success, so that programs that write to it by its own name notice.
    """
    try:
        # Unlike changing the setting, this request returns only when writes under way have ended.
        client.transport.perform_request("PUT", f"/{quote(index)}/_block/write")
        yield
    except BaseException:
        _open_to_writes(client, index)
        raise


def _open_to_writes(client: OpenSearch, index: str) -> None:
    with suppress(NotFoundError):
        client.indices.put_settings(index=index, body={"index.blocks.write": None})


def _make_equal(client: OpenSearch, name: str, old: str, new: str) -> int:
    """Delete from the new index the pages that were deleted from the old one; return the number of pages in both."""
    client.indices.refresh(index=f"{old},{new}")
    if delete_leftovers(client, old, new):
        client.indices.refresh(index=new)
    before, after = (int(complete(client.count(index=index))["count"]) for index in (old, new))
    if before != after:
        raise StoreError(f"{name} was not migrated: {old} has {before:,} pages, but {new} has {after:,}; try again")
    return after


def _swap(client: OpenSearch, name: str, source: MovedIndex, new: str) -> None:
    """Move the aliases in one request: at every moment the name stands for exactly one index."""
    moved = {alias: options for alias, options in source.aliases.items() if alias != name} | {name: {}}
    actions: list[dict[str, Any]] = [
        {"add": {"index": new, "alias": alias, **_copyable(options)}} for alias, options in moved.items()
    ]
    if source.index == name:
        actions.append({"remove_index": {"index": name}})
    else:
        actions += [{"remove": {"index": source.index, "alias": alias}} for alias in source.aliases]
    try:
        client.indices.update_aliases(body={"actions": actions})
    except (NotFoundError, RequestError):
        # A request may be sent twice: then it finds the aliases moved.
        if new not in client.indices.get_alias(params={"ignore": 404}, name=name):
            raise


def _copyable(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of an alias that every engine accepts in the form that it reports."""
    return {
        name: value
        for name, value in options.items()
        if name in ("filter", "index_routing", "search_routing", "is_write_index", "is_hidden")
    }
