"""Reads the files in a zip file like those of a folder of the same name. Nothing is written under a name from it."""

from __future__ import annotations

import lzma
import os
import re
import shutil
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import IO, NamedTuple, cast
from urllib.parse import quote

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import UnreadableError, csv_file, files
from opensearch_winnow.ingest.sources.folder import LINK, is_left_out
from opensearch_winnow.ingest.sources.formats import JSON_LINES, format_in_folder, is_zip_name, reader
from opensearch_winnow.ingest.sources.reading import read as read_split
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Items, Skipped, Split
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked_stream

MAX_UNZIPPED_BYTES = 2_000_000_000  # of a zip file with all zip files in it: `winnow pairs` keeps texts in memory
MAX_DEPTH = 3  # levels of zip files, with the outermost
MAX_FILES_PER_SPLIT = 256
# Reasons. Files are counted by them, so they name no file.
NO_FILES = "a zip file without files"
TOO_DEEP = "too many zip files in zip files"
TOO_MUCH = f"a zip file with over {MAX_UNZIPPED_BYTES:,} bytes when unpacked"
NO_DIRECTORY = "a zip file that cannot be unpacked"
REPLACED = "in the zip file again, under the same name"
NO_NAME = "no name that a file can have"

_IN_MEMORY = 16 << 20  # bytes of a zip file in a zip file; a larger one goes through a temporary file
_UTF_8_FLAG, _ENCRYPTED_FLAG = 0x800, 1
_DRIVE = re.compile(r"\A[A-Za-z]:(?=/)")
_PARQUET = re.compile(r".*\.parquet", re.IGNORECASE | re.DOTALL)
# zipfile raises these for a member: RuntimeError if it is encrypted, NotImplementedError if its compression is unknown.
_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


class ZippedFile(NamedTuple):
    """A file in a zip file, by its name as in a folder."""

    name: str
    info: zipfile.ZipInfo
    problem: str = ""  # why it is not read
    failed: bool = False  # this is a fault


def zipped_files(zipped: zipfile.ZipFile) -> list[ZippedFile]:
    """Return the files of a zip file that are not hidden, in their order; links and nameless ones with their problem.

    Of several files with one name, the last is read, as it is if they are unpacked.
    """
    last = {name_of(info): info for info in zipped.infolist() if not _is_folder(info)}
    found = []
    for info in zipped.infolist():
        name = name_of(info)
        if _is_folder(info) or _is_hidden(name):
            continue
        if not name:
            found.append(ZippedFile(info.filename, info, NO_NAME, failed=True))
        elif stat.S_ISLNK(info.external_attr >> 16):
            found.append(ZippedFile(name, info, LINK))
        else:
            found.append(ZippedFile(name, info, "" if last[name] is info else REPLACED))
    return found


def name_of(info: zipfile.ZipInfo) -> str:
    """Return the path of a member below the zip file, without drives, `.` and `..`; empty if nothing is left.

    A name is in UTF-8 if it says so, or if it can be: macOS and Linux write UTF-8 without saying so. Otherwise it is in
    the code page 437 of DOS, as the format demands.
    """
    name = info.filename
    if not info.flag_bits & _UTF_8_FLAG:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    if "/" not in name:
        name = name.replace("\\", "/")  # some programs on Windows write these
    return "/".join(part for part in _DRIVE.sub("", name).split("/") if part not in ("", ".", ".."))


def _is_folder(info: zipfile.ZipInfo) -> bool:
    return info.filename.endswith("/") or (info.filename.endswith("\\") and not info.file_size)


def _is_hidden(name: str) -> bool:
    return any(map(is_left_out, name.split("/")))


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


def names(path: str) -> Iterator[str]:
    """Yield the names of the files in a zip file and, instead of zip files in it, those in them.

    Zip files that are damaged, too large, or in too many zip files, have no names.
    """
    with suppress(Exception), zipfile.ZipFile(path) as zipped:  # as in `splits`
        yield from _names(zipped, [MAX_UNZIPPED_BYTES], MAX_DEPTH)


def _names(zipped: zipfile.ZipFile, left: list[int], depth: int) -> Iterator[str]:
    """Yield the names in a zip file. `left` holds the bytes that zip files in it may have."""
    for each in zipped_files(zipped):
        if not is_zip_name(each.name):
            yield each.name
            continue
        left[0] -= each.info.file_size
        if depth == 1 or left[0] < 0:
            continue
        with suppress(Exception), _unpacked(zipped, each) as copy, zipfile.ZipFile(copy) as inner:
            yield from (f"{each.name}/{name}" for name in _names(inner, left, depth - 1))


@contextmanager
def _unpacked(zipped: zipfile.ZipFile, file: ZippedFile) -> Iterator[IO[bytes]]:
    """Unpack a zip file in a zip file, to be read itself."""
    with SpooledTemporaryFile(_IN_MEMORY) as copy:
        with zipped.open(file.info) as content:
            shutil.copyfileobj(content, copy)
        yield copy


def empty_folders(path: str) -> list[str]:
    """Return the folders in a zip file that nothing is in but hidden files; none if it is damaged."""
    try:
        with zipfile.ZipFile(path) as zipped:
            members = [(name_of(info), _is_folder(info)) for info in zipped.infolist()]
    except Exception:  # as in `splits`
        return []
    folders = {name for name, is_folder in members if is_folder} | {_parent(name) for name, _ in members}
    shown = {name for name in folders if name and not _is_hidden(name)}
    used = {_parent(name) for name in (*shown, *(name for name, _ in members)) if not _is_hidden(name)}
    return sorted(shown - used)


def splits(path: str, size: int) -> Iterator[Split]:
    """Yield the files in parts; all in one part if some are zip files, whose content is limited together."""
    total = os.stat(path).st_size  # noqa: PTH116
    try:
        with zipfile.ZipFile(path) as zipped:
            found = zipped_files(zipped)
    except Exception:  # zipfile has many: also UnicodeDecodeError for a name, and OSError for an impossible offset
        raise UnreadableError(NO_DIRECTORY) from None
    if not found:
        yield Split("files", path, 0, 1, total, skipped=NO_FILES)
        return
    if sum(each.info.file_size for each in found) > MAX_UNZIPPED_BYTES:
        raise UnreadableError(TOO_MUCH)
    if any(is_zip_name(each.name) for each in found):
        yield Split("zip_file", path, 0, len(found), total)
        return
    start, held = 0, 0
    for i, each in enumerate(found):
        length = min(each.info.compress_size, total)
        if i > start and (held + length > size or i - start == MAX_FILES_PER_SPLIT):
            yield Split("zip_file", path, start, i, held)
            start, held = i, 0
        held += length
    yield Split("zip_file", path, start, len(found), held)


def read(split: Split, page_bytes: int) -> Items:
    """Yield the files of `split`, whose `base` is the URL of the zip file with a slash. Offsets count files."""
    base = split.base or f"{files.file_uri(split.path)}/"
    with zipfile.ZipFile(split.path) as zipped:
        found = zipped_files(zipped)
        end = len(found) if split.end is None else min(split.end, len(found))
        content = _ZipSplitReader(split, page_bytes, MAX_UNZIPPED_BYTES)
        for i in range(split.start, end):
            for item in content.items(zipped, found[i], base, MAX_DEPTH):
                yield i, item
    yield max(split.start, end), None


@dataclass(slots=True)
class _ZipSplitReader:
    """Reads the files of one split, and of zip files in it up to a limit."""

    split: Split
    page_bytes: int
    left: int  # bytes that zip files in zip files, and the files in those, may still have

    def items(self, zipped: zipfile.ZipFile, file: ZippedFile, base: str, depth: int) -> Iterator[Item]:
        url = base + quote(os.fsencode(file.name))
        if file.problem:
            yield _failed(url, file.problem) if file.failed else Skipped(url, file.problem)
            return
        try:
            if is_zip_name(file.name):
                yield from self._nested(zipped, file, url, depth)
            elif JSON_LINES.fullmatch(file.name) or csv_file.NAME.fullmatch(file.name) or _PARQUET.fullmatch(file.name):
                yield from self._rows(zipped, file, url)
            else:
                yield self._page(zipped, file, url)
        except DamagedError as error:
            yield _failed(url, str(error))
        except _ERRORS as error:
            yield _failed(url, _reason(error, file.info))

    def _page(self, zipped: zipfile.ZipFile, file: ZippedFile, url: str) -> Item:
        with zipped.open(file.info) as packed, unpacked_stream(cast("BufferedReader", packed)) as content:
            return files.read_page(content, file.name, url, self.page_bytes, every_text=self.split.every_text)

    def _nested(self, zipped: zipfile.ZipFile, file: ZippedFile, url: str, depth: int) -> Iterator[Item]:
        self.left -= file.info.file_size
        if depth == 1 or self.left < 0:
            yield _failed(url, TOO_MUCH if self.left < 0 else TOO_DEEP)
            return
        with _unpacked(zipped, file) as copy:
            try:
                inner = zipfile.ZipFile(copy)
                found = zipped_files(inner)
            except Exception:  # as in `splits`
                yield _failed(url, NO_DIRECTORY)
                return
            self.left -= sum(each.info.file_size for each in found if not is_zip_name(each.name))
            if self.left < 0:
                yield _failed(url, TOO_MUCH)
                return
            if not found:
                yield Skipped(url, NO_FILES)
            for each in found:
                yield from self.items(inner, each, f"{url}/", depth - 1)

    def _rows(self, zipped: zipfile.ZipFile, file: ZippedFile, url: str) -> Iterator[Item]:
        """Yield the rows of a table, which is read from a file of its own, or the file itself if it has no text."""
        with TemporaryDirectory(prefix="winnow-") as folder:
            copy = Path(folder, f"rows{''.join(Path(file.name).suffixes[-2:])[-20:]}")
            with zipped.open(file.info) as content, copy.open("wb") as target:
                shutil.copyfileobj(content, target)
            kind = format_in_folder(str(copy), self.split.fields)
            if kind == "files":
                yield self._page(zipped, file, url)
                return
            # As in a folder, a row without an id is at the path of its file, whatever the URL of other files.
            path = f"{files.file_uri(self.split.path)}/{url.removeprefix(self.split.base)}"
            for part in reader(kind).splits(str(copy), sys.maxsize):
                rows = replace(part, base=path, fields=self.split.fields)
                for _, item in read_split(rows, self.page_bytes):
                    if isinstance(item, Damage):
                        yield _failed(path, item.reason)
                    elif item is not None:
                        yield item


def _failed(url: str, reason: str) -> Failed:
    return Failed(Page(url, html=b""), reason)


def _reason(error: Exception, info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _ENCRYPTED_FLAG:
        return "encrypted in the zip file"
    if isinstance(error, NotImplementedError):
        return "compressed in the zip file in an unknown way"
    return "damaged in the zip file"
