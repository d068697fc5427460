"""The order in which rows fill the pages of the file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random
from sqlite3 import connect

from hypothesis import given, strategies as st

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.sqlite_schema import PAGE_SIZE
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.embedded.writes import leaf_order
from tests.stores.conftest import numbered


@given(st.lists(st.tuples(st.integers(0, 50_000), st.sampled_from("abc")), max_size=50))
def test_every_row_comes_once_and_families_stay_in_order(rows: list[tuple[int, str]]) -> None:
    order = leaf_order([size for size, _ in rows], [family for _, family in rows])
    assert sorted(order) == list(range(len(rows)))
    for family in "abc":
        places = [index for index in order if rows[index][1] == family]
        assert places == sorted(places)


def test_few_bytes_stay_empty(tmp_path: Path) -> None:
    """Sizes as those of texts, some larger than a page. SQLite itself tells how full its pages are."""
    source = Random(3)
    sizes = [int(source.lognormvariate(8, 0.8)) for _ in range(1_000)]
    empty = []
    ours = leaf_order(sizes, [str(index) for index in range(len(sizes))])
    for name, order in (("as they come", range(len(sizes))), ("in our order", ours)):
        with closing(connect(tmp_path / name)) as db:
            db.executescript(f"PRAGMA page_size = {PAGE_SIZE}; CREATE TABLE t (number INTEGER PRIMARY KEY, data)")
            db.executemany("INSERT INTO t (data) VALUES (zeroblob(?))", [(sizes[index],) for index in order])
            db.commit()
            (pages,) = db.execute("PRAGMA page_count").fetchone()
        empty.append(1 - sum(sizes) / (pages * PAGE_SIZE))
    assert empty[0] > 0.15
    assert empty[1] < 0.03


def test_records_are_scanned_in_the_order_of_writing(tmp_path: Path) -> None:
    source = Random(4)
    records = [numbered(number, text=source.randbytes(source.randrange(3_000)).hex()) for number in range(60)]
    with EmbeddedStore.open(tmp_path / "store", create=True) as store:
        store.write(records[:40])
        replaced = numbered(7, text="another text")
        store.write([*records[40:], replaced])
        assert list(store.scan(Record)) == [*records[:7], replaced, *records[8:]]
