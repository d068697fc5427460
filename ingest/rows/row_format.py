"""The protocol of a format of rows: it reads them, and writes them again."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.ingest.rows import Edit
from opensearch_winnow.ingest.sources import SourceError, printable
from opensearch_winnow.ingest.sources.field_names import BASE64, USUAL, FieldNames
from opensearch_winnow.ingest.sources.split import Failed, Skipped, SourceFile

NextEdit = Callable[[], Edit | None]
"""Decides on the next row: what becomes of it, or None if it is dropped. Called once for each row, in order."""


@dataclass(frozen=True, slots=True)
class RowChoice:
    """The fields to read of each row."""

    fields: FieldNames = USUAL
    value_field: str | None = None
    max_size: int = MAX_PAGE_BYTES


class ReadRow(NamedTuple):
    """A row as a format reads it. A file that is not read is `Skipped`, and no row."""

    item: Page | Failed | Skipped
    location: str = ""  # in its file: "line 7"
    value: object = None


class RowWriter(Protocol):
    """Writes rows of one format to one file."""

    rows: int  # written so far

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        """Read `file` again, and write its rows as `next_edit` decides."""

    def close(self) -> None:
        """Complete the file."""

    def abort(self) -> None:
        """Close the unfinished file, whatever happened."""


class RowFormat(Protocol):
    """A module that reads and writes rows."""

    def read(self, file: SourceFile, choice: RowChoice) -> Iterator[ReadRow]: ...

    def writer(
        self, path: Path, target: Path, packing: str, choice: RowChoice, columns: Mapping[str, type]
    ) -> RowWriter:
        """Open a writer to `path`, which will be renamed to `target`. `packing` is .gz, .zst or nothing."""


def as_written(name: str, text: str) -> str:
    """Return `text` as the field `name` has it."""
    return b64encode(text.encode()).decode() if name == BASE64 else text


@contextmanager
def reading(file: SourceFile) -> Iterator[None]:
    """Raise a SourceError instead of an OSError about reading `file`."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{printable(file.path)} cannot be read again: {error.strerror}") from None


def other_columns(file: SourceFile, first: SourceFile) -> SourceError:
    """Return the error that two files cannot be written to one."""
    return SourceError(
        f"{printable(file.path)} has other columns than {printable(first.path)}: write each to a file of its own, in a "
        "folder whose name ends in /"
    )
