"""Files of the embedded store, looked at from outside, and processes that use them."""

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
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import StoreError
from tests.stores.conftest import numbered
"""

# What a store of the first format has in place of the tables of words.
FIRST_FORMAT = """
DROP INDEX page_not_latest;
DROP TABLE word_block;
DROP TABLE word_run;
DROP TABLE word_lengths;
DROP TABLE word_total;
CREATE VIRTUAL TABLE words USING fts5 (title, text, content = '', tokenize = 'unicode61 remove_diacritics 2');
PRAGMA user_version = 1;
"""


def rows(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(path, isolation_level=None))


def filled(path: Path, *numbers: int) -> Path:
    """The path, at which there is now a store with the records of these numbers."""
    with EmbeddedStore.open(path, create=True) as store:
        store.write([numbered(number) for number in numbers])
    return path


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Another process that runs the code, in which stores and records have their names."""
    command = [sys.executable, "-c", START + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
