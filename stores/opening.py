"""From the name of a store to the store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opensearch_winnow.scheme import Scheme
from opensearch_winnow.stores.store import Store, StoreError

ADDRESS = re.compile(r"https?://", re.IGNORECASE)
ENDINGS = ("", "-wal", "-shm")  # of the files of an embedded store: what follows its name, while it is open


def open_store(name: str, scheme: Scheme | None = None, *, create: bool = False, key: str | None = None) -> Store:
    """The store of this name. With `create` it is made if there is none, with this scheme or the usual one.

    A scheme that is given, and is not the one of the store, is refused.
    """
    _refuse_address(name)
    from opensearch_winnow.stores.embedded import EmbeddedStore  # noqa: PLC0415 (only the kind of store that is used)

    return EmbeddedStore.open(name, scheme, create=create, key=key)


def store_exists(name: str) -> bool:
    """Whether there is something of this name; if it is no store, opening it tells."""
    _refuse_address(name)
    return Path(name).exists()


def files_of(name: str) -> list[Path]:
    """Those that an embedded store of this name has, or may have."""
    return [Path(f"{os.path.realpath(name)}{ending}") for ending in ENDINGS]


@contextmanager
def new_store(name: str, scheme: Scheme, *, key: str | None = None) -> Iterator[Store]:
    """A store that is made now. If an exception comes before its first page, there is none again."""
    nothing = False
    try:
        with open_store(name, scheme, create=True, key=key) as store:
            try:
                yield store
            except BaseException:
                with suppress(StoreError):
                    nothing = store.count() == 0
                raise
    finally:
        if nothing:
            for file in files_of(name):
                file.unlink(missing_ok=True)


def _refuse_address(name: str) -> None:
    if ADDRESS.match(name):
        raise StoreError(f"{name} is an address, and OpenSearch is not supported yet: name a file, as crawl.winnow")
