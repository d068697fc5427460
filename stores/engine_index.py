"""The options of a store's index on an engine, and the reports of setting it up and moving it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from opensearch_winnow.foundation.answers import Answer, Listing, answer, inlined, key, listed
from opensearch_winnow.foundation.option_kinds import FLAG, number
from opensearch_winnow.foundation.options import Options, option

# "refused": the engine does not support this part, and a store works without it.
Outcome = Literal["made", "there", "missing", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupOptions(Options):
    """The index of a store that is set up."""

    shards: int = option(1, number(1, 1024), "Number of shards of the page index.")
    replicas: int | None = option(
        None, number(0, 100), "Extra copies of each shard.", unset="1 if the cluster has a second node"
    )
    dry_run: bool = option(False, FLAG, "Change nothing: print the missing requests, for the Dev Tools console.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationOptions(Options):
    """The index that a store is moved to."""

    shards: int | None = option(None, number(1, 1024), "Shards of the new index.", unset="as the old one")
    replicas: int | None = option(
        None, number(0, 100), "Extra copies of each shard of the new index.", unset="as the old one"
    )
    delete_old: bool = option(False, FLAG, "Delete the old index afterwards. Scans that still read it fail.")


@answer
class SetupStep(Answer):
    """A request that creates a part of a store."""

    what: str = key("The part.")
    method: str = key("The method of the request.")
    path: str = key("The path of the request.")
    body: dict[str, Any] = key("The body of the request.")
    outcome: Outcome = key("The outcome: made, there before, missing, or refused by the engine.")


@answer
class SetupReport(Listing[SetupStep]):
    """The parts of a store on an engine. A file has none."""

    store: str = key("The address of the store.")
    steps: list[SetupStep] = listed("The requests, in order.")


@answer
class Migration(Answer):
    """A store that was moved to a new index."""

    old: str = key("The old index.")
    new: str = key("The new index.")
    pages: int = key("The number of pages.")
    rounds: int = key("The number of rounds of copying, including the last one, during which writers waited.")
    waited: float = key("The seconds that writers had to wait.")
    seconds: float = key("The time it took.")
    old_deleted: bool = key("True if the old index was deleted.")


@answer
class MigratedStore(Answer):
    """A store and its migration, which a file does not need."""

    store: str = key("The address of the store.")
    migration: Migration | None = inlined()
