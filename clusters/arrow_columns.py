"""Converts arrays of numbers to Arrow columns and back without copying, and counts a column in a histogram."""

from __future__ import annotations

from array import array
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from opensearch_winnow.clusters.result import HISTOGRAM_BARS

# Hashes and pairs are unsigned in arrays and signed in columns, as DuckDB and Spark have them.
COLUMN_TYPES = {"B": pa.uint8(), "I": pa.uint32(), "Q": pa.int64(), "d": pa.float64()}


def to_column(numbers: array[int] | array[float], start: int = 0, end: int | None = None) -> pa.Array:
    """Return the numbers from `start` up to `end` as a column."""
    count = (len(numbers) if end is None else end) - start
    return pa.Array.from_buffers(COLUMN_TYPES[numbers.typecode], count, [None, pa.py_buffer(numbers)], offset=start)


def to_numbers(column: pa.Array, typecode: Literal["B", "I", "Q"]) -> memoryview:
    """Return the values of a column, which may be a slice of another and must not have nulls."""
    buffer = column.buffers()[1]
    width = column.type.bit_width // 8
    start = column.offset * width
    view = memoryview(b"" if buffer is None else buffer)[start : start + len(column) * width]
    return view.cast("B").cast(typecode)


def histogram(resemblances: pa.Array) -> list[int]:
    """Count resemblances in HISTOGRAM_BARS bars."""
    bar = pc.floor(pc.multiply(resemblances, float(HISTOGRAM_BARS)))
    bars = [0] * HISTOGRAM_BARS
    for each in pc.value_counts(pc.min_element_wise(bar, float(HISTOGRAM_BARS - 1)).cast(pa.int32())).to_pylist():
        bars[each["values"]] = each["counts"]
    return bars
