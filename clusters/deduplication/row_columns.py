"""Makes the columns that deduplication reads of rows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple
from unicodedata import normalize

import pyarrow as pa

from opensearch_winnow.clusters.arrow_columns import to_column
from opensearch_winnow.clusters.column_file import COLUMNS
from opensearch_winnow.clusters.deduplication.options import DeduplicationOptions
from opensearch_winnow.clusters.page_columns import (
    MAX_CHARS_PER_BATCH,
    MAX_PAGES_PER_BATCH,
    lists_of,
    offsets_of,
    shingle_digests,
    sketch_columns,
    text_sketches,
)
from opensearch_winnow.clusters.result import band_probability
from opensearch_winnow.cython_core.symbols import symbols_hash
from opensearch_winnow.cython_core.text_sketches import TextSketches
from opensearch_winnow.foundation.batches import batches_by_size
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest, digest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.written_time import microseconds
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import UNREADABLE, RecordMaker
from opensearch_winnow.ingest.rows import FailedRow, Row
from opensearch_winnow.mappings.record import storable
from opensearch_winnow.mappings.record_columns import HASHES

MISS_PROBABILITY = 1e-5  # that neither a shared band nor a shared shingle of the sketches proposes a pair
MIN_LONG, MAX_LONG = 128, 4096  # shingles of the shortest long row: bands of short rows are not independent

ROW_COLUMNS = ("id", "url", "title", "fetched_at", "content_digest", "text_digest", "shingle_digest", "shingle_count")
MORE_COLUMNS = {
    "identical": (),
    "exact": (),
    "near": ("text", "sketch", "minhash", "bands"),
    "contained": ("shingles",),
}
ROW_ONLY_FIELDS = [
    pa.field("earlier_set", pa.bool_(), nullable=False),
    pa.field("rank", pa.float64()),
    pa.field("symbols", pa.int64(), nullable=False),  # a hash of the symbols that the canonical text lacks
]
SHINGLES = pa.field("shingles", HASHES, nullable=False)


class RowBatch(NamedTuple):
    """The columns of rows, their numbers, and the rows that could not be read."""

    numbers: list[int]
    columns: pa.RecordBatch
    failed: list[tuple[FailedRow, Page | None]]  # with the page if its HTML could not be read
    wrong_dates: int  # rows with an unreadable or impossible date


def row_schema(options: DeduplicationOptions) -> pa.Schema:
    """Return the schema of the columns that `options.match` needs."""
    names = [name for name in (*ROW_COLUMNS, *MORE_COLUMNS[options.match]) if name != SHINGLES.name]
    shingles = [SHINGLES] if options.match == "contained" else []
    return pa.schema([*(COLUMNS.field(name) for name in names), *ROW_ONLY_FIELDS, *shingles])


def batches_of_rows(rows: Iterable[Row | FailedRow]) -> Iterator[list[Row | FailedRow]]:
    """Divide rows into batches of a bounded size."""
    return batches_by_size(
        rows, lambda row: row.page.size if isinstance(row, Row) else 0, MAX_CHARS_PER_BATCH, MAX_PAGES_PER_BATCH
    )


@dataclass(frozen=True, slots=True)
class RowColumns:
    """Makes the columns of batches of rows."""

    maker: RecordMaker
    options: DeduplicationOptions
    earlier_set: bool = False  # True for the rows that the others are compared with

    def __call__(self, rows: Sequence[Row | FailedRow]) -> RowBatch:
        scheme = self.maker.recipe.scheme
        failed: list[tuple[FailedRow, Page | None]] = []
        read = list(self._read(rows, failed))
        by_words = self.options.match != "identical"
        canons = [canonical(text, scheme, name=row.page.url) for row, text in read] if by_words else []
        # A text without words, such as "!!!", is compared as it is.
        text_digests = [
            canonical_digest(canon) if canon and canon.chars else digest(b"raw", comparable(text).encode())
            for canon, (_, text) in zip_longest(canons, read)
        ]
        has_symbols = by_words and scheme.form != "code"  # which compares operators, and leaves comments out
        symbols = [symbols_hash(normalize("NFC", text)) if has_symbols else 0 for _, text in read]
        times = [None if row.page.fetched_at is None else microseconds(row.page.fetched_at) for row, _ in read]
        rule, schema = self.options.keep_rule, row_schema(self.options)
        columns: dict[str, Any] = {
            "id": [""] * len(read),
            "url": [storable(row.page.url) for row, _ in read],
            "title": [None] * len(read),
            "fetched_at": pa.array(times, pa.int64()).cast(COLUMNS.field("fetched_at").type),
            "content_digest": text_digests,
            "text_digest": text_digests,
            "earlier_set": [self.earlier_set] * len(read),
            "symbols": to_column(array("Q", symbols)),
            "rank": pa.array([rule.rank(row, text) for row, text in read], pa.float64()),
        }
        if self.options.match in ("identical", "exact"):  # without shingles, the digests of the texts decide
            columns |= {"shingle_digest": [""] * len(read), "shingle_count": [0] * len(read)}
        else:
            sketches = text_sketches(canons, scheme)
            columns |= self._columns_of_shingles(sketches, scheme)
            if self.options.match == "near":
                columns["text"] = [storable(text) for _, text in read]
        batch = pa.record_batch({name: columns[name] for name in schema.names}, schema=schema)
        wrong_dates = sum(bool(row.page.wrong_date) for row, _ in read)
        return RowBatch([row.number for row, _ in read], batch, failed, wrong_dates)

    def _read(
        self, rows: Iterable[Row | FailedRow], failed: list[tuple[FailedRow, Page | None]]
    ) -> Iterator[tuple[Row, str]]:
        """Yield the rows with their texts, and add unreadable rows to `failed`."""
        for row in rows:
            if isinstance(row, FailedRow):
                failed.append((row, None))
                continue
            try:
                # HTML without visible text, such as a script, is compared as it is.
                yield row, self.maker.read(row.page).text or _as_written(row.page.html)
            except UNREADABLE as error:
                failed.append((FailedRow(row.number, row.source, row.page.url, str(error)), row.page))

    def _columns_of_shingles(self, sketches: TextSketches, scheme: Scheme) -> dict[str, Any]:
        if self.options.match == "contained":
            return {
                "shingle_digest": shingle_digests(sketches),
                "shingle_count": to_column(sketches.shingle_counts).cast(pa.int32()),
                "shingles": lists_of(sketches.shingles, sketches.shingle_counts),
            }
        return sketch_columns(sketches, scheme) | {"sketch": _tokens(sketches, self.options.min_score, scheme)}


def _as_written(html: str | bytes | None) -> str:
    return html.decode(errors="replace") if isinstance(html, bytes) else html or ""


def comparable(text: str) -> str:
    """Return the form in which identical texts are equal: NFC, with line breaks of one kind."""
    return normalize("NFC", storable(text).replace("\r\n", "\n").replace("\r", "\n"))


def min_long_shingles(threshold: float, scheme: Scheme) -> int:
    """Return n, the number of shingles from which sketches and bands suffice to find the copies of a row.

    Two rows of n shingles and a resemblance of t share 2nt / (1 + t), of which a sketch keeps one in m. So sketch and
    bands both miss the pair with probability (1 - 1 / m) ** (2nt / (1 + t)) * (1 - band_probability).
    """
    missed_by_bands = 1 - band_probability(threshold, scheme)
    if missed_by_bands <= MISS_PROBABILITY or scheme.modulus == 1:
        return MIN_LONG
    shared = math.log(MISS_PROBABILITY / missed_by_bands) / math.log(1 - 1 / scheme.modulus)
    return min(max(math.ceil(shared * (1 + threshold) / (2 * threshold)), MIN_LONG), MAX_LONG)


def _tokens(sketches: TextSketches, threshold: float, scheme: Scheme) -> pa.ListArray:
    """Return the sketch of each text, preceded by the smallest shingles of a short text.

    Of a text with n shingles these are the floor((1 - t)n) + 1 smallest. If two texts have a resemblance of t or more,
    they share one of them. So all pairs of short texts are compared.
    """
    min_long = min_long_shingles(threshold, scheme)
    tokens, counts = array("Q"), []
    shingles, sketch = (pairwise(offsets_of(each)) for each in (sketches.shingle_counts, sketches.sketch_counts))
    for (start, end), (first, last) in zip(shingles, sketch, strict=True):
        before = len(tokens)
        if end - start < min_long:
            needed = int((1 - threshold) * (end - start) + 1e-9) + 1
            tokens.extend(sketches.shingles[start : min(start + needed, end)])
        tokens.extend(sketches.sketch[first:last])
        counts.append(len(tokens) - before)
    return lists_of(tokens, counts)
