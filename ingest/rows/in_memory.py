"""Takes rows as callers have them in memory: texts, mappings, or a table of Arrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, cast

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.tables import refuse_table
from opensearch_winnow.ingest.sources.page_fields import FieldError


class ArrowTable(Protocol):
    """A table of Arrow, pandas, polars or another library that offers its data by Arrow's interface for streams."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream."""


def in_memory(rows: object, max_size: int) -> Iterable[object]:
    """Return `rows` as they are. Rows of a table become mappings; one that cannot be read becomes a FieldError."""
    if hasattr(rows, "__arrow_c_stream__"):
        return _rows_of_table(rows, max_size)
    refuse_table(rows, 'its rows, for example df.to_dict("records")')
    if isinstance(rows, (str, bytes, Mapping)):
        raise QuestionError(f"rows are a list or another iterable of texts or mappings, not one {type(rows).__name__}")
    return cast("Iterable[object]", rows)


def _rows_of_table(table: Any, max_size: int) -> Iterator[object]:
    with extra("parquet"):
        import pyarrow as pa  # noqa: PLC0415 (an extra)

        from opensearch_winnow.ingest.sources.parquet import read_fields  # noqa: PLC0415

    stream = pa.chunked_array(table)
    if not pa.types.is_struct(stream.type):  # one column: a text in each row
        yield from (value for chunk in stream.chunks for value in chunk.to_pylist())
        return
    for chunk in stream.chunks:
        batch = pa.RecordBatch.from_struct_array(chunk)
        for number in range(batch.num_rows):
            fields: dict[str, object] = {}
            try:
                read_fields(batch, number, max_size, (), fields)
            except FieldError as error:
                yield error
            else:
                yield fields
