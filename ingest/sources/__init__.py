"""Finds the files of sources by their names, and the formats of the files."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO
from urllib.parse import unquote_to_bytes, urlsplit

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import csv_file, files, jsonl, piped
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.ingest.sources.folder import LINK, Folder, FolderFile
from opensearch_winnow.ingest.sources.formats import (
    JSON_LINES,
    format_in_folder,
    format_of,
    is_damaged_zip,
    is_zip,
    reader,
)
from opensearch_winnow.ingest.sources.row_fields import ROW_FORMATS, AbsentFields, missing_fields
from opensearch_winnow.ingest.sources.split import Failed, Skipped, SourceFile, Split
from opensearch_winnow.ingest.sources.unpacked import DamagedError

STDIN = "-"
SQLITE = b"SQLite format 3\0"  # the first bytes of a store
MAX_PIPED_BYTES = 4_000_000_000  # kept in a temporary file: a pipe may never end
MAX_FILES_TO_SIZE = 10_000  # files whose sizes are added up before a run, to show its progress

FOLLOW_LINKS, MAX_PIPED = "--follow-symlinks", "--max-stdin"  # the options of winnow index

ACCEPTED = "pages are read from HTML, text, JSONL, CSV, Parquet, WARC, ARC and WACZ files, and from folders of these"

_ADDRESS = re.compile(r"(?:https?|ftps?|s3|gs|hdfs|hf)://", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class SourceError(WinnowError):
    """Sources that cannot be read. The message has a line for each problem."""


class UnreadableError(WinnowError):
    """A source that is damaged, so that the run goes on without it. The message is a reason, general and short."""


def printable(name: str) -> str:
    """Return `name` with U+FFFD for characters that cannot be printed."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


class Sources(Closing):
    """Finds the files that `names` stand for: files, folders, patterns, and - for standard input.

    Use it as a context manager. One error lists all problems with the names, before anything is read. Piped input is
    kept in a temporary file until the context is left.

    The URL of a page that is a file is `base` and its path, relative to the folder that was named, or to the common
    folder of all names; without `base`, it is a file: URL. In a folder, source code and data are pages only with
    `every_text`. The files `except_for`, which the run itself writes, are never read from a folder. Links in a folder
    are counted, but followed only with `follow_links`; a link that is named itself is followed. No more than
    `max_piped` bytes are taken from a pipe. Rows have the fields `fields`. A file that was named must not be
    empty, except with `allow_empty`; a folder must have pages, except with `allow_no_pages`. With `zips`, a zip file
    without web archives is read like a folder of the same name.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        base: str = "",
        every_text: bool = False,
        except_for: Sequence[str] = (),
        follow_links: bool = False,
        max_piped: int = MAX_PIPED_BYTES,
        fields: FieldNames = USUAL,
        allow_empty: bool = False,
        allow_no_pages: bool = False,
        zips: bool = False,
    ) -> None:
        self.base, self.every_text, self.fields = base, every_text, fields
        self._allow_empty, self._allow_no_pages, self._zips = allow_empty, allow_no_pages, zips
        self._follow_links, self._max_piped = follow_links, max_piped
        self._except_for = [os.path.realpath(name) for name in except_for]
        self._spool: Path | None = None
        self._sources: list[SourceFile | Folder] = []
        complaints = [] if names else [f"no source is named: {ACCEPTED}"]
        if base and not _URL.match(base):
            complaints.append(f"the base URL must be a URL such as https://example.org/, not {printable(base)}")
        try:
            for name in dict.fromkeys(names):
                try:
                    self._sources.append(self._locate(name))
                except SourceError as error:
                    complaints.append(str(error))
                except OSError as error:
                    complaints.append(f"{printable(name)} cannot be read: {error.strerror}")
            if complaints:
                raise SourceError("\n".join(complaints))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._spool is not None:
            shutil.rmtree(self._spool, ignore_errors=True)

    @cached_property
    def size(self) -> int | None:
        """The bytes of all files together; None if there are too many files to add up."""
        found = [found for _, found, _ in islice(self._walk(), MAX_FILES_TO_SIZE + 1)]
        return sum(size_of(each) for each in found) if len(found) <= MAX_FILES_TO_SIZE else None

    def files(self, *, named_first: bool = False) -> Iterator[SourceFile]:
        """Yield each file once, in the order of the names; with `named_first`, those of folders after the named ones.

        Folders are walked lazily.
        """
        tops = [_folder_of(source) for source in self._sources if not isinstance(source, SourceFile) or not source.url]
        top = os.path.commonpath(tops).rstrip("/") if tops else ""
        for number, found, file in self._walk(named_first=named_first):
            name = found.path[len(top) + 1 :]
            if file:
                yield replace(file, source=number, name="stdin" if file.url else name)
                continue
            kind, failed = "files", ""
            try:
                kind = kind if found.skipped else self._format_in_folder(found.path)
            except WinnowError as error:  # a package is not installed
                failed = str(error)
            except Exception as error:  # a parser that did not expect this file: the run goes on without it
                failed = f"{type(error).__name__}: {error}"
            yield SourceFile(found.path, kind, number, name, self.every_text, skipped=found.skipped, failed=failed)

    def paths(self) -> Iterator[str]:
        """Yield the paths of all files that are not skipped. Folders are walked lazily."""
        return (found.path for _, found, _ in self._walk(named_first=True) if not found.skipped)

    def has(self, path: str) -> bool:
        """Return whether the file at `path` is read."""
        real = os.path.realpath(path)
        return any(
            source.real().has(real) if isinstance(source, Folder) else os.path.realpath(source.path) == real
            for source in self._sources
        )

    @property
    def common_folder(self) -> str:
        """The folder that all folders, and all files that are pages, have in common."""
        tops = [found.path or "/" for found in self._sources if isinstance(found, Folder)]
        named = [found for found in self._sources if isinstance(found, SourceFile)]
        tops += [str(Path(file.path).parent) for file in named if file.format == "files" and not file.url]
        tops += [file.path for file in named if file.format == "zip_file"]
        return os.path.commonpath(tops) if tops else "/"

    def _walk(self, *, named_first: bool = False) -> Iterator[tuple[int, FolderFile, SourceFile | None]]:
        """Yield each file once, with the number of its source, and as a `SourceFile` if it was named itself."""
        named = {os.path.realpath(source.path) for source in self._sources if isinstance(source, SourceFile)}
        sources = list(enumerate(self._sources))
        if named_first:
            sources.sort(key=lambda each: isinstance(each[1], Folder))
        before: list[Folder] = []
        done: set[str] = set()
        for number, source in sources:
            if isinstance(source, Folder):
                yield from ((number, found, None) for found in self._files_of(source, named, before))
                before.append(source.real())
            elif (real := os.path.realpath(source.path)) not in done:
                done.add(real)
                yield number, FolderFile(source.path), source

    def _files_of(self, folder: Folder, named: Collection[str], before: Sequence[Folder]) -> Iterator[FolderFile]:
        """Yield the files of a folder that were not named themselves, and are in none of the folders `before`."""
        real = folder.real()
        for found in folder.files():
            same = real.path + found.path[len(folder.path) :]
            again = same in named or any(other.has(same) for other in before)
            if not again and not self._is_excepted(same):
                yield found

    def _is_excepted(self, real_path: str) -> bool:
        return any(real_path == kept or real_path.startswith(f"{kept}/") for kept in self._except_for)

    def _format_in_folder(self, path: str) -> str:
        kind = format_in_folder(path, self.fields)
        return "zip_file" if kind == "files" and self._is_zip(path) else kind

    def _is_zip(self, path: str) -> bool:
        """Return whether a file is read as a zip file, which fails if it is damaged."""
        return self._zips and (is_zip(path) or is_damaged_zip(path))

    # --- from a name to a file or folder ----------------------------------------------------------------------------

    def _locate(self, name: str) -> SourceFile | Folder:
        if _ADDRESS.match(name):
            how = ", for example with wget --warc-file" if name.lower().startswith(("http", "ftp")) else ""
            raise SourceError(f"{printable(name)} is an address. Sources are files: fetch it first{how}")
        if name == STDIN:
            if sys.stdin is None or sys.stdin.isatty():
                raise SourceError("- reads from a pipe, but nothing is piped in: name a file or a folder")
            return self._spooled(sys.stdin.buffer, "standard input", "file:///dev/stdin")
        plain = os.fsdecode(unquote_to_bytes(urlsplit(name).path)) if name.lower().startswith("file://") else name
        path = os.path.abspath(plain)  # noqa: PTH100 (without .., which a Path keeps)
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return self._pattern(path, printable(name))
        if stat.S_ISDIR(mode):
            folder = Folder(path.rstrip("/"), follow_links=self._follow_links)
            return self._require_pages(folder, f"there is no page in {printable(name)}")
        if stat.S_ISFIFO(mode):
            if (pipe := piped.opened_pipe(path)) is None:
                seconds = piped.MAX_PIPE_WAIT_SECONDS
                raise SourceError(f"{printable(name)} is a named pipe, and nothing was written to it in {seconds:g} s")
            with pipe:
                return self._spooled(pipe, printable(name), files.file_uri(path))
        if not stat.S_ISREG(mode):
            raise SourceError(f"{printable(name)} is neither a file nor a folder: {ACCEPTED}")
        return SourceFile(path, self._format(path, printable(name)), every_text=True)

    def _pattern(self, path: str, name: str) -> Folder:
        folder = Folder.of_pattern(path, follow_links=self._follow_links)
        if folder is None:
            raise SourceError(f"there is no file or folder {name}")
        return self._require_pages(folder, f"no file with pages matches {name}")

    def _require_pages(self, folder: Folder, complaint: str) -> Folder:
        if self._allow_no_pages:
            return folder
        others, missing, programs = Counter[str](), "", 0
        for path, skipped in folder.files():
            if self._is_excepted(os.path.realpath(path)):
                continue
            kind = "files" if skipped else self._format_in_folder(path)
            if kind != "files":
                lacking = self._missing(kind, path)
                if lacking is None:
                    return folder
                missing = missing or f"{printable(path)} has {printable(lacking.sentence)}"
                continue
            split = Split("files", path, every_text=self.every_text, skipped=skipped)
            _, item = next(files.read(split, files.HEAD))
            if isinstance(item, Page) or (isinstance(item, Failed) and item.page.content_type):  # or too large for this
                return folder
            others[item.reason if isinstance(item, (Skipped, Failed)) else ""] += 1
            programs += is_program(path)
        if missing:
            raise SourceError(missing)
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in others.most_common(5))
        links = f"; {FOLLOW_LINKS} follows the links" if others[LINK] else ""
        links += "; a new store with --preset programs reads programs" if programs and not self.every_text else ""
        raise SourceError(f"{complaint}{f' ({reasons})' if reasons else ''}: {ACCEPTED}{links}")

    def _spooled(self, pipe: IO[bytes], name: str, source: str) -> SourceFile:
        if self._spool is None:
            self._spool = Path(tempfile.mkdtemp(prefix="winnow-"))
        path = self._spool / str(len(self._sources))
        try:
            if not piped.is_copied(pipe, path, self._max_piped):
                raise SourceError(
                    f"{name} has over {self._max_piped:,} bytes, the most that is kept in a temporary file: "
                    f"save it to a file and index that, or allow more with {MAX_PIPED}"
                )
        except OSError as error:
            raise SourceError(f"{name} cannot be kept in {self._spool}: {error.strerror}; set TMPDIR") from None
        return SourceFile(str(path), self._format(str(path), name), every_text=True, url=source)

    def _format(self, path: str, name: str) -> str:
        """Return the format of a file that was named, or complain."""
        try:
            found, head = format_of(path)
        except DamagedError as error:
            raise SourceError(f"{name} cannot be read: {error}") from None
        if found == "files" and self._is_zip(path):
            return "zip_file"
        if not head:
            if not self._allow_empty:
                raise SourceError(f"{name} is empty")
            return "csv_file" if csv_file.NAME.fullmatch(path) else "jsonl"
        kind = files.type_of(path, head)
        if found == "files" and (JSON_LINES.fullmatch(path) or (not self.every_text and jsonl.has_objects(head))):
            found = "jsonl"
        elif found == "files" and kind != files.HTML:
            named = csv_file.NAME.fullmatch(path) and (self.fields.contents or not self.every_text)
            found = "csv_file" if named or csv_file.looks_like(head) else found
        if found == "jsonl" and head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise SourceError(
                f"{name} is UTF-16, and JSONL is UTF-8: convert it, for example with iconv -f UTF-16 -t UTF-8"
            )
        no_lines = found == "files" and kind == "application/json" and not self.every_text
        if no_lines or (found == "jsonl" and jsonl.is_one_document(head)):
            raise SourceError(
                f"{name} is JSON, but not JSONL, which has an object with url and html or text on each line: "
                "jq -c '.[]' turns an array into JSONL"
            )
        if head.startswith(SQLITE):
            raise SourceError(
                f"{name} is a SQLite file, as stores are, and not a source of pages: "
                f"winnow export --store {name} --to records.parquet turns a store into one"
            )
        if found == "files" and kind != files.HTML and not files.is_text(head):
            raise SourceError(f"{name} is {kind}: {ACCEPTED}")
        try:
            if missing := self._missing(found, path):
                raise SourceError(f"{name} has {printable(missing.sentence)}")
            empty = found != "files" and not any(reader(found).splits(path, sys.maxsize))
        except UnreadableError:
            empty = False  # it fails in the run, which goes on with the other sources
        if empty and not self._allow_empty:
            raise SourceError(f"{name} is empty")
        return found

    def _missing(self, kind: str, path: str) -> AbsentFields | None:
        try:
            return missing_fields(kind, path, self.fields) if kind in ROW_FORMATS else None
        except UnreadableError:
            return None  # it fails in the run, which goes on with the other sources


def size_of(file: SourceFile | FolderFile) -> int:
    """Return the bytes of a file that is read; 0 if it cannot be read."""
    try:
        return 0 if file.skipped else os.stat(file.path).st_size  # noqa: PTH116
    except OSError:
        return 0


def _folder_of(source: SourceFile | Folder) -> str:
    return source.path or "/" if isinstance(source, Folder) else str(Path(source.path).parent)
