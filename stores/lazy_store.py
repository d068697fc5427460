"""Opens a store by name, and creates a missing one when the first page is written."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.opening import files_of, open_store, store_exists
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
        """`shown_name` is the name of a file in messages, by default `name`."""
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
    def exists(self) -> bool:
        """True if the store existed, or has been created since."""
        return self._store is not None

    @property
    def has_default_scheme(self) -> bool:
        """True if the store does not exist yet, and no scheme was chosen for it."""
        return self._store is None and self._wanted_scheme is None

    def choose_scheme(self, scheme: Scheme) -> None:
        """Set the scheme that the store will be created with."""
        self._wanted_scheme = self._new_scheme = with_key(scheme, self._key)

    @property
    def files(self) -> list[Path]:
        """The files that the store has or may have."""
        return files_of(self.name)

    def remove_if_empty(self) -> None:
        """Delete the file of a store without pages, unless another process has it open."""
        if not self.files or self._store is None:
            return
        from opensearch_winnow.stores.embedded.file import remove_if_empty  # noqa: PLC0415

        self._store.close()
        self._store = None
        remove_if_empty(self.files[0])

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
