"""Arrays as Arrow columns and back, without a copy."""

from __future__ import annotations

from array import array
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from opensearch_winnow.clusters.found import BARS

TYPES = {"B": pa.uint8(), "I": pa.uint32(), "Q": pa.int64(), "d": pa.float64()}  # hashes and pairs are read with a sign
POSTING = pa.schema([pa.field("token", pa.int64()), pa.field("page", pa.uint32())])
JUDGED = pa.schema(
    [("pair", pa.int64()), ("resemblance", pa.float64()), ("error", pa.float64()), ("verdict", pa.uint8())]
)
EDGE = pa.schema([("pair", pa.int64()), ("resemblance", pa.float64()), ("error", pa.float64()), ("exact", pa.bool_())])


def column(numbers: array[int] | array[float], start: int = 0, end: int | None = None) -> pa.Array:
    """Of numbers, or of some of them."""
    count = (len(numbers) if end is None else end) - start
    return pa.Array.from_buffers(TYPES[numbers.typecode], count, [None, pa.py_buffer(numbers)], offset=start)


def numbers(column: pa.Array, typecode: Literal["I", "Q"]) -> memoryview:
    """Of a column that may be a part of another, and has no nulls."""
    buffer = column.buffers()[1]
    width = column.type.bit_width // 8
    start = column.offset * width
    view = memoryview(b"" if buffer is None else buffer)[start : start + len(column) * width]
    return view.cast("B").cast(typecode)


def bars(resemblances: pa.Array) -> list[int]:
    """How many of them are in which bar of the histogram."""
    places = pc.min_element_wise(pc.floor(pc.multiply(resemblances, float(BARS))), float(BARS - 1)).cast(pa.int32())
    found = [0] * BARS
    for each in pc.value_counts(places).to_pylist():
        found[each["values"]] = each["counts"]
    return found
