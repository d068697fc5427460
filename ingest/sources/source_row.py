"""Defines the rows that the readers of JSON lines, CSV and Parquet yield, for an index and for data sets alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.ingest.sources.split import Damage, Failed


@dataclass(frozen=True, slots=True)
class RowChoice:
    """The fields to read of each row, and how.

    Rows of a data set are read leniently: fields that are not needed may be anything, a failed row keeps its bytes,
    however many they are, and Arrow must not end the process over a damaged file.
    """

    max_size: int  # of the HTML or text of a row, in bytes
    fields: FieldNames = USUAL
    value_field: str | None = None
    lenient: bool = False


class SourceRow(Protocol):
    """A row as it is in a file."""

    number: int  # from 1: of the line in JSON lines, otherwise of the row

    @property
    def fields(self) -> Mapping[str, object] | None:
        """The values by the names of their fields, once `item` was called."""

    @property
    def fragment(self) -> str:
        """The end of the URL of a page that has none in the row."""

    def item(self, address: str, choice: RowChoice) -> Page | Failed | None:
        """Return the page of the row; None for a blank line. Without an id in the row, it has the id `address`."""


Rows = Iterator[tuple[int, SourceRow | Damage | None]]
"""Yields each row with its offset, then None with the offset where reading stopped, like `Items`. Raises OSError."""
