"""Keeps the number of records of each indexed archive that were left out, to report it when pages are extracted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from hashlib import blake2b

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.stores.store import Store

PREFIX = "archive/"  # of the settings' names; a path may be too long for a name


def save_left_out(store: Store, left_out: Mapping[str, Mapping[str, int]]) -> None:
    """Keep the numbers of records that were not indexed: {path of the archive: {reason: number}}."""
    store.settings.set(
        {
            f"{PREFIX}{blake2b(file.encode(), digest_size=16).hexdigest()}": {"file": file, "left_out": dict(reasons)}
            for file, reasons in ((storable(path), reasons) for path, reasons in left_out.items())
        }
    )


def left_out_of(store: Store, files: Collection[str]) -> Counter[str]:
    """Count the records of these archives that were not indexed, by reason, such as pictures and redirects."""
    found: Counter[str] = Counter()
    for kept in store.settings.with_prefix(PREFIX).values() if files else ():
        if kept["file"] in files:
            found.update(kept["left_out"])
    return found
