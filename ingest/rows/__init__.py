"""Reads the rows of a data set, and writes them again: fewer of them, with other texts, or with more columns.

A row is a JSON line, a row of Parquet or CSV, or a file of a folder. Rows are numbered from 0 in the order of the
sources. A row that cannot be read has a number too: it is a `FailedRow`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import FieldNames

__all__ = ["Edit", "FailedRow", "FieldNames", "Row"]


@dataclass(slots=True)
class Row:
    """A row that was read. `page.url` is its id: any string."""

    number: int  # from 0, over all sources
    source: int  # the number of its source among those named, from 0
    page: Page
    value: object = None  # of the field that the caller names, to rank rows by it


@dataclass(slots=True)
class FailedRow:
    """A row that could not be read."""

    number: int
    source: int
    where: str  # the file, and the line or row in it
    reason: str  # general, by which rows are counted


@dataclass(frozen=True, slots=True)
class Edit:
    """The changes to a row that is written."""

    text: str | None = None  # replaces its text; None leaves the text as it is
    columns: Mapping[str, object] = field(default_factory=dict)  # added to the row
