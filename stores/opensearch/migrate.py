"""Moving a store to a new index with the mapping of today, while it is read and written."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from opensearchpy import NotFoundError, OpenSearch, OpenSearchException

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
from opensearch_winnow.stores.opensearch.copied_pages import Copies
from opensearch_winnow.stores.opensearch.errors import told
from opensearch_winnow.stores.opensearch.left_over_pages import delete_left_over
from opensearch_winnow.stores.store import StoreError

FEW = 1_000  # pages written since the last round: so many are copied while writers wait
ROUNDS = 20  # at most, before writers have to wait however many there are
UNFINISHED = "winnow_migration_from"  # in the _meta of an index that is not the store yet

Progress = Callable[[str, float | None], None]  # what is being done, and how much of it is


class Migration(NamedTuple):
    old: str
    new: str
    pages: int
    rounds: int  # of copying, with the last one, for which writers waited
    waited: float  # seconds that they did
    seconds: float
    old_deleted: bool


@dataclass(frozen=True, slots=True)
class Source:
    """The index that a store is on."""

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
    """Copy all pages to the next index, NAME-000002 or so, and let the alias stand for that. Others read and write on.

    Rounds of copying catch up with what is written meanwhile; for the last one, a short one, writers wait. Whatever
    stops it, the store is as it was, and it can be started again. The old index stays, closed to writes.
    """
    started = time.monotonic()
    with told(name, "migrated"):
        source = _source(client, name)
        if source.index == name and not delete_old:
            raise StoreError(
                f"{name} is an index and no alias, so that its name is only free for one when it is deleted: say"
                " --delete-old if that is meant"
            )
        _open_to_writes(client, source.index)  # a migration that was killed may have closed it
        new = _next_index(client, name, source.index)
        made = _make(client, new, source, shards, replicas)
        copies = Copies(client, source.index, new, progress)
        swapping = False
        try:
            for _ in range(ROUNDS):
                if copies.round() <= FEW:
                    break
            # Now, because both take their time, and later others wait.
            client.indices.refresh(index=new)
            client.indices.put_settings(index=new, body=LOADED)
            with _closed_to_writes(client, source.index):
                closed = time.monotonic()
                copies.round()
                pages = _same_pages(client, name, source.index, new)
                if _uuid(client, new) != made:
                    raise StoreError(f"{name} is being migrated by somebody else too; this migration has ended")
                swapping = True
                _swap(client, name, source, new)
        except BaseException:
            copies.cancel()
            if not swapping:  # else the new index may be the store by now, whatever we heard of it
                with suppress(OpenSearchException):
                    client.indices.delete(index=new)
            raise
        waited = time.monotonic() - closed
        client.indices.put_mapping(index=new, body={"_meta": mapping(_scheme(source))["_meta"]})
        if delete_old and source.index != name:
            client.indices.delete(index=source.index)
    return Migration(source.index, new, pages, copies.rounds, waited, time.monotonic() - started, delete_old)


def _source(client: OpenSearch, name: str) -> Source:
    found = client.indices.get(index=name)
    if len(found) != 1:
        raise StoreError(f"{name} stands for {len(found)} indices, and a store is one: name one of {', '.join(found)}")
    ((index, about),) = found.items()
    return Source(index, about["settings"]["index"], about["mappings"], about["aliases"])


def _scheme(source: Source) -> WrittenScheme:
    try:
        return written_in(source.mapping, source.index)
    except RecordsError as error:
        raise StoreError(str(error)) from None


def _next_index(client: OpenSearch, name: str, current: str) -> str:
    """A name that no index has. Those which a migration began and did not end are removed, and no others."""
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
            Copies(client, current, index).cancel()
            client.indices.delete(index=index, params={"ignore_unavailable": "true"})
    return f"{name}-{max(numbers.values(), default=0) + 1:06}"


def _make(client: OpenSearch, new: str, source: Source, shards: int | None, replicas: int | None) -> str:
    """The new index with the mapping of today, and fields that others have added to the old one. Its UUID."""
    fresh = mapping(_scheme(source))
    fresh["properties"] = source.mapping["properties"] | fresh["properties"]
    fresh["_meta"][UNFINISHED] = source.index
    settings = index_settings(shards or int(source.settings["number_of_shards"]), replicas) | LOADING
    if replicas is None and source.settings.get("auto_expand_replicas", "false") == "false":
        settings |= replica_settings(int(source.settings["number_of_replicas"]))
    client.indices.create(index=new, body={"settings": settings, "mappings": fresh})
    return _uuid(client, new)


def _uuid(client: OpenSearch, index: str) -> str:
    try:
        return str(client.indices.get_settings(index=index)[index]["settings"]["index"]["uuid"])
    except NotFoundError:
        return ""


@contextmanager
def _closed_to_writes(client: OpenSearch, index: str) -> Iterator[None]:
    """It stays so if all goes well: whoever writes to it by its own name shall notice."""
    try:
        # Not by the setting itself: this request returns when writes on their way have ended.
        client.transport.perform_request("PUT", f"/{quote(index)}/_block/write")
        yield
    except BaseException:
        _open_to_writes(client, index)
        raise


def _open_to_writes(client: OpenSearch, index: str) -> None:
    with suppress(NotFoundError):
        client.indices.put_settings(index=index, body={"index.blocks.write": None})


def _same_pages(client: OpenSearch, name: str, old: str, new: str) -> int:
    """What was deleted in the old index meanwhile is deleted in the new one too. How many pages there are now."""
    client.indices.refresh(index=f"{old},{new}")
    if delete_left_over(client, old, new):
        client.indices.refresh(index=new)
    before, after = (int(client.count(index=index)["count"]) for index in (old, new))
    if before != after:
        raise StoreError(f"{name} was not migrated: {old} has {before:,} pages, and {new} {after:,}; try again")
    return after


def _swap(client: OpenSearch, name: str, source: Source, new: str) -> None:
    """In one request: there is no moment at which the name stands for none or for both."""
    moved = {alias: options for alias, options in source.aliases.items() if alias != name} | {name: {}}
    actions: list[dict[str, Any]] = [
        {"add": {"index": new, "alias": alias, **_given(options)}} for alias, options in moved.items()
    ]
    if source.index == name:
        actions.append({"remove_index": {"index": name}})
    else:
        actions += [{"remove": {"index": source.index, "alias": alias}} for alias in source.aliases]
    client.indices.update_aliases(body={"actions": actions})


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Those that all engines take as they tell them."""
    return {
        name: value
        for name, value in options.items()
        if name in ("filter", "index_routing", "search_routing", "is_write_index", "is_hidden")
    }
