"""Converts records to Arrow columns, many at a time, and back, without making a Python object of each number."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa

from opensearch_winnow.foundation.written_time import microseconds, time_at
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.record import READ_FIELDS, RECORD_FIELDS, VALUE_OF, Record, make_record

# Spark has no unsigned integers, so the 64 bits of a hash are stored as a signed number. So are the 32 bits of a
# position, but no text is long enough to make one negative.
HASHES = pa.list_(pa.field("element", pa.int64(), nullable=False))
POSITIONS = pa.list_(pa.field("element", pa.int32(), nullable=False))
TIME = pa.timestamp("us", tz="UTC")

SOURCE = pa.struct(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
        pa.field("record_type", pa.string(), nullable=False),
        pa.field("status", pa.int32()),
        pa.field("mime", pa.string()),
    ]
)
TYPES = {
    "text": pa.string(),
    "count": pa.int32(),
    "time": TIME,
    "hashes": HASHES,
    "positions": POSITIONS,
    "binary": pa.binary(),
    "location": SOURCE,
}
SCHEMA = pa.schema([pa.field(each.name, TYPES[each.kind.arrow], nullable=each.optional) for each in RECORD_FIELDS])


def as_columns(records: Sequence[Record], schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    """Return the records as one batch of columns: all, or those of a smaller `schema`."""
    columns = [_column(list(map(VALUE_OF[field.name], records)), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def can_be_completed(schema: pa.Schema) -> bool:
    """Return whether a file with this `schema` is a record file. Optional columns, which are newer, may be missing."""
    missing = [field for field in SCHEMA if field.name not in schema.names]
    return all(field.nullable for field in missing) and schema.equals(
        pa.schema([field for field in SCHEMA if field not in missing])
    )


def completed(batch: pa.RecordBatch, names: Sequence[str] | None = None) -> pa.RecordBatch:
    """Return a batch with all columns of SCHEMA, or those in `names`. Missing optional columns become null."""
    wanted = SCHEMA.names if names is None else names
    if set(wanted) <= set(batch.schema.names):
        return batch
    known = {name: batch.column(name) for name in batch.schema.names}
    fields = [SCHEMA.field(name) for name in wanted]
    columns = [known.get(field.name, pa.nulls(len(batch), field.type)) for field in fields]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def as_records(batch: pa.RecordBatch) -> Iterator[Record]:
    """Yield the records of a batch with the columns of SCHEMA."""
    names = [each.name for each in READ_FIELDS]
    for values in zip(*(_values(batch.column(name)) for name in names), strict=True):
        yield make_record(dict(zip(names, values, strict=True)))


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if kind in (HASHES, POSITIONS):
        ends = array("i", accumulate(map(len, values), initial=0))
        numbers = pa.Array.from_buffers(kind.value_type, ends[-1], [None, pa.py_buffer(b"".join(values))])
        offsets = pa.Array.from_buffers(pa.int32(), len(ends), [None, pa.py_buffer(ends)])
        return pa.ListArray.from_arrays(offsets, numbers, type=kind)
    if kind == TIME:
        return pa.array([None if time is None else microseconds(time) for time in values], pa.int64()).cast(kind)
    if kind == SOURCE:
        return pa.array([None if source is None else source._asdict() for source in values], kind)
    return pa.array(values, kind)


def _values(column: pa.Array) -> list[Any]:
    if column.type == TIME:
        times = column.cast(pa.int64()).to_pylist()
        return [None if time is None else time_at(time) for time in times]
    if column.type == SOURCE:
        return [ArchiveLocation.of(source) for source in column.to_pylist()]
    if column.type not in (HASHES, POSITIONS):
        values: list[Any] = column.to_pylist()
        return values
    typecode = "Q" if column.type == HASHES else "I"
    ends = _bytes(column.offsets).cast("i")
    joined = array(typecode, bytes(_bytes(column.flatten())))
    return [joined[start - ends[0] : end - ends[0]] for start, end in pairwise(ends)]


def _bytes(numbers: pa.Array) -> memoryview:
    """Return the bytes of an array of numbers, which may be a slice of another."""
    buffer = numbers.buffers()[1]
    if buffer is None or not len(numbers):
        return memoryview(b"")
    width = numbers.type.bit_width // 8
    return memoryview(buffer)[numbers.offset * width : (numbers.offset + len(numbers)) * width]
