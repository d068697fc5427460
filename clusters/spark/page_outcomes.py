"""Reads pages in a Spark task and returns the outcome of each as a row: indexed, skipped, failed or damaged."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyarrow.fs import FileSystem

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.ingest.sources.parquet import ParquetRow
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Skipped, Split
from opensearch_winnow.ingest.sources.splits import splits
from opensearch_winnow.mappings.record import Record, bytes_in_memory, storable
from opensearch_winnow.mappings.record_columns import SCHEMA, TIME, as_columns

BATCH_BYTES = 8_000_000  # of records
MAX_ROWS_PER_BATCH = 1_000
ITEM_BITS = 40  # lower bits of a position: the item in its task; upper bits: the number of the task
REMOTE = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)
COPY_BUFFER_BYTES = 1 << 20
# The columns that pages are read from. HTML as bytes is decoded as a browser would do it.
FAILED_PAGE = pa.struct(
    [
        ("url", pa.string()),
        ("html", pa.binary()),
        ("raw_html", pa.string()),
        ("text", pa.string()),
        ("fetched_at", TIME),
        ("title", pa.string()),
        ("content_type", pa.string()),
        ("codings", pa.list_(pa.string())),
    ]
)
OUTCOMES = pa.schema(
    [
        ("position", pa.int64()),  # grows with the order of pages
        ("outcome", pa.string()),  # indexed, skipped or failed; damaged for a part of a source without a page
        ("reason", pa.string()),
        ("source", pa.string()),
        ("offset", pa.int64()),
        ("skipped", pa.int64()),  # bytes
        ("record", pa.struct(list(SCHEMA))),
        ("page", FAILED_PAGE),
    ]
)


def is_remote(name: str) -> bool:
    return REMOTE.match(name) is not None


def outcomes_of_sources(
    tasks: Iterable[pa.RecordBatch], splits: list[Split | str], base: str, recipe: Recipe
) -> Iterator[pa.RecordBatch]:
    """Read the splits or remote files whose numbers in `splits` come as `tasks`."""
    maker = RecordMaker(recipe)
    for batch in tasks:
        for number in batch.column(0).to_pylist():
            split = splits[number]
            name = split.path if isinstance(split, Split) else split
            items = _items(split, recipe) if isinstance(split, Split) else _remote_items(split, base, recipe)
            positions = enumerate(items, number << ITEM_BITS)
            yield from _rows(((position, *item) for position, item in positions), name, maker)


def outcomes_of_table(batches: Iterable[pa.RecordBatch], source: str, recipe: Recipe) -> Iterator[pa.RecordBatch]:
    """Read the rows of a table as pages. Its column `position` is not a part of the page."""
    maker, choice = RecordMaker(recipe), RowChoice(recipe.max_page_size)
    for batch in batches:
        pages = batch.drop_columns(["position"])
        positions = enumerate(batch["position"].to_pylist())
        rows = ((at, row, ParquetRow(pages, row, at)) for row, at in positions)
        items = ((at, i, row.item(f"{source}#{at}", choice, needs_id=True)) for at, i, row in rows)
        yield from _rows(items, source, maker)


def _items(split: Split, recipe: Recipe) -> Iterator[tuple[int, Item]]:
    offset = split.start
    try:
        for offset, item in read(split, recipe.max_page_size):
            if item is not None:
                yield offset, item
    except Exception as error:  # an unreadable source must not end the run
        rest = split.size - split.bytes_before(offset)
        yield offset, Damage(rest, f"{type(error).__name__}: {error}", offset)


def _remote_items(uri: str, base: str, recipe: Recipe) -> Iterator[tuple[int, Item]]:
    with TemporaryDirectory(prefix="winnow-") as folder:
        copy = copy_to_folder(uri, Path(folder))
        with Sources([str(copy)], base=base or uri.rpartition("/")[0]) as sources:
            for split in splits(sources, copy.stat().st_size + 1):
                yield from _items(split, recipe)


def copy_to_folder(uri: str, folder: Path) -> Path:
    """Copy a remote file to `folder` under its own name. Archives need random access, which streams do not have."""
    system, path = FileSystem.from_uri(re.sub("^s3[an]:", "s3:", uri))
    copy = folder / Path(path).name
    with system.open_input_stream(path) as source, copy.open("wb") as file:
        shutil.copyfileobj(source, file, COPY_BUFFER_BYTES)
    return copy


def _rows(items: Iterable[tuple[int, int, Item]], source: str, maker: RecordMaker) -> Iterator[pa.RecordBatch]:
    """Return the outcomes of `items`, which come with their position among all pages and their offset in the source."""
    records: list[tuple[int, Record]] = []
    size = 0
    for position, offset, item in items:
        result = _make_record(item, maker) if isinstance(item, Page) else item
        if isinstance(result, Record):
            records.append((position, result))
            size += bytes_in_memory(result)
            if size >= BATCH_BYTES or len(records) >= MAX_ROWS_PER_BATCH:
                yield _indexed_rows(records, source)
                records, size = [], 0
        else:
            yield _other_row(position, result, source, offset)
    if records:
        yield _indexed_rows(records, source)


def _make_record(page: Page, maker: RecordMaker) -> Record | Skipped | Failed:
    try:
        return maker.make(page)
    except Exception as error:  # a page that fails must not end the run
        return Failed(page, f"{type(error).__name__}: {error}")


def _indexed_rows(records: list[tuple[int, Record]], source: str) -> pa.RecordBatch:
    count = len(records)
    columns = as_columns([record for _, record in records])
    made = {
        "position": pa.array([position for position, _ in records], pa.int64()),
        "outcome": pa.array(["indexed"] * count),
        "source": pa.array([source] * count),
        "record": pa.StructArray.from_arrays(columns.columns, fields=list(SCHEMA)),
    }
    return pa.record_batch([made.get(field.name, pa.nulls(count, field.type)) for field in OUTCOMES], schema=OUTCOMES)


def _other_row(position: int, item: Skipped | Failed | Damage, source: str, offset: int) -> pa.RecordBatch:
    row: dict[str, object] = {"position": position, "reason": item.reason, "source": source, "offset": offset}
    if isinstance(item, Failed):
        row |= {"outcome": "failed", "page": _failed_page(item.page)}
    elif isinstance(item, Damage):
        row |= {"outcome": "damaged", "skipped": item.skipped}
    else:
        row["outcome"] = "skipped"
    return pa.RecordBatch.from_pylist([row], OUTCOMES)


def _failed_page(page: Page) -> dict[str, object]:
    fields = {
        "url": page.url,
        "html" if isinstance(page.html, bytes) else "raw_html": page.html,
        "text": page.text,
        "fetched_at": page.fetched_at,
        "title": page.title,
        "content_type": page.content_type,
        "codings": list(page.codings),
    }
    return {name: storable(value) if isinstance(value, str) else value for name, value in fields.items()}
