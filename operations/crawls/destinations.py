"""The destinations of an indexing run, a store or record files, by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page_record import Recipe, RecipeOptions
from opensearch_winnow.ingest.runs.record_writer import RecordWriter
from opensearch_winnow.operations.asking.page_watcher import RunFindings
from opensearch_winnow.operations.asking.watched_questions import WatchedQuestions
from opensearch_winnow.stores.lazy_store import LazyStore
from opensearch_winnow.stores.saved_recipe import recipe_for_run, save_recipe

Name = str | os.PathLike[str]


class Destination(Protocol):
    """A store or record files by name. Nothing is created before a run starts to write."""

    @property
    def name(self) -> str:
        """The name as it may be shown, without credentials."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that a run writes, which are never its sources."""

    @property
    def has_default_scheme(self) -> bool:
        """True if it is still to be created, with a scheme that nobody has chosen."""

    def choose_scheme(self, scheme: Scheme) -> None:
        """Set the scheme that it will be created with."""

    def recipe(self, choices: RecipeOptions) -> Recipe:
        """Return the recipe for a run. A choice that is None is taken from the destination, or is the default."""

    def open(self, recipe: Recipe, findings: RunFindings) -> AbstractContextManager[RecordWriter]:
        """Open it for writing, and create it if it does not exist. It is released when this context is left.

        If it has watches, `findings` gets what they find among the pages that are written.
        """


class StoreDestination:
    """A store as the destination of a run."""

    def __init__(self, store: LazyStore) -> None:
        self._store = store
        self._questions: WatchedQuestions | None = None  # of the watches, as the last run found them
        self.choose_scheme = store.choose_scheme

    @property
    def name(self) -> str:
        return self._store.name

    @property
    def files(self) -> Sequence[Path]:
        return self._store.files

    @property
    def has_default_scheme(self) -> bool:
        return self._store.has_default_scheme

    def recipe(self, choices: RecipeOptions) -> Recipe:
        """Return the recipe of the store's first run, or the default recipe, changed by `choices`."""
        store = self._store.get() if self._store.exists else None
        return recipe_for_run(store, scheme=self._store.scheme, **choices.keywords())

    @contextmanager
    def open(self, recipe: Recipe, findings: RunFindings) -> Iterator[RecordWriter]:
        """Open the store for writing, and save `recipe` in it if it is the first.

        If the store is new and an exception comes before its first page is stored, its file is deleted again.
        """
        from opensearch_winnow.stores.store_writer import StoreWriter  # noqa: PLC0415 (imported only to write)

        is_new = not self._store.exists
        store = self._store.get(to_write=True)
        try:
            save_recipe(store, recipe)
            self._questions = WatchedQuestions.current(store, self._questions)
            yield StoreWriter(store, findings.watch(store, self._questions).check)
        except BaseException:
            if is_new:
                self._store.remove_if_empty()
            raise


class RecordFilesDestination:
    """One Parquet file of records, or a folder of them if its name ends with / or is that of a folder."""

    def __init__(self, name: Name, scheme: Scheme | None = None, key: str | None = None) -> None:
        self._path = os.fspath(name)
        self.name = self._path.rstrip("/")
        self.files = [Path(self.name)]
        self.has_default_scheme = scheme is None and not Path(self.name).exists()
        self._key = key
        self.choose_scheme(scheme or Scheme())

    def choose_scheme(self, scheme: Scheme) -> None:
        self._scheme = with_key(scheme, self._key)

    def recipe(self, choices: RecipeOptions) -> Recipe:
        return recipe_for_run(None, scheme=self._scheme, **choices.keywords())

    @contextmanager
    def open(self, recipe: Recipe, findings: RunFindings) -> Iterator[RecordWriter]:  # noqa: ARG002
        with extra("parquet"):
            from opensearch_winnow.ingest.runs.parquet_writer import ParquetWriter  # noqa: PLC0415 (an extra)

        with ParquetWriter(self._path, recipe.scheme) as writer:
            yield writer


@contextmanager
def destination_named(
    *, store: Name | None = None, to: Name | None = None, scheme: Scheme | None = None, key: str | None = None
) -> Iterator[Destination]:
    """Return the store `store`, or the record files `to`, as a destination. The store is closed at the end.

    If the store or file exists with another scheme than `scheme`, or another `key`, it is refused.
    """
    if (store is None) == (to is None):
        raise ValueError("name either a store or record files")
    if to is not None:
        yield RecordFilesDestination(to, scheme, key)
    elif store is not None:
        with LazyStore(os.fspath(store), scheme, key=key, patient=True) as opened:
            yield StoreDestination(opened)
