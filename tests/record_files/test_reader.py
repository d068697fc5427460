"""Reading record files, with this package and with other software."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings import record_metadata
from opensearch_winnow.mappings.record import Record, RecordsError, make_record
from opensearch_winnow.mappings.record_columns import SCHEMA, SOURCE
from opensearch_winnow.record_files import atomic_parquet, reader
from opensearch_winnow.record_files.reader import latest_rows, read_columns, scheme_of
from opensearch_winnow.record_files.records import read_records
from tests.record_files.test_record_writer import write

Make = Callable[..., Record]


@pytest.mark.check
@given(data=st.data())
def test_reading_returns_what_was_written(data: st.DataObject, records: st.SearchStrategy[Record]) -> None:
    several = data.draw(st.lists(records, max_size=8, unique_by=lambda record: record.id))
    with TemporaryDirectory() as folder:
        write(Path(folder, "records.parquet"), *several)
        assert list(read_records(Path(folder, "records.parquet"))) == several


def test_other_software_reads_signed_hashes_and_times_in_utc(tmp_path: Path, record: Make) -> None:
    prints = {"fingerprints": array("Q", [2**64 - 1, 5, 5]), "positions": array("I", [0, 7, 9])}
    write(tmp_path / "r.parquet", record(1, **prints), record(2, fetched_at=None, title=None))
    table = pq.read_table(tmp_path / "r.parquet")
    first, second = table.to_pylist()
    assert first["fingerprints"] == [-1, 5, 5]
    assert (first["fingerprint_count"], first["positions"]) == (2, [0, 7, 9])
    assert first["fetched_at"] == datetime(2024, 1, 1, 12, 1, tzinfo=UTC)
    assert (second["fetched_at"], second["title"], second["duplicate"]) == (None, None, None)
    assert [each["id"] for each in (first, second)] == [record(1).id, record(2, fetched_at=None).id]
    assert table.schema.field("fetched_at").type == pa.timestamp("us", tz="UTC")
    kinds = {str(field.type.value_type) for field in table.schema if pa.types.is_list(field.type)}
    assert kinds == {"int64", "int32"}


def test_the_metadata_has_the_scheme_but_not_its_key(tmp_path: Path, record: Make) -> None:
    path = tmp_path / "r.parquet"
    secret = Scheme(noise=20, guarantee=40, key="open sesame")
    write(path, record(1), scheme=secret)
    content = json.loads(pq.read_metadata(path).metadata[b"winnow"])
    assert (content["format"], content["scheme_id"], content["keyed"]) == (1, secret.id, True)
    assert content["scheme"]["guarantee"] == 40
    assert content["scheme"]["normalisation"] == secret.normalisation
    assert b"sesame" not in path.read_bytes()
    assert scheme_of(path).id == secret.id
    assert scheme_of(path).scheme("open sesame") == secret
    for key, complaint in ((None, "has a secret key: name the file"), ("open barley", "wrong key for scheme")):
        with pytest.raises(RecordsError, match=complaint):
            scheme_of(path).scheme(key)


def test_the_scheme_is_found_where_spark_can_write_it(tmp_path: Path, record: Make) -> None:
    """Spark writes it as metadata of the first column. Other files of Spark are not record files."""
    write(tmp_path / "r.parquet", record(1))
    table = pq.read_table(tmp_path / "r.parquet")
    said = table.schema.metadata[record_metadata.METADATA].decode()
    spark = tmp_path / "spark.parquet"
    for about in ({}, {"winnow": said}):
        fields = {"fields": [{"name": "id", "metadata": about}, {"name": "url", "metadata": {}}]}
        spark_metadata = {record_metadata.SPARK_METADATA: json.dumps(fields)}
        pq.write_table(table.replace_schema_metadata(spark_metadata), spark)
        if not about:
            with pytest.raises(RecordsError, match="not one of winnow's records"):
                scheme_of(spark)
    assert scheme_of(spark) == scheme_of(tmp_path / "r.parquet")
    assert list(read_records(spark)) == [record(1)]


def test_schemes_without_a_key_are_compared_before_the_first_record(tmp_path: Path, record: Make) -> None:
    path, other = tmp_path / "r.parquet", Scheme.preset("passages")
    write(path, record(1))
    assert scheme_of(path).scheme() == Scheme()
    with pytest.raises(RecordsError, match="has no key"):
        scheme_of(path).scheme("any")
    assert list(read_records(path, Scheme())) == [record(1)]
    with pytest.raises(RecordsError, match=f"r.parquet has records of scheme {Scheme().id}, .* {other.id}"):
        read_records(path, other)
    write(tmp_path / "s.parquet", record(2), scheme=other)
    with pytest.raises(RecordsError, match="parts of two schemes"):
        scheme_of(tmp_path)


def test_columns_can_be_read_without_the_others(tmp_path: Path, record: Make) -> None:
    write(f"{tmp_path}/folder/", *map(record, range(5)))
    expected = [(each.id, each.content_digest) for each in map(record, range(5))]
    assert list(read_columns(tmp_path / "folder", "id", "content_digest")) == expected
    urls = [url for (url,) in read_columns(tmp_path / "folder", "url")]
    assert urls == [record(number).url for number in range(5)]


def test_row_groups_and_batches_are_bounded_in_bytes(tmp_path: Path, record: Make) -> None:
    path = tmp_path / "r.parquet"
    pages = [record(number, text=chr(97 + number) * 10_000_000) for number in range(8)]
    write(path, *pages)
    metadata = pq.read_metadata(path)
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    most = atomic_parquet.ROW_GROUP_BYTES // 10_000_000 + 1
    assert sum(rows) == 8
    assert max(rows) <= most
    assert max(map(len, reader.batches(path))) <= most
    assert [each.text[0] for each in read_records(path)] == list("abcdefgh")


@pytest.mark.check
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(files=st.lists(st.lists(st.integers(0, 12), unique=True), min_size=1, max_size=4), ids=st.integers(1, 9))
def test_the_last_row_of_an_id_counts(
    files: list[list[int]], ids: int, record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result does not depend on how many ids are compared per pass."""
    monkeypatch.setattr(reader, "MAX_IDS_PER_PASS", ids)
    rows = [(place, number) for place, numbers in enumerate(files) for number in numbers]
    last = {number: place for place, number in rows}
    with TemporaryDirectory() as folder:
        paths = [Path(folder, f"{place}.parquet") for place in range(len(files))]
        for path, numbers in zip(paths, files, strict=True):
            write(path, *(record(number, crawl="even" if number % 2 == 0 else "odd") for number in numbers))
        chosen = [flag for flags in latest_rows(paths) for flag in flags.to_pylist()]
        even = [flag for flags in latest_rows(paths, crawl="even", site=None) for flag in flags.to_pylist()]
    assert chosen == [last[number] == place for place, number in rows]
    assert even == [flag and number % 2 == 0 for flag, (_, number) in zip(chosen, rows, strict=True)]


@pytest.fixture(scope="module")
def file_and_records(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Record]]:
    path = tmp_path_factory.mktemp("whole") / "r.parquet"
    digests: dict[str, Any] = dict.fromkeys(("content_digest", "text_digest", "shingle_digest"), "0" * 32)
    values = digests | {"positions": array("I", range(1000)), "shingle_count": 9, "minhash": bytes(512)}
    records = []
    for number in range(20):
        prints = array("Q", range(number, 1000 + number))
        hashes: dict[str, Any] = {"fingerprints": prints, "sketch": prints[:40], "bands": prints[:32]}
        own = {"url": f"https://example.org/{number}", "text": f"page {number} " * 400}
        records.append(make_record(own | values | hashes))
    write(path, *records)
    return path.read_bytes(), records


@pytest.mark.check
@settings(max_examples=300)
@given(place=st.integers(0, 2**40), change=st.integers(0, 255))
def test_damage_is_reported_and_never_read(
    place: int, change: int, file_and_records: tuple[bytes, list[Record]]
) -> None:
    """The file ends early, or one byte is changed."""
    whole, records = file_and_records
    place %= len(whole)
    damaged = whole[:place]
    if change:
        damaged += bytes([whole[place] ^ change]) + whole[place + 1 :]
    with TemporaryDirectory() as folder:
        path = Path(folder, "damaged.parquet")
        path.write_bytes(damaged)
        try:
            read, complaint = list(read_records(path)), ""
        except RecordsError as error:
            read, complaint = [], str(error)
    assert read == records or str(path) in complaint
    assert "\n" not in complaint


def test_other_files_are_refused(tmp_path: Path, record: Make) -> None:
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("not Parquet at all")
    (tmp_path / "empty").mkdir()
    write(tmp_path / "r.parquet", record(1))
    table = pq.read_table(tmp_path / "r.parquet")
    pq.write_table(table.replace_schema_metadata({"winnow": '{"format": 2}'}), tmp_path / "later.parquet")
    pq.write_table(table.drop_columns(["bands"]), tmp_path / "fewer.parquet")
    for name, complaint in {
        "gone.parquet": "there is no record file",
        "other.parquet": "but not one of winnow's records",
        "text.parquet": "cannot be read as a record file",
        "empty": "has no record files",
        "later.parquet": "has format 2",
        "fewer.parquet": "does not have the columns",
        "caf\udce9.parquet": "not UTF-8",
    }.items():
        for read in (read_records, read_columns, scheme_of):
            with pytest.raises((FileError, RecordsError), match=complaint):
                read(tmp_path / name)


def test_the_documentation_lists_every_column(root: Path) -> None:
    page = (root / "docs" / "records.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", page, re.MULTILINE)
    names = {"string": "string", "timestamp[us, tz=UTC]": "timestamp, UTC", "int32": "int32", "binary": "binary"}
    kinds = {"list<element: int64 not null>": "list of int64", "list<element: int32 not null>": "list of int32"}
    assert rows == [(field.name, (names | kinds | {str(SOURCE): "struct"})[str(field.type)]) for field in SCHEMA]


def test_the_examples_in_the_documentation_run(
    root: Path, tmp_path: Path, record: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "crawl.parquet", record(1), record(2, bands=record(1).hashes.bands), record(3))
    monkeypatch.chdir(tmp_path)
    page = (root / "docs" / "records.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/records.md", "exec"), {})
    assert "https://example.org/1 https://example.org/2" in capsys.readouterr().out
