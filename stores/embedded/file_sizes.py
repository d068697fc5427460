"""What takes the bytes of an embedded store."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

TELLER = "dbstat"  # a table that SQLite has if it was built so
# Tables by the beginning of their names; those of an index begin with its table's.
PARTS = {
    "page_text": "texts",
    "page_hashes": "hashes",
    "page": "pages",
    "word": "text index",
    "fingerprints": "fingerprints",
    "sketch": "sketch",
    "bands": "bands",
}


def sizes(rows: sqlite3.Connection, path: Path) -> dict[str, int]:
    """In bytes, by part; the files together. Where SQLite cannot tell the parts, one for the file."""
    files = {suffix: path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")}
    lengths = {suffix: file.stat().st_size for suffix, file in files.items() if file.exists()}
    (free,) = rows.execute("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size").fetchone()
    parts = Counter(free=free)
    try:
        # Not its own sums (aggregate = TRUE), which are of 32 bits.
        for name, size in rows.execute(f"SELECT name, sum(pgsize) FROM {TELLER} GROUP BY name"):
            part = next((part for start, part in PARTS.items() if name.startswith(start)), "other")
            parts[part] += size
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        parts["all"] = lengths[""] - free
    # The rest. A page of the file that is only in the log yet is counted with its part.
    parts["log"] = sum(lengths.values()) - parts.total()
    return {part: size for part, size in parts.items() if size}
