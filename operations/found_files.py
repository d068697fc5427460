"""Finds the files and rows that are compared: in folders, in zip files, and in files of rows."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.ingest.rows import FailedRow
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.sources import SourceError, Sources, printable, read
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.ingest.sources.row_fields import ROW_FORMATS
from opensearch_winnow.ingest.sources.split import Damage, Failed, Skipped
from opensearch_winnow.queries.pairs import Unread

SPLIT_BYTES = 1 << 24  # of sources that are read at a time
MAX_UNZIPPED_BYTES = 2_000_000_000  # of one zip file
BINARY = "binary, not text"  # a reason: a file with the name of a text or program that is none
MAX_ZIPS = 3  # zip files in zip files


@dataclass(slots=True)
class Found:
    """A file or row of the sources."""

    name: str  # the path of a file, or the id of a row
    path: str  # absolute, of a file; empty for a row
    page: Page
    named: bool = False  # the user has named it, and not only its folder
    owner: str = ""  # of a row, if a field names it


@dataclass(slots=True)
class FoundFiles:
    """Reads the files and rows of sources, and notes what is skipped or cannot be read.

    A zip file is read like a folder of the same name.
    """

    fields: FieldNames = USUAL
    owner_field: str | None = None
    except_for: Sequence[str] = ()  # files that are not read from a folder
    unread: list[Unread] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)  # that were named: absolute paths

    def read(self, names: Sequence[str]) -> Iterator[Found]:
        """Yield the files, and the rows after them."""
        files: list[str] = []
        rows: list[str] = []
        for name in dict.fromkeys(names):
            path = os.path.abspath(name)  # noqa: PTH100 (as Sources does)
            if Path(name).is_dir():
                self.folders.append(path)
                files.append(name)
            elif not Path(name).is_file():
                files.append(name)
            elif _is_zip(name):
                self.folders.append(path)
                yield from self._unzipped(path, path, MAX_ZIPS)
            else:
                kind = self._kind(name, alone=len(names) == 1)
                (rows if kind in ROW_FORMATS else files if kind else []).append(name)
        if files or not names:
            yield from self._files(files, MAX_ZIPS)
        if rows:
            yield from self._rows(rows)

    def _kind(self, name: str, *, alone: bool) -> str:
        """Return the format of a file; empty if it cannot be read, which is no error if there are others."""
        try:
            if not is_program(name):
                with Sources([name], fields=self.fields) as sources:
                    return next(sources.files()).format
        except SourceError:
            pass  # a named file of any other kind of text is read as well
        try:
            Sources([name], every_text=True).close()
        except SourceError as error:
            if alone:
                raise
            self.unread.append(Unread(printable(name), str(error).removeprefix(f"{printable(name)} is ")))
            return ""
        return "files"

    def _files(self, names: Sequence[str], zips: int) -> Iterator[Found]:
        named = {os.path.abspath(name) for name in names}  # noqa: PTH100
        # A folder may have nothing but zip files.
        with Sources(
            names, every_text=True, except_for=self.except_for, fields=self.fields, allow_no_pages=True
        ) as sources:
            for split in sources.splits(SPLIT_BYTES):
                for offset, item in read(split, MAX_PAGE_BYTES):
                    path = ""
                    if split.format == "files":
                        path = str(Path(split.path, *split.names[offset : offset + 1]))
                    if isinstance(item, Page) and item.revisit_of is None:
                        yield Found(printable(path) or item.url, path, item, path in named)
                    elif isinstance(item, Skipped) and _is_zip(path):
                        yield from self._unzipped(path, path, zips)
                    elif isinstance(item, Skipped):
                        reason = BINARY if item.reason.startswith(("type text/", "not a record")) else item.reason
                        self.unread.append(Unread(printable(path) or item.url, reason))
                    elif isinstance(item, Failed):
                        self.unread.append(Unread(printable(path) or item.page.url, item.reason, failed=True))
                    elif isinstance(item, Damage):
                        self.unread.append(Unread(printable(split.path), item.reason, failed=True))

    def _rows(self, names: Sequence[str]) -> Iterator[Found]:
        with RowFiles(names, self.fields, self.owner_field) as files:
            for row in files.rows():
                if isinstance(row, FailedRow):
                    self.unread.append(Unread(row.where, row.reason, failed=True))
                elif row.page.revisit_of is None:
                    owner = "" if row.value is None else str(row.value)
                    yield Found(row.page.url, "", row.page, named=True, owner=owner)

    def _unzipped(self, path: str, name: str, zips: int) -> Iterator[Found]:
        """Yield the files of a zip file, as if it were a folder `name`."""
        with TemporaryDirectory(prefix="winnow-") as folder:
            try:
                if not zips:
                    raise zipfile.BadZipFile("too many zip files in zip files")
                with zipfile.ZipFile(path) as packed:
                    if sum(each.file_size for each in packed.infolist()) > MAX_UNZIPPED_BYTES:
                        raise zipfile.BadZipFile(f"over {MAX_UNZIPPED_BYTES:,} bytes when unpacked")
                    packed.extractall(folder)
            # RuntimeError: it is encrypted. NotImplementedError: it is compressed in an uncommon way.
            except (zipfile.BadZipFile, zipfile.LargeZipFile, RuntimeError, NotImplementedError, EOFError) as error:
                self.unread.append(Unread(printable(name), f"cannot be unpacked: {error}", failed=True))
                return
            before, found = len(self.unread), False
            for each in self._files([folder], zips - 1):
                found = True
                inside = name + each.path[len(folder) :] if each.path else ""
                yield replace(each, name=printable(inside) or each.name, path=inside)
            if not found and len(self.unread) == before:
                self.unread.append(Unread(printable(name), "a zip file without files"))
            self.unread[before:] = [
                each._replace(name=each.name.replace(folder, printable(name), 1)) for each in self.unread[before:]
            ]


def _is_zip(name: str) -> bool:
    return name.lower().endswith(".zip") and zipfile.is_zipfile(name)
