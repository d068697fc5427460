"""Reads and writes the settings of an embedded store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from opensearch_winnow.stores.embedded.file import StoreFile
from opensearch_winnow.stores.embedded.rows import row_checksum, setting_of

WITH_PREFIX = "WHERE substr(name, 1, ?) = ? ORDER BY name"


class EmbeddedSettings:
    """The settings of the store in a file."""

    def __init__(self, file: StoreFile) -> None:
        self._file = file

    def get(self, name: str) -> Any:
        with self._file.reading() as db:
            return read_setting(db, name)

    def names(self, prefix: str = "") -> list[str]:
        with self._file.reading() as db:
            return [name for (name,) in db.execute(f"SELECT name FROM setting {WITH_PREFIX}", (len(prefix), prefix))]

    def with_prefix(self, prefix: str = "") -> dict[str, Any]:
        with self._file.reading() as db:
            found = db.execute(f"SELECT name, value, checksum FROM setting {WITH_PREFIX}", (len(prefix), prefix))
            return {row[0]: setting_of(*row) for row in found}

    def set(self, values: Mapping[str, Any]) -> None:
        with self._file.writing() as db:
            write_settings(db, values)

    def change(self, name: str, change: Callable[[Any], Any]) -> None:
        with self._file.writing() as db:
            write_settings(db, {name: change(read_setting(db, name))})


def read_setting(db: sqlite3.Connection, name: str) -> Any:
    """Return the JSON value that is kept under `name`, in a transaction of the caller; None if there is none."""
    row = db.execute("SELECT name, value, checksum FROM setting WHERE name = ?", (name,)).fetchone()
    return row and setting_of(*row)


def write_settings(db: sqlite3.Connection, values: Mapping[str, Any]) -> None:
    """Keep JSON values by name, in a transaction of the caller; None removes one."""
    written = {name: json.dumps(value) for name, value in values.items() if value is not None}
    rows = [(name, value, row_checksum(name, value)) for name, value in written.items()]
    db.executemany("DELETE FROM setting WHERE name = ?", [(name,) for name in values.keys() - written.keys()])
    db.executemany("INSERT OR REPLACE INTO setting VALUES (?, ?, ?)", rows)
