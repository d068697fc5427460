from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.csv_file import CSV_TYPE, columns_of, looks_like
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.ingest.sources.split import Failed, Item
from tests.ingest.sources import archives
from tests.ingest.sources.archives import urls


def items(path: Path, **options: Any) -> list[Item]:
    return archives.items(path, size=100, cap=1_000, **options)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_any_dialect(tmp_path: Path, delimiter: str, encoding: str) -> None:
    rows = [["id", "text", "title"], ["1", '"a ""b""\r\n, ; | \té"', "x"], ["2", "plain", ""]]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    data = ("\ufeff" + text if encoding == "utf-16-le" else text).encode(encoding)
    for packed in data, gzip.compress(data):
        (tmp_path / "a.csv").write_bytes(packed)
        found = items(tmp_path / "a.csv")
        assert found == [Page("1", text='a "b"\r\n, ; | \té', title="x"), Page("2", text="plain", title="")]


def test_the_delimiter_is_the_one_that_finds_the_named_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c,d;story\n1,2,3,4;x, y, z, and more, of it\n")
    assert columns_of(str(tmp_path / "a.csv"), FieldNames(text="story")) == ["a,b,c,d", "story"]
    (tmp_path / "a.tsv").write_text("text\nx, y\n")
    assert items(tmp_path / "a.tsv") == [Page(f"{(tmp_path / 'a.tsv').as_uri()}#row=0", text="x, y")]


def test_rows_that_fail_are_kept_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text\n1,a,b\n\n2\n3,\xe9\n4,x\n5," + b"y" * 1_001 + b"\n")
    assert items(path) == [
        Failed(Page(f"{path.as_uri()}#row=0", html=b"1,a,b\n", content_type=CSV_TYPE), "more values than columns"),
        Failed(Page("2", html=b"2\n", content_type=CSV_TYPE), "neither html nor text"),
        Failed(Page("3", html=b"3,\xe9\n", content_type=CSV_TYPE), "not UTF-8"),
        Page("4", text="x"),
        Failed(Page("5", html=b"", content_type=CSV_TYPE), "larger than 0.001 MB"),
    ]


def test_csv_is_a_source_if_it_has_a_text(tmp_path: Path) -> None:
    contents = {"data.csv": b"year,price\n2020,1\n", "pages.csv": b"id,text\n1,x\n", "stories.csv": b"nr,story\n7,y\n"}
    archives.write_files(tmp_path, contents)
    assert urls(items(tmp_path)) == ["1"]
    assert urls(items(tmp_path, fields=FieldNames(id="nr", text="story"))) == ["7"]
    assert urls(items(tmp_path / "data.csv", every_text=True)) == [(tmp_path / "data.csv").as_uri()]


@pytest.mark.parametrize(
    ("head", "is_csv"),
    [
        (b"id,text\n1,x\n", True),
        (b'\xef\xbb\xbf"url"\t"html"\r\n', True),
        (b"id, text", False),
        (b"SQLite format 3\0\r\x10\0id,text\r\x01\n", False),
        (b"The text has an id, as always.\nMore text.\n", False),
        (b"text\nA line.\n", False),
        (b"", False),
    ],
)
def test_csv_without_a_name_is_recognized_by_its_first_line(head: bytes, is_csv: bool) -> None:
    assert looks_like(head) == is_csv
