"""Reads the rows of files and folders, any number of times, and writes a selection of them."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from opensearch_winnow.foundation.atomic_file import check_parent
from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.path_names import PathName
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.ingest.rows import Edit, FailedRow, Row
from opensearch_winnow.ingest.rows.output import (
    LABELS,
    FolderOutput,
    OneFileOutput,
    Output,
    check_folder,
    check_rows_output,
    format_named,
)
from opensearch_winnow.ingest.rows.read_rows import read_rows
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.sources import MAX_PIPED_BYTES, SourceError, Sources, printable
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.ingest.sources.formats import ARCHIVES
from opensearch_winnow.ingest.sources.row_fields import fields_seen, missing_fields
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import Failed, Skipped, SourceFile


class RowFiles(Closing):
    """The rows of the sources `names`: files, folders, patterns, and - for standard input.

    Use it as a context manager. Rows are read in the order of `names`, and in a folder in the order of its files; each
    file is read once. A row without an id gets one from its location, such as `pages.jsonl#17`: the file, relative
    to the folder that the sources have in common, and the line or row, from 1. A file of a folder is a row whose id is
    its name; but if the folder has files of rows, its other texts, such as a README, are not read and listed in
    `other_texts`. `value_field` names a field whose value is read too.

    Usage:

        with RowFiles(["train.jsonl.gz"]) as files:
            short = {row.number for row in files.rows() if isinstance(row, Row) and len(row.page.text or "") < 200}
            files.write("kept.jsonl.gz", lambda number: None if number in short else Edit())
    """

    def __init__(
        self,
        names: Sequence[str],
        fields: FieldNames = USUAL,
        value_field: str | None = None,
        *,
        max_row_size: int = MAX_PAGE_BYTES,
        every_text: bool = False,
        follow_links: bool = False,
        max_piped: int = MAX_PIPED_BYTES,
    ) -> None:
        self.names = list(dict.fromkeys(names))
        self.count: int | None = None  # of all rows, once they were read to the end
        self.skipped: Counter[str] = Counter()  # files and captures that are not rows, by reason, in the last pass
        self._choice = RowChoice(max_row_size, fields, value_field, lenient=True)
        self._sources = Sources(
            names,
            every_text=every_text,
            follow_links=follow_links,
            max_piped=max_piped,
            fields=fields,
            allow_empty=True,
        )
        self.other_texts: list[str] = []  # files that are not read, because their folder has files of rows
        self._row_folders: set[int] | None = None  # sources with files of rows, by their number
        self._seen: array[int] | None = None  # a hash for each file, by which a change is noticed

    def close(self) -> None:
        self._sources.close()

    @property
    def size(self) -> int | None:
        """The bytes of all files together; None if there are too many files to add up."""
        return self._sources.size

    def has(self, name: str) -> bool:
        """Tell whether the file `name` is one of the sources."""
        return self._sources.has(name)

    def files(self) -> Iterator[SourceFile]:
        """Yield the files that are read."""
        if self._row_folders is None:
            texts: list[tuple[int, str]] = []
            self._row_folders = set()
            for file in self._sources.files():
                if _is_text(file):
                    texts.append((file.source, file.name))
                elif file.source not in self._row_folders and self._has_texts(file):
                    self._row_folders.add(file.source)
            self.other_texts = [name for source, name in texts if source in self._row_folders]
        for file in self._sources.files():
            if file.source not in self._row_folders or not _is_text(file):
                yield file

    def _has_texts(self, file: SourceFile) -> bool:
        try:
            return file.format in LABELS and not missing_fields(file.format, file.path, self._choice.fields)
        except (OSError, WinnowError):  # reported when its rows are read
            return True

    def rows(
        self,
        failed: FailedPages | None = None,
        reading: Callable[[SourceFile], None] | None = None,
        value_field: str | None = None,
    ) -> Iterator[Row | FailedRow]:
        """Yield all rows, numbered without gaps. Rows that fail are added to `failed`, with their bytes.

        `reading` is called with each file before its rows, if it has any. `value_field` replaces the one that
        was named when the files were opened.
        """
        choice = replace(self._choice, value_field=value_field or self._choice.value_field)
        number = 0
        seen = array("Q")
        self.skipped = Counter()
        for file in self.files():
            self._check_unchanged(file, len(seen))
            seen.append(_state(file))
            if reading is not None:
                reading(file)
            if failed is not None:
                failed.reading(file.path)
            for item, location, value in read_rows(file, choice):
                if isinstance(item, Skipped):
                    self.skipped[item.reason] += 1
                    continue
                if isinstance(item, Failed):
                    if failed is not None:
                        failed.add(item, file.path)
                    where = ", ".join(filter(None, (printable(file.path), location)))
                    yield FailedRow(number, file.source, where, item.reason)
                else:
                    yield Row(number, file.source, item, value)
                number += 1
        self._seen, self.count = seen, number

    def write(
        self,
        to: PathName,
        decide: Callable[[int], Edit | None],
        columns: Mapping[str, type] = MappingProxyType({}),
        overwrite: bool = False,
    ) -> int:
        """Write the rows for which `decide(number)` returns an Edit, and return how many they are.

        They have the format, the columns and the order of the sources. `decide` is called once for each row, in order.
        `columns` are the names and types (str, int, float, bool) of the columns that edits add; one that a row has
        already is replaced. If `to` ends in / or is a folder, each source has a file of its own there, of the same
        name; otherwise all rows go to one file, which is compressed as its name says. Nothing is visible until it is
        complete. A failed row is written as it is, where its bytes can be read at all.
        """
        number = 0

        def next_edit() -> Edit | None:
            nonlocal number
            number += 1
            return decide(number - 1)

        output = self._output(to, columns, overwrite=overwrite)
        try:
            files = 0
            for files, file in enumerate(self.files(), 1):
                self._check_unchanged(file, files - 1)
                output.add(file, next_edit)
                self._check_unchanged(file, files - 1)
            if self.count not in (None, number) or len(self._seen or ()) not in (0, files):
                raise SourceError("the sources have changed since they were read: start again")
            output.commit()
        except BaseException:
            output.discard()
            raise
        return output.rows

    def fields_seen(self) -> list[str] | None:
        """Return the names of the fields in the first rows of the files; None if not all of them show theirs."""
        seen: dict[str, None] = {}
        for file in self.files():
            try:
                names = fields_seen(file.format, file.path, self._choice.fields) if file.format in LABELS else None
            except (OSError, WinnowError):  # reported when its rows are read
                names = None
            if names is None:
                return None
            seen |= dict.fromkeys(names)
        return list(seen)

    def check_output(
        self, to: PathName, columns: Mapping[str, type] = MappingProxyType({}), overwrite: bool = False
    ) -> None:
        """Raise the errors of `write` that can be known before the rows are read."""
        one_file = not self._is_folder(to)
        check_parent(Path(to))
        formats: dict[str, SourceFile] = {}
        for file in self.files():
            formats.setdefault(file.format, file)
            check_rows_output(Path(to) if one_file else Path(to, file.name), self._sources.has, overwrite=overwrite)
        if not one_file:
            check_folder(Path(to), (file.name for file in self.files()))
        for kind, file in formats.items():
            if kind in ARCHIVES:
                raise SourceError(
                    f"{printable(file.path)} is a web archive, which is read but not written: write ids instead"
                )
            if kind not in LABELS and columns:
                raise SourceError(
                    f"{printable(file.path)} is a file without columns: {', '.join(columns)} cannot be added to it"
                )
            if one_file and kind not in LABELS:
                raise SourceError(
                    f"{printable(file.path)} is written as a file again, and {to} is the name of a file of rows: name "
                    "a folder, with / at its end"
                )
        if one_file and len(formats) > 1:
            raise SourceError(
                f"the sources are {' and '.join(LABELS[kind] for kind in formats)}: write each to a file of its own, "
                "in a folder whose name ends in /"
            )
        named = format_named(Path(to).name) if one_file else None
        if named and named not in formats:
            (kind,) = formats or ["jsonl"]
            raise SourceError(
                f"{to} is the name of a {LABELS[named]} file, but the rows are {LABELS[kind]}, and stay so"
            )

    def _output(self, to: PathName, columns: Mapping[str, type], *, overwrite: bool) -> Output:
        self.check_output(to, columns, overwrite)
        kind = FolderOutput if self._is_folder(to) else OneFileOutput
        return kind(Path(to), self._choice, columns, self._sources.has, overwrite=overwrite)

    def _is_folder(self, to: PathName) -> bool:
        """True if each source has a file of its own: also for files of a folder, and for several under a bare name."""
        if str(to).endswith("/") or Path(to).is_dir():
            return True
        first = list(islice(self.files(), 2))
        if format_named(Path(to).name):
            return False
        return len(first) > 1 or any(file.format not in LABELS for file in self.files())

    def _check_unchanged(self, file: SourceFile, index: int) -> None:
        if self._seen is not None and (index >= len(self._seen) or self._seen[index] != _state(file)):
            raise SourceError(f"{printable(file.path)} has changed since it was read: start again")


def _is_text(file: SourceFile) -> bool:
    return file.format not in LABELS and file.format not in ARCHIVES


def _state(file: SourceFile) -> int:
    try:
        status = os.stat(file.path)  # noqa: PTH116
    except OSError:
        return 0
    state = f"{status.st_size} {status.st_mtime_ns} {file.path}"
    return int.from_bytes(blake2b(os.fsencode(state), digest_size=8).digest(), "big")
