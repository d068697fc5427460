"""Checks the scheme of a store when it is opened."""

from __future__ import annotations

from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.mappings.written_scheme import WrittenScheme, other_scheme, written
from opensearch_winnow.stores.store import StoreError


def opened_scheme(name: str, found: WrittenScheme, wanted: Scheme | None, key: str | None) -> Scheme:
    """Return the scheme of the store `name`. Raises StoreError if it is not `wanted`, or needs another key.

    The key is `key`, or else that of `wanted`, or else that of the environment. A store without a key is not opened
    with one.
    """
    if key is None and wanted is not None:
        key = wanted.key
    if wanted is not None and found.choices != written(wanted).choices:
        wanted = with_key(wanted, key)
        if wanted.id != found.id:
            raise StoreError(str(other_scheme(name, found, written(wanted))))
    try:
        return found.scheme(key)
    except RecordsError as error:
        raise StoreError(f"{name} cannot be opened: {error}") from None
