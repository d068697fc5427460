"""Checks the scheme of a store when it is opened."""

from __future__ import annotations

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.mappings.written_scheme import WrittenScheme, other_scheme
from opensearch_winnow.stores.store import StoreError


def opened_scheme(name: str, found: WrittenScheme, wanted: Scheme | None, key: str | None) -> Scheme:
    """Return the scheme of the store `name`. Raises if it is not `wanted`, or needs another `key`."""
    if wanted is not None:
        if wanted.id != found.id:
            raise StoreError(str(other_scheme(name, found.id, wanted.id)))
        return wanted
    if found.keyed and key is None:
        raise StoreError(f"{name} was created with a secret key: pass that key to open it")
    try:
        return found.scheme(key)
    except RecordsError as error:
        raise StoreError(f"{name} cannot be opened: {error}") from None
