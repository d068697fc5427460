"""Where winnow index keeps its records: in a store, or in record files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import click

from opensearch_winnow.cli.text_file import FileError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.kept_recipe import keep_recipe
from opensearch_winnow.stores.opening import new_store, open_store, shown, store_exists
from opensearch_winnow.stores.store import Store

if TYPE_CHECKING:
    from opensearch_winnow.record_files.record_writer import RecordWriter
    from opensearch_winnow.stores.destination import StoreDestination

SQLITE = b"SQLite format 3\0"  # what a store starts with


class Place(NamedTuple):
    given: str  # by the user
    is_store: bool

    @property
    def name(self) -> str:
        return shown(self.given).rstrip("/")

    def next_command(self, records: RecordWriter | StoreDestination) -> Sequence[str]:
        """What its user may want to do now."""
        if not self.is_store:
            return "export", self.given, "--to", "records.jsonl"
        from opensearch_winnow.stores.destination import StoreDestination  # noqa: PLC0415

        example = records.example() if isinstance(records, StoreDestination) else None
        return "similar", example or "URL", "--store", shown(self.given)


def chosen_place(ctx: click.Context, to: str | None, store: str | None) -> Place:
    """Exactly one of both; a store that the environment names is only meant if nothing else is."""
    if to and ctx.get_parameter_source("store") is click.core.ParameterSource.ENVIRONMENT:
        store = None
    if to and store:
        raise click.UsageError("--store and --to are two places to keep the records: name one of them", ctx)
    if store:
        return Place(store, is_store=True)
    if not to:
        raise click.UsageError("where to keep the records? Add --store crawl.winnow, or --to records.parquet", ctx)
    if to.endswith(".winnow"):
        raise click.UsageError(f"--to is for Parquet, and {to} is named as a store: --store {to}", ctx)
    return Place(to, is_store=False)


def refuse_stores(sources: Sequence[str]) -> None:
    """A store is a file with text in it, but nobody's page."""
    for name in sources:
        if Path(name).is_file():
            with Path(name).open("rb") as file:
                if file.read(len(SQLITE)) == SQLITE:
                    raise FileError(
                        f"{name} is a SQLite file, as stores are, and no source of pages: "
                        f"winnow export --store {name} --to records.parquet makes one of a store"
                    )


@contextmanager
def opened_if_there(place: Place, scheme: Scheme | None) -> Iterator[Store | None]:
    """The store, if there is one before the run."""
    if place.is_store and store_exists(place.given):
        with open_store(place.given, scheme) as store:
            yield store
    else:
        yield None


@contextmanager
def opened_to_write(place: Place, before: Store | None, recipe: Recipe) -> Iterator[RecordWriter | Store]:
    """Open what the records are kept in: a record file, the store that was there before, or a new one."""
    if not place.is_store:
        with extra("parquet"):
            from opensearch_winnow.record_files.record_writer import RecordWriter  # noqa: PLC0415 (Arrow, as in export)

        with RecordWriter(place.given, recipe.scheme) as records:
            yield records
    elif before is None:
        with new_store(place.given, recipe.scheme) as store:
            keep_recipe(store, recipe)
            yield store
    else:
        keep_recipe(before, recipe)
        yield before


def kept_in(place: Place, opened: RecordWriter | Store) -> AbstractContextManager[RecordWriter | StoreDestination]:
    """Return what to give the records to."""
    if not place.is_store:
        return nullcontext(cast("RecordWriter", opened))
    from opensearch_winnow.stores.destination import StoreDestination  # noqa: PLC0415

    return StoreDestination(cast("Store", opened))
