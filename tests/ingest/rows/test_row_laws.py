"""What holds for any rows in any format: what is read is written, and what is kept is what was read."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings, strategies as st
from pyarrow import parquet as pq

from opensearch_winnow.ingest.rows import Edit, FailedRow, Row
from opensearch_winnow.ingest.rows.row_files import RowFiles

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read(),
}

texts = st.text(st.characters(codec="utf-8"), max_size=12)
FIELDS = {
    "id": st.one_of(st.integers(), texts, st.none()),
    "text": st.one_of(texts, st.none()),
    "cluster": st.integers(0, 9),
    "nested": st.dictionaries(texts, st.lists(st.floats(allow_nan=False))),
}
rows = st.lists(st.fixed_dictionaries({}, optional=FIELDS), min_size=1, max_size=8)


@st.composite
def json_lines(draw: st.DrawFn) -> bytes:
    lines = []
    for row in draw(rows):
        written = json.dumps(row, ensure_ascii=draw(st.booleans()), separators=draw(SEPARATORS))
        broken = draw(st.sampled_from([b"", b"", b"", b"\xff", b"}", b"  "]))
        lines.append(written.encode() + broken + draw(st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \n"])))
    lines.append(draw(st.sampled_from([b"", b'{"text": "last", "id": "z"}', b"\n", b"[1]"])))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + b"".join(lines)


SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")])


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    file = io.StringIO()
    names = draw(st.sampled_from([["id", "text"], ["text", "x", "id"], ["id", "cluster", "text"]]))
    delimiter, end = draw(st.sampled_from([",", ";", "\t", "|"])), draw(st.sampled_from(["\n", "\r\n"]))
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    for values in draw(st.lists(st.lists(texts, min_size=1, max_size=4), max_size=8)):
        writer.writerow(values)
        file.write(draw(st.sampled_from(["", "", end])))
    text = file.getvalue()
    text = text.removesuffix(end) if draw(st.booleans()) else text
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return text.encode(encoding) + (draw(st.sampled_from([b"", end.encode() + b"\xff,x"])) if "8" in encoding else b"")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


def read(files: RowFiles) -> list[Row | FailedRow]:
    found = list(files.rows())
    assert [row.number for row in found] == list(range(len(found)))
    assert files.count == len(found)
    return found


def content(row: Row | FailedRow) -> tuple[object, ...]:
    return (row.page.text, row.page.html) if isinstance(row, Row) else (row.reason,)


def check_laws(source: Path, target: Path, kept: Callable[[int], bool], same: Callable[[Path, Path], bool]) -> None:
    with RowFiles([str(source)]) as files:
        found = read(files)
        assert read(files) == found
        assert files.write(target, lambda number: Edit(), overwrite=True) == len(found)  # noqa: ARG005
        assert same(source, target)
        some = [row for row in found if kept(row.number)]
        decided: list[int] = []

        def decide(number: int) -> Edit | None:
            decided.append(number)
            return Edit() if kept(number) else None

        assert files.write(target, decide, overwrite=True) == len(some)
        assert decided == list(range(len(found)))
        with RowFiles([str(target)]) as again:
            assert [content(row) for row in again.rows()] == [content(row) for row in some]


def check_edits(source: Path, target: Path) -> None:
    with RowFiles([str(source)]) as files:
        found = read(files)
        columns = {"cluster": int, "keep": bool, "of": str}
        edit = lambda number: Edit(f'new "{number}",\r\n;', {"cluster": number, "keep": True})  # noqa: E731
        assert files.write(target, edit, columns, overwrite=True) == len(found)
    with RowFiles([str(target)], value_field="cluster") as files:
        for before, after in zip(found, files.rows(), strict=True):
            if isinstance(before, FailedRow):
                continue
            assert isinstance(after, Row)
            assert after.page.text == f'new "{before.number}",\r\n;'
            assert (int(str(after.value)), after.page.title) == (before.number, before.page.title)
            assert after.page.url == before.page.url or "#" in before.page.url


def check_packed(source: Path, packing: str, data: bytes, kept: Callable[[int], bool]) -> None:
    source.write_bytes(PACK[packing](data))
    target = source.with_name(f"new-{source.name}")
    check_laws(source, target, kept, lambda *both: len({UNPACK[packing](file.read_bytes()) for file in both}) == 1)
    check_edits(source, target)


@pytest.mark.check
@settings(max_examples=25)  # each writes and syncs several files
@given(json_lines(), st.sampled_from(list(PACK)), st.integers(0, 255))
def test_json_lines(folder: Path, data: bytes, packing: str, kept: int) -> None:
    data = b'{"text": "first"}\n' + data  # shows where the text is
    check_packed(folder / f"a.jsonl{packing}", packing, data, lambda n: n == 0 or bool(kept >> n % 8 & 1))


@settings(max_examples=25)
@given(csv_files(), st.sampled_from(list(PACK)), st.integers(0, 255))
def test_csv(folder: Path, data: bytes, packing: str, kept: int) -> None:
    check_packed(folder / f"a.csv{packing}", packing, data, lambda n: bool(kept >> n % 8 & 1))


COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "id": st.one_of(texts, st.none()),
    "text": st.one_of(texts, st.none()),
    "cluster": st.one_of(st.booleans(), st.none()),
    "nested": st.one_of(st.none(), st.fixed_dictionaries({"a": st.lists(st.integers(0, 9)), "b": texts})),
    "content": st.binary(max_size=5),
}
TYPES = {
    "id": pa.string(),
    "text": pa.large_string(),
    "cluster": pa.bool_(),
    "nested": pa.struct([("a", pa.list_(pa.int32())), ("b", pa.dictionary(pa.int8(), pa.string()))]),
    "content": pa.binary(),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), unique=True).map(lambda names: ["text", *names]))
    count = draw(st.integers(0, 20))
    columns = {
        name: pa.array(draw(st.lists(COLUMNS[name], min_size=count, max_size=count)), TYPES[name])
        for name in dict.fromkeys(names)
    }
    return pa.table(columns).replace_schema_metadata({"made by": "hand"})


@settings(max_examples=25)
@given(tables(), st.integers(0, 255), st.sampled_from(["none", "snappy", "zstd", "gzip"]), st.integers(1, 30))
def test_parquet(folder: Path, table: pa.Table, kept: int, compression: str, group: int) -> None:
    source, target = folder / "a.parquet", folder / "b.parquet"
    pq.write_table(table, source, compression=compression, row_group_size=group)

    def same(a: Path, b: Path) -> bool:
        return bool(pq.read_table(a).equals(pq.read_table(b), check_metadata=True))

    check_laws(source, target, lambda number: bool(kept >> number % 8 & 1), same)
    check_edits(source, target)
