"""The protocol of a writer of rows, which reads them again from their source."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from opensearch_winnow.ingest.rows import Edit
from opensearch_winnow.ingest.sources import SourceError, printable
from opensearch_winnow.ingest.sources.field_names import BASE64
from opensearch_winnow.ingest.sources.split import SourceFile

NextEdit = Callable[[], Edit | None]
"""Returns the edit of the next row, or None to drop the row. Called once for each row, in order."""


class RowWriter(Protocol):
    """Writes rows of one format to one file."""

    rows: int  # written so far

    def add(self, file: SourceFile, next_edit: NextEdit) -> None:
        """Read `file` again, and write its rows as `next_edit` decides."""

    def close(self) -> None:
        """Complete the file."""

    def abort(self) -> None:
        """Close the unfinished file, also after an error in writing it."""


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
