"""What winnow cluster has written, and what a store knows of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from click.testing import Result

from opensearch_winnow import Index
from opensearch_winnow.mappings.record import Record

Winnow = Callable[..., Result]
Rows = list[dict[str, Any]]


def rows(path: Path) -> Rows:
    found: Rows = pq.read_table(path).to_pylist()
    return sorted(found, key=lambda row: tuple(map(str, row.values())))


def told(store: Path | str) -> dict[str, str]:
    """The clusters of the store, by the id of the page."""
    with Index.open(store, create=False) as index:
        return {record.id: record.cluster for record in index.store.scan(Record)}


def exported(winnow: Winnow, store: Path) -> Path:
    target = store.with_suffix(".parquet")
    assert winnow("export", "--store", store, "--to", target).exit_code == 0
    return target


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*")]
