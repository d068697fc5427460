"""Finds the files and rows that are compared: in folders, in zip files, and in files of rows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.ingest.rows import FailedRow
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.sources import SourceError, Sources, printable
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.ingest.sources.files import path_of
from opensearch_winnow.ingest.sources.folder import is_left_out
from opensearch_winnow.ingest.sources.formats import is_zip, is_zip_name
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.row_fields import ROW_FORMATS
from opensearch_winnow.ingest.sources.split import FILE_FORMATS, Damage, Failed, Skipped, Split
from opensearch_winnow.ingest.sources.splits import splits
from opensearch_winnow.ingest.sources.zip_file import NO_DIRECTORY, empty_folders
from opensearch_winnow.queries.sets.pairs import EMPTY_FOLDER, Unread

SPLIT_BYTES = 1 << 24  # of sources that are read at a time
# Reasons why a file is not compared.
BINARY = "binary, not text"  # a file that is not the text or program that its name suggests
NOT_A_PROGRAM = "not a program"
OTHER_ARCHIVE = re.compile(r"\.(?:tar(?:\.(?:bz2|gz|lz\w*|xz|z|zst))?|t[bgx]z2?|7z|rar)$")
OTHER_KINDS = (
    (re.compile(r"\.pdf$"), "PDF: convert it to text first"),
    (re.compile(r"\.(?:doc[mx]?|od[pst]|rtf|pages|pptx?|xlsx?)$"), "an office file: save it as text first"),
    (OTHER_ARCHIVE, "an archive of another kind: pack it as zip"),
)
PACKAGE_MARK = "__init__.py"  # usually empty


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
    """Reads the files and rows of sources, and notes skipped and unreadable ones.

    A zip file is read like a folder of the same name.
    """

    fields: FieldNames = USUAL
    owner_field: str | None = None
    except_for: Sequence[str] = ()  # files that are not read from a folder
    unread: list[Unread] = field(default_factory=list)  # rows, and pages of web archives
    unread_files: dict[str, Unread] = field(default_factory=dict)  # by their paths; that of an empty folder ends with /
    folders: list[str] = field(default_factory=list)  # that were named: absolute paths

    def read(self, names: Sequence[str]) -> Iterator[Found]:
        """Yield the files, and the rows after them."""
        files: list[str] = []
        rows: list[str] = []
        for name in dict.fromkeys(names):
            path = os.path.abspath(name)  # noqa: PTH100 (as Sources does)
            if Path(name).is_dir() or is_zip(path):
                self.folders.append(path)
                self._note_empty_folders(path)
                files.append(name)
            elif is_zip_name(path) and Path(path).is_file():
                self.note(path, NO_DIRECTORY, failed=True)
            elif not Path(name).is_file():
                files.append(name)
            else:
                kind = self._kind(name, alone=len(names) == 1)
                (rows if kind in ROW_FORMATS else files if kind else []).append(name)
        if files or not names:
            yield from self._files(files)
        if rows:
            yield from self._rows(rows)

    def note(self, path: str, reason: str, *, failed: bool = False) -> None:
        """Note a file that is not compared. It counts as work if it failed, or if a student may have written in it."""
        kind = next((words for endings, words in OTHER_KINDS if endings.search(path.lower())), "")
        kind = OTHER_KINDS[0][1] if reason == "type application/pdf" else kind
        is_own = reason != NOT_A_PROGRAM and not reason.startswith("type ") and not path.endswith(f"/{PACKAGE_MARK}")
        self.unread_files[path] = Unread(printable(path), kind or reason, failed, work=failed or bool(kind) or is_own)

    def note_found(self, found: Found, reason: str, *, failed: bool = False) -> None:
        """Note a file or row that was found, but is not compared."""
        if found.path:
            self.note(found.path, reason, failed=failed)
        else:
            document = found.name if found.named else ""  # a row; not a page of a web archive
            self.unread.append(Unread(found.name, reason, failed, document))

    def _note_empty_folders(self, path: str) -> None:
        excepted = [os.path.realpath(name) for name in self.except_for]
        for name in _empty_folders(path) if Path(path).is_dir() else empty_folders(path):
            if os.path.realpath(f"{path}/{name}") not in excepted:
                self.note(f"{path}/{name}/" if name else f"{path}/", EMPTY_FOLDER)

    def _kind(self, name: str, *, alone: bool) -> str:
        """Return the format of a file; empty if it cannot be read, which is not an error if there are others."""
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
            reason = str(error).removeprefix(f"{printable(name)} is ").partition(":")[0]
            self.note(os.path.abspath(name), reason)  # noqa: PTH100
            return ""
        return "files"

    def _files(self, names: Sequence[str]) -> Iterator[Found]:
        named = {os.path.abspath(name) for name in names}  # noqa: PTH100
        # A folder may have nothing to compare: other sources may.
        with Sources(
            names, every_text=True, except_for=self.except_for, fields=self.fields, allow_no_pages=True, zips=True
        ) as sources:
            for split in splits(sources, SPLIT_BYTES):
                for _, item in read(split, MAX_PAGE_BYTES):
                    if isinstance(item, Page) and item.revisit_of is None:
                        path = path_of(item.url) if split.format in FILE_FORMATS else ""
                        if is_zip_name(path) or OTHER_ARCHIVE.search(path.lower()):  # a text under that name
                            self.note(path, NO_DIRECTORY, failed=True)
                            continue
                        yield Found(printable(path) or item.url, path, item, path in named)
                    elif not isinstance(item, Page) and item is not None:
                        self._note_item(item, split)

    def _note_item(self, item: Skipped | Failed | Damage, split: Split) -> None:
        if isinstance(item, Damage):
            self.note(split.path, NO_DIRECTORY if split.path.lower().endswith(".zip") else item.reason, failed=True)
            return
        url = item.url if isinstance(item, Skipped) else item.page.url
        path = path_of(url) if split.format in FILE_FORMATS else ""
        reason = item.reason
        if isinstance(item, Skipped) and reason.startswith("not a record"):  # it only looks like a web archive
            path, reason = split.path, BINARY
        elif isinstance(item, Skipped) and reason.startswith("type text/"):
            reason = BINARY
        if path:
            self.note(path, reason, failed=isinstance(item, Failed))
        else:
            self.unread.append(Unread(url, reason, isinstance(item, Failed)))

    def _rows(self, names: Sequence[str]) -> Iterator[Found]:
        with RowFiles(names, self.fields, self.owner_field) as files:
            for row in files.rows():
                if isinstance(row, FailedRow):
                    self.unread.append(Unread(row.where, row.reason, failed=True, document=row.where))
                elif row.page.revisit_of is None:
                    owner = "" if row.value is None else str(row.value)
                    yield Found(row.page.url, "", row.page, named=True, owner=owner)


def _empty_folders(path: str) -> Iterator[str]:
    """Yield the folders below `path`, relative to it, that have only hidden files; empty for `path` itself."""
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not is_left_out(name))
        if not folders and all(map(is_left_out, files)):
            yield folder[len(path) :].lstrip("/")
