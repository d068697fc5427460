"""Opens a store by its name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.store import Store, StoreError

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

ADDRESS = re.compile(r"https?://", re.IGNORECASE)
MISTYPED_ADDRESS = re.compile(r"[^/]*[:;]/|\s*https?(?:[:;]|//)", re.IGNORECASE)
ENDINGS = ("", "-wal", "-shm")  # an embedded store is a file, and two more while it is open


def open_store(
    name: str,
    scheme: Scheme | None = None,
    *,
    create: bool = False,
    key: str | None = None,
    client: OpenSearch | None = None,
    patient: bool = False,
    shown_name: str | None = None,
) -> Store:
    """Open the store `name`: an http(s) address is an index on OpenSearch, anything else a file.

    With `create`, a missing store is created with `scheme`, or with the default scheme. A store that exists with
    another scheme than `scheme` is refused. For an address, `client` replaces the client that is made from it; a
    `patient` one repeats requests for two minutes while the engine is busy or not available, as a long run should.
    `shown_name` is the name of a file in messages, by default `name`.
    """
    # Import only the kind of store that is needed.
    if is_address(name):
        with extra("opensearch"):
            from opensearch_winnow.stores.opensearch import OpenSearchStore  # noqa: PLC0415

        return OpenSearchStore.open(name, scheme, create=create, key=key, client=client, patient=patient)
    if client is not None:
        raise StoreError(
            f"{name} is a file, which needs no client. A client is for a store such as http://localhost:9200/pages"
        )
    from opensearch_winnow.stores.embedded import EmbeddedStore  # noqa: PLC0415

    return EmbeddedStore.open(name, scheme, create=create, key=key, shown_name=shown_name)


def is_address(name: str) -> bool:
    """Return whether a store of this name is on OpenSearch. Raises StoreError if an address seems to be mistyped."""
    if ADDRESS.match(name):
        return True
    if (MISTYPED_ADDRESS.match(name) or without_credentials(name) != name) and not os.path.lexists(name):
        # The message does not repeat the name, because no rule finds the password in every mistyped address.
        raise StoreError(
            "the name of the store looks like an address, but an address starts with http:// or https://, as in"
            " http://localhost:9200/pages; for a file, write ./ before its name"
        )
    return False


def store_exists(name: str, client: OpenSearch | None = None, *, patient: bool = False) -> bool:
    """Return whether a file or an index has this name. Only opening it shows whether it is a store."""
    if is_address(name):
        with extra("opensearch"):
            from opensearch_winnow.stores.opensearch import OpenSearchStore  # noqa: PLC0415

        return OpenSearchStore.exists(name, client=client, patient=patient)
    return Path(name).exists()


def file_identity(name: str) -> tuple[int, int] | None:
    """Return the device and inode of the file, which change when it is replaced; None if there is no such file."""
    if is_address(name):
        return None
    try:
        status = Path(name).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def files_of(name: str) -> list[Path]:
    """Return the files that a store of this name may consist of; none for an address."""
    return [] if is_address(name) else [Path(f"{os.path.realpath(name)}{ending}") for ending in ENDINGS]


def default_failed_pages_path(name: str) -> Path:
    """Return the default file for failed pages: beside the file `name`, or in the current folder for an address."""
    local = name.rstrip("/").rpartition("/")[2] if is_address(name) else name.rstrip("/")
    return Path(f"{local}.failed.jsonl")
