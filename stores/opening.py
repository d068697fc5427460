"""From the name of a store to the store."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.store import Store, StoreError

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

ADDRESS = re.compile(r"https?://", re.IGNORECASE)
CREDENTIALS = re.compile(r"(?<=://).*@")
ENDINGS = ("", "-wal", "-shm")  # of the files of an embedded store: what follows its name, while it is open


def open_store(
    name: str,
    scheme: Scheme | None = None,
    *,
    create: bool = False,
    key: str | None = None,
    client: OpenSearch | None = None,
) -> Store:
    """The store of this name: an address is one of OpenSearch, anything else a file. With `create` it is made if there
    is none, with this scheme or the usual one.

    A scheme that is given, and is not the one of the store, is refused. A `client` is used for an address, instead of
    one that is made from it.
    """
    # Only the kind of store that is used is imported.
    if is_address(name):
        with extra("opensearch"):
            from opensearch_winnow.stores.opensearch import OpenSearchStore  # noqa: PLC0415

        return OpenSearchStore.open(name, scheme, create=create, key=key, client=client)
    if client is not None:
        raise StoreError(f"{name} is a file, which needs no client: name a store as http://localhost:9200/pages")
    from opensearch_winnow.stores.embedded import EmbeddedStore  # noqa: PLC0415

    return EmbeddedStore.open(name, scheme, create=create, key=key)


def is_address(name: str) -> bool:
    return bool(ADDRESS.match(name))


def printable(name: str) -> str:
    """The name without the credentials that an address may have: for all that is printed."""
    return CREDENTIALS.sub("", name) if is_address(name) else name


def store_exists(name: str, client: OpenSearch | None = None) -> bool:
    """Whether there is something of this name; if it is no store, opening it tells."""
    if is_address(name):
        with extra("opensearch"):
            from opensearch_winnow.stores.opensearch import OpenSearchStore  # noqa: PLC0415

        return OpenSearchStore.exists(name, client=client)
    return Path(name).exists()


def file_identity(name: str) -> tuple[int, int] | None:
    """Of the file that has this name now: another when it was replaced. None for an address, or without a file."""
    if is_address(name):
        return None
    try:
        found = Path(name).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def files_of(name: str) -> list[Path]:
    """Those that a store of this name has, or may have."""
    return [] if is_address(name) else [Path(f"{os.path.realpath(name)}{ending}") for ending in ENDINGS]


def failed_pages_of(name: str) -> Path:
    """Where to keep the pages that failed on their way to a place: beside a file, or in this folder."""
    local = name.rstrip("/").rpartition("/")[2] if is_address(name) else name.rstrip("/")
    return Path(f"{local}.failed.jsonl")
