from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from pyarrow import parquet as pq

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import SourceError, Sources, UnreadableError
from opensearch_winnow.ingest.sources.parquet import check_columns, splits
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Split
from tests.ingest.sources.archives import urls

CAP = 100_000
JAN_2 = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.parquet"


def written(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def found(path: Path, **columns: Any) -> list[Item]:
    return items(written(path, {"url": ["u"], **columns}))


def items(path: Path, *, cap: int = CAP) -> list[Item]:
    return [item for _, item in read(Split("parquet", str(path)), cap) if item is not None]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        *((pa.array(["<p>ä"], kind), "<p>ä") for kind in (pa.string(), pa.large_string(), pa.string_view())),
        (pa.array(["<p>ä"]).dictionary_encode(), "<p>ä"),
        *((pa.array([b"<p>\xe4"], kind), b"<p>\xe4") for kind in (pa.binary(), pa.large_binary(), pa.binary(4))),
        (pa.array([b"<p>\xe4"]).view(pa.string()), b"<p>\xe4"),
    ],
)
def test_html_in_columns_of_any_type(path: Path, column: Any, expected: str | bytes) -> None:
    assert found(path, html=column, ignored=[[1]]) == [Page("u", html=expected)]


@pytest.mark.parametrize(
    "column",
    [
        *(pa.array([JAN_2], pa.timestamp(unit, "UTC")) for unit in ("s", "ms", "us", "ns")),
        pa.array([JAN_2.replace(tzinfo=None)], pa.timestamp("us")),
        pa.array([JAN_2.astimezone(timezone(timedelta(hours=-5)))], pa.timestamp("ms", "America/New_York")),
        *(pa.array([date]) for date in ("2024-01-02T03:04:05Z", "20240102030405", 1704164645)),
    ],
)
def test_dates(path: Path, column: Any) -> None:
    assert found(path, text=["x"], crawled_at=column) == [Page("u", text="x", fetched_at=JAN_2)]


def test_other_dates(path: Path) -> None:
    finest = pa.array([1_704_164_645_000_000_999], pa.timestamp("ns"))
    for column, expected in ((finest, JAN_2), ([date(2024, 1, 2)], datetime(2024, 1, 2, tzinfo=UTC))):
        assert found(path, text=["x"], date=column) == [Page("u", text="x", fetched_at=expected)]
    far = pa.array([2**60], pa.timestamp("ms"))
    assert found(path, text=["x"], date=far) == [Failed(Page("u", html=b""), "date cannot be read")]


def test_all_fields(path: Path) -> None:
    bodies = {"body": [b"\xff<p>"], "html_base64": ["/zxwPg=="]}
    written(path, {"link": ["u"], "title": ["T"], "content_type": ["text/html"], "codings": [["gzip"]], **bodies})
    assert items(path) == [Page("u", html=b"\xff<p>", title="T", content_type="text/html", codings=("gzip",))]


def test_rows_that_do_not_describe_a_page_fail(path: Path) -> None:
    text = pa.array([b"x", None, b"x", b"\xff", b"x" * 11, b"x"]).view(pa.string())
    written(path, {"url": [None, "b", " ", "d", "e", "f"], "text": text})
    assert items(path, cap=10) == [
        Page(f"{path.as_uri()}#row=0", text="x"),
        Failed(Page("b", html=b""), "neither html nor text"),
        Page(f"{path.as_uri()}#row=2", text="x"),
        Failed(Page("d", html=b""), "text is not UTF-8"),
        Failed(Page("e", html=b""), "larger than 1e-05 MB"),
        Page("f", text="x"),
    ]


@given(st.data())
def test_items_do_not_depend_on_the_splits(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 60))
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    columns = {"url": [f"u{row}" for row in range(rows)], "text": ["x" * (row % 7 * 3) for row in range(rows)]}
    written(path, columns, row_group_size=data.draw(st.integers(1, 70)))
    whole = list(read(Split("parquet", str(path), 0, rows), 10))
    assert [offset for offset, _ in whole] == list(range(rows + 1))
    made = list(splits(str(path), data.draw(st.integers(1, 2_000))))
    assert [split.start for split in made] == [0, *(split.end for split in made[:-1])]
    assert made[-1].end == rows
    assert 0 < sum(split.size for split in made) <= path.stat().st_size
    cuts = sorted({0, *data.draw(st.lists(st.integers(0, rows), max_size=4)), rows})
    by_rows = [replace(made[0], start=start, end=end) for start, end in pairwise(cuts)]
    for pieces in (made, by_rows):
        found = [list(read(piece, 10)) for piece in pieces]
        assert [part[-1] for part in found] == [(piece.end, None) for piece in pieces]
        assert [item for part in found for item in part[:-1]] == whole[:-1]


def test_large_row_groups_are_not_held_in_memory(path: Path) -> None:
    page, rows = os.urandom(50_000).hex(), 1_000
    columns = {"url": [f"u{row}" for row in range(rows)], "text": [f"{row}{page}" for row in range(rows)]}
    written(path, columns, compression="none", use_dictionary=False)  # 100 MB in one row group
    del columns
    (split,) = splits(str(path), 1)
    before = pa.total_allocated_bytes()
    most = 0
    for number, (_, item) in enumerate(read(split, CAP + 10)):
        most = max(most, pa.total_allocated_bytes() - before)
        assert item == (Page(f"u{number}", text=f"{number}{page}") if number < rows else None)
    assert 1_000_000 < most < 40_000_000


def test_damage_loses_one_row_group(path: Path) -> None:
    """There are five row groups of 100 rows, with a hole in the third."""
    columns = {"url": [f"u{row}" for row in range(500)], "text": [os.urandom(200).hex() for _ in range(500)]}
    written(path, columns, row_group_size=100, write_page_checksum=True, use_dictionary=False)
    content = bytearray(path.read_bytes())
    middle = pq.ParquetFile(path).metadata.row_group(2).column(1).data_page_offset + 2_000
    content[middle : middle + 100] = bytes(100)
    path.write_bytes(content)
    found = items(path)
    assert found == items(path)
    (damage,) = [item for item in found if isinstance(item, Damage)]
    assert damage.reason == "damaged Parquet"
    assert 1_000 < damage.skipped < path.stat().st_size
    assert urls(found) == [f"u{row}" for row in range(500) if not 200 <= row < 300]


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1 and then something else", b"PAR1" + bytes(100) + b"PAR1"])
def test_a_file_that_is_not_parquet_is_damage(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=r"^Parquet that cannot be read: it.*(its end is missing|damaged)"):
        list(splits(str(path), 100))
    assert list(read(Split("parquet", str(path), 0, 7, 100), CAP)) == [(0, Damage(100, "damaged Parquet")), (7, None)]


def test_a_file_that_was_deleted_fails(path: Path) -> None:
    gone = Failed(Page(path.as_uri(), html=b""), "cannot be read: No such file or directory")
    assert list(read(Split("parquet", str(path), 3, 9), CAP)) == [(3, gone), (9, None)]
    with pytest.raises(FileNotFoundError):
        list(splits(str(path), 100))


def test_missing_columns_are_reported(path: Path) -> None:
    written(path, {"id": ["u"], "story": ["x"]})
    with pytest.raises(SourceError, match=r"no field with a text: its fields are id, story; .* --text-field"):
        Sources([str(path)])
    with pytest.raises(SourceError, match=r"it needs a column url or id, and one html or text, but its columns are a"):
        check_columns(["a"], str(path))


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    path = written(tmp_path / "a", {"url": ["u"], "text": ["x"]}).rename(tmp_path / os.fsdecode(b"caf\xe9.parquet"))
    (split,) = splits(str(path), 100)
    assert [item for _, item in read(split, CAP)] == [Page("u", text="x"), None]


def test_a_file_without_rows(path: Path) -> None:
    written(path, {"url": pa.array([], pa.string()), "text": pa.array([], pa.string())})
    assert list(splits(str(path), 100)) == []
