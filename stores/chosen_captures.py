"""Reads captures of a store that are chosen by filters or by ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.store import Fields, Store

IDS_PER_READ = 500


def chosen_captures(
    store: Store, fields: type[Fields], where: Filters = Filters(), ids: Sequence[str] | None = None
) -> Iterator[Fields]:
    """Read the captures with these `ids`, in their order, or else all that meet `where`, in the order of writing."""
    if ids is None:
        yield from store.scan(fields, where)
        return
    for some in batches(ids, IDS_PER_READ):
        found = store.read(some, fields)
        yield from (found[id_] for id_ in some if id_ in found)
