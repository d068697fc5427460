"""Defines what the methods of Index share: the open store, its pages, and its boilerplate."""

from __future__ import annotations

from functools import cached_property

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.operations.boilerplate import RegisteredBoilerplate
from opensearch_winnow.operations.lazy_store import LazyStore
from opensearch_winnow.operations.page_finder import PageFinder
from opensearch_winnow.queries.boilerplate import NO_EXCLUSIONS, Exclusions
from opensearch_winnow.stores.store import Store


class IndexBase(Closing):
    """A store that is opened when it is first used."""

    def __init__(self, lazy_store: LazyStore) -> None:
        self.name = lazy_store.name
        self._lazy_store = lazy_store

    @property
    def store(self) -> Store:
        """The store itself, for lower-level access to its records. It must exist."""
        return self._lazy_store.get()

    @property
    def scheme(self) -> Scheme:
        """The store's scheme, or the one it will be created with."""
        return self._lazy_store.scheme

    @cached_property
    def _pages(self) -> PageFinder:
        return PageFinder(self.store)

    @cached_property
    def _boilerplate(self) -> RegisteredBoilerplate:
        return RegisteredBoilerplate(self.store)

    def _exclusions(self, boilerplate: bool) -> Exclusions:
        return self._boilerplate.exclusions() if boilerplate else NO_EXCLUSIONS

    def close(self) -> None:
        """Close the store. Leaving a `with` block does this too."""
        self._lazy_store.close()
