"""Writes the positions of repeated passages: as a table, or in attribute files that are aligned with the rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING

from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.packed import close_unfinished, open_packed
from opensearch_winnow.ingest.rows import FailedRow, Row
from opensearch_winnow.ingest.rows.output import StagedFolder, check_rows_output, name_packing, sync_file
from opensearch_winnow.ingest.sources.split import SourceFile
from opensearch_winnow.record_files.answer_table import AnswerTable

if TYPE_CHECKING:
    from opensearch_winnow.operations.sets.repeated_passages import RepeatedPassage

ATTRIBUTE = "repeated_passages"

IsSource = Callable[[str], bool]


@answer
class ListedPassage(Answer):
    """A repeated passage, with offsets in code points."""

    row: int = key("The number of its row, from 0, over all sources.")
    id: str = key("The id of the row.")
    start: int = key("The offset of its beginning in the text of the row.")
    end: int = key("The offset of its end.")
    count: int = key("The number of rows that have it.")


def passage_table(target: Path, is_source: IsSource, *, overwrite: bool) -> AnswerTable:
    """Open a table of passages."""
    check_rows_output(target, is_source, overwrite=overwrite)
    return AnswerTable.of(target, ListedPassage, overwrite=overwrite)


def add_passages(table: AnswerTable, row: Row | FailedRow, passages: Sequence[RepeatedPassage]) -> None:
    """Add the passages of a row to a table."""
    for passage in passages:
        assert isinstance(row, Row)
        table.add(row.number, row.page.url, *passage)


class AttributeFiles(AbstractContextManager["AttributeFiles"]):
    """A folder with a file for each file of the sources, of the same name, with a JSON line for each row.

    These are attributes as Dolma's tools read them. Where a source is not JSON lines, `.jsonl` is added to its name.
    """

    def __init__(self, target: Path, is_source: IsSource, *, overwrite: bool) -> None:
        self._folder = StagedFolder(target, is_source, overwrite=overwrite)
        self._file: IO[bytes] | None = None
        self._path = self._target = target

    def begin(self, file: SourceFile) -> None:
        """Begin the attributes of the next file."""
        self._end()
        name = attribute_name(file)
        self._path, self._target = self._folder.path_of(name)
        self._file = open_packed(self._path, name_packing(name) or "", self._target)

    def add(self, row: Row | FailedRow, passages: Sequence[RepeatedPassage]) -> None:
        """Add the line of the next row. A failed row has a line without id and passages."""
        assert self._file is not None
        line = {"id": _id(row), "attributes": {ATTRIBUTE: passages}}
        self._file.write(json.dumps(line).encode() + b"\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._end()
                self._folder.commit()
        finally:
            if self._file:
                close_unfinished(self._file)
            self._folder.discard()

    def _end(self) -> None:
        if self._file:
            self._file.close()
            self._file = None
            sync_file(self._path, self._target)


def attribute_name(file: SourceFile) -> str:
    """Return the name of the attributes of a file."""
    return file.name if file.format == "jsonl" else f"{file.name}.jsonl"


def _id(row: Row | FailedRow) -> object:
    """Return the id that the row itself has, as it is: Dolma compares them."""
    if isinstance(row, FailedRow):
        return None
    return row.value if isinstance(row.value, (str, int)) else row.page.url
