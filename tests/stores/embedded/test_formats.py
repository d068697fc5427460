"""Store files that an older, or a newer, winnow has written."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import StoreError
from tests.stores.conftest import numbered
from tests.stores.embedded.store_files import filled, python, rows

# A next version of winnow: its records have a field more in two tables, and the script of its format fills a column.
NEXT = """
import sys
from opensearch_winnow.mappings import sqlite_schema
from opensearch_winnow.mappings.stored_fields import SIGNATURE, TEXT, StoredField

for table, kind, value in (("page", TEXT, "é"), ("page_sketches", SIGNATURE, b"new")):
    of_table = {"table": table, "optional": True, "derived": True}
    added = StoredField(f"new_{table}", kind, lambda _, value=value: value, {}, **of_table)
    sqlite_schema.FIELDS_OF[table] += (added,)
sqlite_schema.MIGRATIONS = (sys.argv[2],)
"""
SCRIPT = "ALTER TABLE page ADD COLUMN host TEXT; -- and;\nUPDATE page SET host = 'h' || site;"
USE = """
try:
    with EmbeddedStore.open(sys.argv[1]) as store:
        assert list(store.scan(Record)) == [numbered(1), numbered(2)]
        store.write([numbered(1, title="changed"), numbered(3)])
        assert list(store.scan(Record)) == [numbered(1, title="changed"), numbered(2), numbered(3)]
        store.verify()
    EmbeddedStore.open(f"{sys.argv[1]}.new", create=True).close()
    print("used", end="")
except StoreError as error:
    print(error, end="")
"""


def columns(path: Path) -> set[tuple[str, str]]:
    with rows(path) as there:
        query = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'"
        return set(there.execute(query))


def test_a_store_is_brought_to_the_next_format(path: Path) -> None:
    before = columns(filled(path, 1, 2))
    assert python(USE, path, SCRIPT, first=NEXT).communicate()[0] == "used"
    added = {("page", "new_page"), ("page_sketches", "new_page_sketches")}
    assert columns(path) == before | added | {("page", "host")}
    assert columns(path.with_name(f"{path.name}.new")) == before | added
    with rows(path) as there:
        assert there.execute("PRAGMA user_version").fetchone() == (2,)
        found = there.execute("SELECT host, new_page FROM page ORDER BY arrival").fetchall()
    assert found == [(None, "é"), ("hexample.org", None), (None, "é")]  # the first and last were written since
    with pytest.raises(StoreError, match=r"by another version of winnow \(store format 2; this one knows 1\)"):
        EmbeddedStore.open(path)


def test_a_damaged_value_that_an_older_winnow_did_not_write(path: Path) -> None:
    filled(path, 1, 2)
    assert python(USE, path, SCRIPT, first=NEXT).communicate()[0] == "used"
    with rows(path) as there:
        there.execute("UPDATE page SET new_page = 'other' WHERE new_page IS NULL")
    assert "a checksum is wrong" in python(USE, path, SCRIPT, first=NEXT).communicate()[0]


def test_a_migration_is_all_or_nothing(path: Path) -> None:
    before = columns(filled(path, 1, 2))
    broken = f"{SCRIPT}\nINSERT INTO nowhere VALUES (1);"
    assert "no such table: nowhere" in python(USE, path, broken, first=NEXT).communicate()[0]
    assert columns(path) == before
    with EmbeddedStore.open(path) as store:
        assert list(store.scan(Record)) == [numbered(1), numbered(2)]


def test_a_script_is_split_at_the_ends_of_statements(path: Path) -> None:
    filled(path, 1, 2)
    trigger = "CREATE TRIGGER c AFTER INSERT ON a BEGIN\nDELETE FROM a;\nEND;"
    script = f"CREATE TABLE a (b);\n{trigger}\nINSERT INTO a VALUES (';');"
    assert python(USE, path, script, first=NEXT).communicate()[0] == "used"
    with rows(path) as there:
        assert there.execute("SELECT count(*) FROM a").fetchone() == (0,)
