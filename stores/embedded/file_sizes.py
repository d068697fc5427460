"""Measures what takes the bytes of an embedded store."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

SIZES_TABLE = "dbstat"  # a virtual table; some builds of SQLite do not have it
# What tables hold, by the beginning of their names. The name of an index begins with that of its table.
TABLE_KINDS = {
    "page_text_digest": "pages",
    "page_text": "texts",
    "page_fingerprints": "hashes",
    "page_sketches": "hashes",
    "page": "pages",
    "source": "pages",
    "word": "text index",
    "fingerprints": "fingerprints",
    "sketch": "sketch",
    "bands": "bands",
}


def sizes(db: sqlite3.Connection, path: Path) -> dict[str, int]:
    """Return the bytes of all files of a store, by what takes them; without SIZES_TABLE, all tables as one entry."""
    files = {suffix: path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")}
    lengths = {suffix: file.stat().st_size for suffix, file in files.items() if file.exists()}
    (free,) = db.execute("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size").fetchone()
    parts = Counter(free=free)
    try:
        # Summed here, because the sums of dbstat itself (aggregate = TRUE) have only 32 bits.
        for name, size in db.execute(f"SELECT name, sum(pgsize) FROM {SIZES_TABLE} GROUP BY name"):
            part = next((part for start, part in TABLE_KINDS.items() if name.startswith(start)), "other")
            parts[part] += size
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        parts["all"] = lengths[""] - free
    # The rest is the log. A page that is so far only in the log counts with its table.
    parts["log"] = sum(lengths.values()) - parts.total()
    return {part: size for part, size in parts.items() if size}
