"""A value of a store file that is not what was written is an error, not an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.embedded.verification import SEALED
from opensearch_winnow.stores.store import StoreError
from tests.stores.conftest import numbered
from tests.stores.embedded.store_files import filled, rows
from tests.stores.store_questions import search

CHANGING = {"number", "arrival", "latest", "cluster"}  # columns of a page that are set again later, or are its key


def test_a_wrong_column_of_a_page(path: Path) -> None:
    with rows(filled(path, 1, 2)) as there:
        columns = [name for _, name, *_ in there.execute("PRAGMA table_info(page)") if name not in CHANGING]
    assert len(columns) == 17
    for column in columns:
        with rows(path) as there:
            (before,) = there.execute(f"SELECT {column} FROM page WHERE number = 1").fetchone()
            # The id of another page would not be unique, and a digest stays one of its kind.
            wrong = bytes(len(before)) if isinstance(before, bytes) else before + 1 if isinstance(before, int) else "x"
            there.execute(f"UPDATE page SET {column} = ? WHERE number = 1", (wrong,))
        with EmbeddedStore.open(path) as store:
            for read in (
                lambda store=store: list(store.scan(Record)),
                lambda store=store: list(store.scan(Card)),
                lambda store=store: store.view(Words.of("words")).ranked(0, 9),
                store.verify,
            ):
                with pytest.raises(StoreError, match=r"is damaged \(a checksum is wrong\)"):
                    read()
        with rows(path) as there:
            there.execute(f"UPDATE page SET {column} = ? WHERE number = 1", (before,))
    with EmbeddedStore.open(path) as store:
        assert list(store.scan(Record)) == [numbered(1), numbered(2)]


def test_the_canonical_url_takes_no_bytes_if_it_is_the_pages_own(path: Path) -> None:
    """The checksum tells it from none."""
    pages = [numbered(1, canonical=numbered(1).url), numbered(2), numbered(3, canonical=numbered(1).url)]
    with EmbeddedStore.open(path, create=True) as store:
        store.write(pages)
        assert list(store.scan(Record)) == pages
    with rows(path) as there:
        stored = dict(there.execute("SELECT url, canonical FROM page"))
        assert [stored[page.url] for page in pages] == ["", None, pages[0].url]
        there.execute("UPDATE page SET canonical = NULL WHERE canonical = ''")
    with EmbeddedStore.open(path) as store, pytest.raises(StoreError, match="a checksum is wrong"):
        list(store.scan(Record))


def test_a_wrong_setting_scheme_or_number_of_a_deleted_page(path: Path) -> None:
    filled(path, 1)
    with EmbeddedStore.open(path) as store:
        store.settings.set({"watch.a": {"min_containment": 0.5}})
        for damage, reads in {
            "UPDATE setting SET value = replace(value, 'min', 'mio')": (
                lambda: store.settings.get("watch.a"),
                store.settings.with_prefix,
                store.verify,
            ),
            f"INSERT INTO gone VALUES ({1 << 40})": (store.statistics, lambda: search(store, Words.of("words"))),
        }.items():
            with rows(path) as there:
                there.execute(damage)
            for read in reads:
                with pytest.raises(StoreError, match="is damaged"):
                    read()
    with rows(path) as there:
        there.execute("UPDATE scheme SET choices = replace(choices, 'winnow', 'wilnow')")
    with pytest.raises(StoreError, match=r"is damaged \(its scheme cannot be read\)"):
        EmbeddedStore.open(path)


def test_every_block_is_sealed(path: Path) -> None:
    """No BLOB is left without a checksum: those of a page are in its row's, the others carry their own."""
    with rows(filled(path, 1)) as there:
        blobs = there.execute(
            "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c"
            " WHERE t.type = 'table' AND t.name != 'page' AND c.type = 'BLOB'"
        ).fetchall()
    assert blobs
    assert set(blobs) <= {(table, column) for table, columns in SEALED.items() for column in columns}
