from __future__ import annotations

import io
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from pyarrow import parquet as pq

from opensearch_winnow.ingest.sources.parquet_footer import MAX_FOOTER_BYTES, FooterError, read_footer

COLUMNS = {
    "url": [f"u{row}" for row in range(40)],
    "headers": [{"a": {"b": [1, 2]}, "c": "x"}] * 40,
    "codings": [["gzip"]] * 40,
    "text": ["x" * 30] * 40,
    "größe": [1.5] * 40,
    "flag": [True] * 40,
    "pairs": pa.array([[("k", 1)]] * 40, pa.map_(pa.string(), pa.int64())),
}


def written(names: list[str], **options: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({name: COLUMNS[name] for name in names}), file, **options)
    return file.getvalue()


@given(
    names=st.lists(st.sampled_from(sorted(COLUMNS)), unique=True, min_size=1),
    group=st.integers(1, 50),
    codec=st.sampled_from(["none", "snappy", "zstd"]),
    checksum=st.booleans(),
)
def test_footers_are_read_as_arrow_reads_them(names: list[str], group: int, codec: str, checksum: bool) -> None:
    content = written(names, row_group_size=group, compression=codec, write_page_checksum=checksum)
    footer, arrow = read_footer(io.BytesIO(content)), pq.ParquetFile(io.BytesIO(content))
    assert footer.names == arrow.schema_arrow.names
    groups = [arrow.metadata.row_group(place) for place in range(arrow.metadata.num_row_groups)]
    sizes = [sum(each.column(place).total_compressed_size for place in range(each.num_columns)) for each in groups]
    assert footer.groups == [(each.num_rows, size) for each, size in zip(groups, sizes, strict=True)]


def test_damaged_footers_raise_no_other_error() -> None:
    content = written([*COLUMNS], row_group_size=20)
    length = int.from_bytes(content[-8:-4], "little")
    source = Random(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(source.choice([1, 2, 8])):
            damaged[source.randrange(len(content) - length - 8, len(content))] = source.randrange(256)
        try:
            read_footer(io.BytesIO(damaged))
        except FooterError:
            refused += 1
    assert 50 < refused < 300


def footer(content: bytes, length: int | None = None) -> io.BytesIO:
    length = len(content) if length is None else length
    return io.BytesIO(b"PAR1" + content + length.to_bytes(4, "little") + b"PAR1")


SCHEMA_LIST = b"\x29\xfc"  # field 2 is a list of structs; its length follows
NESTED = b"\x1c" * 10_000  # field 1 is a struct


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        (footer(SCHEMA_LIST + b"\xc0\x9a\x0c" + b"\0" * 200_000), "199,999 columns, and at most 10,000"),
        (footer(SCHEMA_LIST + b"\xff" * 4 + b"\x07"), "footer is damaged"),  # 2³¹ - 1 columns in no bytes
        (footer(b"\x16" + b"\x80" * 100_000), "footer is damaged"),  # a number without end
        (footer(NESTED), "footer is damaged"),
        (footer(b""), "footer is damaged"),
        (footer(b"", 1_000), "no footer"),
        (io.BytesIO(b"PAR1"), "no footer"),
        (io.BytesIO(b"PAR1" + bytes(8) + b"PARE"), "encrypted"),
        (footer(bytes(MAX_FOOTER_BYTES + 1)), "33,554,433 bytes, and at most 33,554,432"),
    ],
)
def test_hostile_footers(file: io.BytesIO, complaint: str) -> None:
    with pytest.raises(FooterError, match=complaint):
        read_footer(file)
