"""Store files for tests, access to their tables, and processes that use them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from opensearch_winnow.stores.embedded import EmbeddedStore
from tests.stores.conftest import numbered

START = """
import os, resource, sys
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import StoreError
from tests.stores.conftest import numbered
"""


def rows(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(path, isolation_level=None))


def filled(path: Path, *numbers: int) -> Path:
    """Create a store with the records of these numbers, and return its path."""
    with EmbeddedStore.open(path, create=True) as store:
        store.write([numbered(number) for number in numbers])
    return path


def python(code: str, *arguments: object, first: str = "") -> subprocess.Popen[str]:
    """Run code in another process, after imports for stores and records, and `first` before these."""
    command = [sys.executable, "-c", first + START + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
