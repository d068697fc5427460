"""Reads record files and gives revisits without a text the text of the page that they repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from opensearch_winnow.foundation.written_time import time_at
from opensearch_winnow.mappings.record import RECORD_FIELDS
from opensearch_winnow.mappings.repeated_pages import RepeatableCapture, RepeatedPages, known_payload
from opensearch_winnow.record_files.reader import batches, latest_rows

FILLED_COLUMNS = frozenset(each.name for each in RECORD_FIELDS if each.of_text)
DECIDING_COLUMNS = (
    *("id", "url", "fetched_at", "payload_digest", "text_digest", "title", "canonical"),
    *("duplicate", "duplicate_of"),
)
FileRow = tuple[int, int]  # the number of a file, and a row in it
NOWHERE = -1, -1


@dataclass(frozen=True, slots=True)
class FilledRevisits:
    """Record files with the rows of revisits without a text, and the rows of the pages that they repeat."""

    files: Sequence[Path]
    originals: Mapping[FileRow, FileRow]

    @classmethod
    def of(cls, files: Sequence[Path]) -> Self:
        """Find the revisits in `files`, and the pages that they repeat. Reads one small column if there are none."""
        if not any(pc.any(pc.equal(batch.column(0), "revisit")).as_py() for _, batch in _rows(files, ["duplicate"])):
            return cls(files, {})
        latest = latest_rows(files) if len(files) > 1 else [None]
        waiting: dict[str, RepeatableCapture] = {}
        for _, capture in _captures(files, latest):
            if capture.repeats is not None and not capture.has_text:
                waiting[capture.id] = capture
        keys = {key for each in waiting.values() for key in (each.payload, each.repeats) if key}
        row_of: dict[str, FileRow] = {}
        concerned: list[RepeatableCapture] = []
        for row, capture in _captures(files, latest):
            if capture.id in waiting or capture.payload in keys or capture.url in keys:
                row_of[capture.id] = row
                concerned.append(capture)
        found = RepeatedPages(concerned).originals((), waiting.values())
        return cls(files, {row_of[revisit]: row_of[original] for revisit, original in found.items()})

    def batches(
        self, keep: Sequence[pa.BooleanArray | None], columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all files in batches, as `reader.batches` does for each, with texts for revisits."""
        texts = self._texts(columns) if self.originals else {}
        for number, (file, rows) in enumerate(zip(self.files, keep, strict=True)):
            if not texts:
                yield from batches(file, rows, columns)
                continue
            chosen = count() if rows is None else iter(pc.indices_nonzero(rows).to_pylist())
            for batch in batches(file, rows, columns):
                file_rows = [(number, next(chosen)) for _ in range(len(batch))]
                yield _filled(batch, [texts.get(self.originals.get(row, NOWHERE)) for row in file_rows])

    def _texts(self, columns: Sequence[str] | None) -> dict[FileRow, pa.RecordBatch]:
        """Return the columns to fill in, as a batch of one row for each page that revisits repeat."""
        wanted = None if columns is None else [name for name in columns if name in FILLED_COLUMNS]
        if wanted == []:
            return {}
        rows: dict[int, set[int]] = {}
        for number, row in self.originals.values():
            rows.setdefault(number, set()).add(row)
        found: dict[FileRow, pa.RecordBatch] = {}
        for number, chosen in rows.items():
            for (_, first), batch in _rows([self.files[number]], wanted):
                picked = sorted(chosen.intersection(range(first, first + len(batch))))
                # Taken, not sliced: a slice keeps the whole batch in memory.
                taken = batch.take(pa.array([row - first for row in picked], pa.int64()))
                found |= {(number, row): taken.slice(i, 1) for i, row in enumerate(picked)}
        return found


def _rows(files: Sequence[Path], columns: Sequence[str] | None) -> Iterator[tuple[FileRow, pa.RecordBatch]]:
    """Yield all rows in batches, each with its first row."""
    for number, file in enumerate(files):
        row = 0
        for batch in batches(file, None, columns):
            yield (number, row), batch
            row += len(batch)


def _captures(
    files: Sequence[Path], latest: Sequence[pa.BooleanArray | None]
) -> Iterator[tuple[FileRow, RepeatableCapture]]:
    """Yield the captures of all files with their rows, except rows that a later row replaces."""
    for (number, first), batch in _rows(files, DECIDING_COLUMNS):
        times = batch.column("fetched_at").cast(pa.int64()).to_pylist()
        columns = [batch.column(name).to_pylist() for name in DECIDING_COLUMNS if name != "fetched_at"]
        counts = latest[number]
        for row, (time, id_, url, payload, text, title, canonical, duplicate, duplicate_of) in enumerate(
            zip(times, *columns, strict=True), first
        ):
            if counts is None or counts[row].as_py():
                at = None if time is None else time_at(time)
                repeats = (duplicate_of or url) if duplicate == "revisit" else None
                yield (
                    (number, row),
                    RepeatableCapture(id_, url, at, known_payload(payload), (text, title, canonical), repeats),
                )


def _filled(batch: pa.RecordBatch, texts: Sequence[pa.RecordBatch | None]) -> pa.RecordBatch:
    """Return a batch with columns replaced by those of `texts`, in the rows for which it has a batch."""
    given = [each for each in texts if each is not None]
    if not given:
        return batch
    order, index = [], len(batch)
    for row, each in enumerate(texts):
        order.append(row if each is None else index)
        index += each is not None
    columns = [
        column
        if name not in FILLED_COLUMNS
        else pa.concat_arrays([column, *(each.column(name) for each in given)]).take(pa.array(order))
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
