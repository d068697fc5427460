"""Writes Parquet files byte by byte, which no library would write: bombs, and files that lie about their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import zstandard
from pyarrow import parquet as pq

_NUMBER, _STRING, _LIST, _STRUCT = 6, 8, 9, 12  # types of the compact protocol of Thrift
_BYTES, _ZSTD, _RLE = 6, 6, 3  # values of parquet.thrift
_PIECE = 1 << 20

Field = tuple[int, int, bytes]


def write_bomb(path: Path, cell: int, claimed: int | None = None) -> Path:
    """Write a page whose text is `cell` zeros, a ten-thousandth of that on the disk.

    The footer says that the text has `claimed` bytes.
    """
    url, text = _page(b"u", 1), _page(b"\0", cell)
    columns = [("url", 4, url, 5), ("text", 4 + len(url), text, 4 + cell if claimed is None else claimed)]
    chunks = [_chunk(name, offset, len(content), unpacked) for name, offset, content, unpacked in columns]
    return _write(path, [url, text], ["url", "text"], [_row_group(chunks, 1)], 1)


def write_aborting(path: Path) -> Path:
    """Write a file over which Arrow 26 aborts: it says that URLs are booleans, and also how long these strings are."""
    pq.write_table(pa.table({"url": ["u"], "text": ["words"]}), path)
    element = b"\x15\x0c%\x02\x18\x03url"  # of the schema: a string, optional, named url
    content = path.read_bytes()
    assert element in content, "Arrow writes schemas otherwise"
    path.write_bytes(content.replace(element, b"\x15\0" + element[2:]))
    return path


def write_wide(path: Path, columns: int, groups: int = 1) -> Path:
    """Write a file with `columns` columns besides those of a page, in `groups` row groups of one row."""
    content = _page(b"u", 1)
    names = ["url", "text", *(f"c{number}" for number in range(columns))]
    group = _row_group([_chunk(name, 4, len(content), 5) for name in names], 1)
    return _write(path, [content], names, [group] * groups, groups)


def _write(path: Path, pages: Sequence[bytes], names: Sequence[str], groups: Sequence[bytes], rows: int) -> Path:
    root = _struct((4, _STRING, _string("schema")), (5, 5, _number(len(names))))
    leaves = [_struct((1, 5, _number(_BYTES)), (3, 5, _number(0)), (4, _STRING, _string(name))) for name in names]
    footer = _struct(
        (1, 5, _number(1)),
        (2, _LIST, _list(_STRUCT, [root, *leaves])),
        (3, _NUMBER, _number(rows)),
        (4, _LIST, _list(_STRUCT, groups)),
    )
    path.write_bytes(b"".join([b"PAR1", *pages, footer, len(footer).to_bytes(4, "little"), b"PAR1"]))
    return path


def _page(byte: bytes, length: int) -> bytes:
    """Return a data page with one value: `length` times `byte`."""
    packer = zstandard.ZstdCompressor(level=1).compressobj(size=4 + length)
    packed = [packer.compress(length.to_bytes(4, "little"))]
    packed += [packer.compress(byte * min(_PIECE, length - done)) for done in range(0, length, _PIECE)]
    content = b"".join([*packed, packer.flush()])
    encoded = _struct(*((field, 5, _number(value)) for field, value in ((1, 1), (2, 0), (3, _RLE), (4, _RLE))))
    sizes = ((field, 5, _number(value)) for field, value in ((1, 0), (2, 4 + length), (3, len(content))))
    return _struct(*sizes, (5, _STRUCT, encoded)) + content


def _chunk(name: str, offset: int, packed: int, unpacked: int) -> bytes:
    metadata = _struct(
        (1, 5, _number(_BYTES)),
        (2, _LIST, _list(5, [_number(0)])),
        (3, _LIST, _list(_STRING, [_string(name)])),
        (4, 5, _number(_ZSTD)),
        *((field, _NUMBER, _number(value)) for field, value in ((5, 1), (6, unpacked), (7, packed), (9, offset))),
    )
    return _struct((2, _NUMBER, _number(offset)), (3, _STRUCT, metadata))


def _row_group(chunks: Sequence[bytes], rows: int) -> bytes:
    return _struct((1, _LIST, _list(_STRUCT, chunks)), (2, _NUMBER, _number(rows)), (3, _NUMBER, _number(rows)))


# --- the compact protocol ---------------------------------------------------------------------------------------------


def _struct(*fields: Field) -> bytes:
    parts, before = [], 0
    for number, kind, value in fields:
        parts += [bytes([number - before << 4 | kind]), value]
        before = number
    return b"".join([*parts, b"\0"])


def _list(kind: int, values: Sequence[bytes]) -> bytes:
    return b"".join([bytes([0xF0 | kind]), _varint(len(values)), *values])


def _string(text: str) -> bytes:
    return _varint(len(text)) + text.encode()


def _number(value: int) -> bytes:
    return _varint(value << 1)


def _varint(value: int) -> bytes:
    groups = []
    while value >= 128:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
