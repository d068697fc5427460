from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from pyarrow import parquet as pq

from opensearch_winnow.ingest.sources.parquet_footer import MAX_FOOTER_BYTES, FooterError, read_footer
from tests.hostile_parquet import write_aborting, write_wide

COLUMNS = {
    "url": [f"u{row}" for row in range(40)],
    "headers": [{"a": {"b": [1, 2]}, "c": "x"}] * 40,
    "codings": [["gzip"]] * 40,
    "text": ["x" * 30] * 40,
    "größe": [1.5] * 40,
    "flag": [True] * 40,
    "pairs": pa.array([[("k", 1)]] * 40, pa.map_(pa.string(), pa.int64())),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("footers") / os.fsdecode(b"caf\xe9.parquet")


@given(
    names=st.lists(st.sampled_from(sorted(COLUMNS)), unique=True, min_size=1),
    group=st.integers(1, 50),
    codec=st.sampled_from(["none", "snappy", "zstd"]),
)
def test_a_footer_has_the_columns_and_row_groups_of_its_file(
    path: Path, names: list[str], group: int, codec: str
) -> None:
    with path.open("wb") as file:
        pq.write_table(pa.table({name: COLUMNS[name] for name in names}), file, row_group_size=group, compression=codec)
    found = read_footer(str(path))
    assert found.names == names
    assert [each.rows for each in found.groups] == [group] * (40 // group) + [40 % group] * (40 % group > 0)
    assert 0 < sum(each.compressed for each in found.groups) < path.stat().st_size


@pytest.mark.check
def test_damaged_footers_raise_no_other_error(path: Path) -> None:
    with path.open("wb") as file:
        pq.write_table(pa.table(COLUMNS), file, row_group_size=20)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    source = Random(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(source.choice([1, 2, 8])):
            damaged[source.randrange(len(content) - length - 8, len(content))] = source.randrange(256)
        path.write_bytes(damaged)
        try:
            read_footer(str(path))
        except FooterError:
            refused += 1
    assert 50 < refused < 300


def test_a_footer_that_crashes_arrow_costs_no_other(tmp_path: Path) -> None:
    good = tmp_path / "good.parquet"
    pq.write_table(pa.table({"url": ["u"]}), good)
    bad = write_aborting(tmp_path / "bad.parquet")
    for _ in range(2):
        with pytest.raises(FooterError, match="Arrow crashes over its footer"):
            read_footer(str(bad))
        assert read_footer(str(good)).names == ["url"]


def test_a_file_with_many_columns(tmp_path: Path) -> None:
    with pytest.raises(FooterError, match="it has 10,002 columns, and at most 10,000 are read"):
        read_footer(str(write_wide(tmp_path / "wide.parquet", 10_000)))


def test_nothing_is_left_when_the_process_ends(tmp_path: Path) -> None:
    pq.write_table(pa.table({"url": ["u"]}), tmp_path / "a.parquet")
    script = (
        "import os, sys\nfrom opensearch_winnow.ingest.sources import parquet_footer\n"
        "parquet_footer.read_footer(sys.argv[1])\nprint(parquet_footer.FOOTER_PROGRAM._process.pid)"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(tmp_path / "a.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def footer(content: bytes, length: int | None = None) -> bytes:
    length = len(content) if length is None else length
    return b"PAR1" + content + length.to_bytes(4, "little") + b"PAR1"


SCHEMA_LIST = b"\x29\xfc"  # field 2 is a list of structs; its length follows
NESTED = b"\x1c" * 10_000  # field 1 is a struct


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (footer(SCHEMA_LIST + b"\xff" * 4 + b"\x07"), "footer is damaged"),  # 2³¹ - 1 columns in no bytes
        (footer(b"\x16" + b"\x80" * 100_000), "footer is damaged"),  # a number without end
        (footer(NESTED), "footer is damaged"),
        (footer(b""), "footer is damaged"),
        (footer(b"", 1_000), "no footer"),
        (b"PAR1", "no footer"),
        (b"PAR1" + bytes(8) + b"PARE", "encrypted"),
        (footer(bytes(MAX_FOOTER_BYTES + 1)), "33,554,433 bytes, and at most 33,554,432"),
    ],
    ids=["columns", "number", "nested", "empty", "length", "only a signature", "encrypted", "large"],
)
def test_hostile_footers(path: Path, content: bytes, complaint: str) -> None:
    path.write_bytes(content)
    with pytest.raises(FooterError, match=complaint):
        read_footer(str(path))
