"""Opens a store by name; a missing one is created when the first page is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page_record import Recipe, RecipeOptions
from opensearch_winnow.ingest.runs.destination import Destination
from opensearch_winnow.operations.asking.page_watcher import RunFindings
from opensearch_winnow.operations.asking.watched_questions import WatchedQuestions
from opensearch_winnow.stores.opening import files_of, open_store, store_exists
from opensearch_winnow.stores.saved_recipe import recipe_for_run, save_recipe
from opensearch_winnow.stores.store import Store

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


class LazyStore(Closing):
    """A store that is created only when something is written to it. Use it as a context manager."""

    def __init__(
        self,
        name: str,
        scheme: Scheme | None = None,
        *,
        create: bool = True,
        key: str | None = None,
        client: OpenSearch | None = None,
        patient: bool = False,
        shown_name: str | None = None,
    ) -> None:
        """Messages call a file `shown_name`, by default its name."""
        self.name = without_credentials(name)
        self.shown_name = shown_name or self.name
        self._address = name  # with its credentials, if it has any
        self._client = client
        self._patient = patient
        self._wanted_scheme = scheme
        self._create = create
        self._key = key
        self._store: Store | None = None
        self._new_scheme: Scheme | None = None
        self._questions: WatchedQuestions | None = None  # of the watches, as the last run found them
        self._opening = Lock()
        if not create or store_exists(name, client, patient=patient):
            self.get()
        else:
            self._new_scheme = with_key(scheme or Scheme(), key)  # now: a key file that cannot be used is an error now

    def get(self, *, to_write: bool = False) -> Store:
        """Return the store. With `to_write`, a missing one is created, if this object was made with `create`."""
        with self._opening:
            if self._store is None:
                create = to_write and self._create
                self._store = open_store(
                    self._address,
                    self._wanted_scheme,
                    create=create,
                    key=self._key if self._new_scheme is None else self._new_scheme.key,
                    client=self._client,
                    patient=self._patient,
                    shown_name=self.shown_name,
                )
            return self._store

    @property
    def scheme(self) -> Scheme:
        """The store's scheme, or the one it will be created with."""
        if self._store is not None:
            return self._store.scheme
        assert self._new_scheme is not None
        return self._new_scheme

    @property
    def has_default_scheme(self) -> bool:
        """Return whether the store is still to be created, and nobody has chosen its scheme."""
        return self._store is None and self._wanted_scheme is None

    def choose_scheme(self, scheme: Scheme) -> None:
        """Set the scheme that the store will be created with."""
        self._wanted_scheme = self._new_scheme = with_key(scheme, self._key)

    @property
    def files(self) -> list[Path]:
        """The files that the store has or may have."""
        return files_of(self.name)

    def recipe(self, choices: RecipeOptions) -> Recipe:
        """Return the recipe of the store's first run, or the default recipe, changed by `choices`."""
        return recipe_for_run(self._store, scheme=self.scheme, **choices.keywords())

    @contextmanager
    def open_destination(self, recipe: Recipe, findings: RunFindings) -> Iterator[Destination]:
        """Open the store for writing, and save `recipe` in it if it is the first. `findings` gets those of its watches.

        If the store is new and an exception comes before its first page is stored, its file is deleted again.
        """
        from opensearch_winnow.stores.destination import StoreDestination  # noqa: PLC0415 (imported only to write)

        is_new = self._store is None
        store = self.get(to_write=True)
        try:
            save_recipe(store, recipe)
            self._questions = WatchedQuestions.current(store, self._questions)
            yield StoreDestination(store, findings.watch(store, self._questions).check)
        except BaseException:
            if is_new:
                self._remove_if_empty(store)
            raise

    def _remove_if_empty(self, store: Store) -> None:
        if not self.files:
            return
        from opensearch_winnow.stores.embedded.file import remove_if_empty  # noqa: PLC0415

        store.close()
        self._store = None
        remove_if_empty(self.files[0])

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
