"""Reads pages from WACZ files, which are zip files of WARC files, and from other zip files of web archives."""

from __future__ import annotations

import io
import mmap
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from opensearch_winnow.ingest.sources import arc, warc
from opensearch_winnow.ingest.sources.formats import is_zip_name
from opensearch_winnow.ingest.sources.members import DAMAGED, FileSlice
from opensearch_winnow.ingest.sources.split import Damage, Items, Split

HEAD_BYTES = 65_536
_PIECE = 1 << 20
MAX_UNPACKED_BYTES = 4_000_000_000  # of one archive that is compressed in the zip: 4 MB can unpack to as much
_IN_MEMORY = 16 << 20  # bytes of an archive that is compressed in the zip; a larger one goes through a temporary file
_SIGN_OF_ARCHIVE = re.compile(rb"\.w?arc\b|WARC/\d", re.IGNORECASE)
_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def looks_like(head: bytes) -> bool:
    """Return whether a file that starts with `head` is a zip file. Only `splits` shows if it contains archives."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def splits(path: str, size: int) -> Iterator[Split]:  # noqa: ARG001 (none of its members is cut)
    """Yield one split for each web archive in the file.

    A zip file that was cut off has lost the list of its members, and that of a damaged one may make no sense. It is
    read as a damaged WARC file, where records that are stored without compression are found all the same; but a .zip
    only if something in it looks like a web archive.
    """
    try:
        with zipfile.ZipFile(path) as zipped:
            for member in zipped.infolist():
                if _format(zipped, member):
                    yield Split("wacz", path, 0, None, member.compress_size, (member.filename,))
    except Exception:  # zipfile has many: also UnicodeDecodeError for a name, and OSError for an impossible offset
        if not is_zip_name(path) or _mentions_archive(path):
            yield Split("warc", path, 0, None, Path(path).stat().st_size)


def _mentions_archive(path: str) -> bool:
    """Return whether a zip file has the name of a web archive, or a record of one, anywhere in its bytes."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _SIGN_OF_ARCHIVE.search(content) is not None


def read(split: Split, page_bytes: int) -> Items:
    """Yield the pages of the member that `split.names` names. Offsets are those within the member."""
    with zipfile.ZipFile(split.path) as zipped:
        member = zipped.getinfo(split.names[0])
        reader = arc if _format(zipped, member) == "arc" else warc
        with opened(zipped, member, split.path) as (file, missing):
            for at, item in reader.read_file(file, page_bytes, split.start, split.end, split.archive):
                if item is None and missing:
                    yield at, Damage(missing, DAMAGED)
                yield at, item


def _format(zipped: zipfile.ZipFile, member: zipfile.ZipInfo) -> str:
    """Return the format of a member by its content, or by its name if the content cannot be read."""
    if member.filename.endswith("/"):  # is_dir() fails if the name is empty
        return ""
    try:
        with zipped.open(member) as file:
            head = file.read(HEAD_BYTES)
    except _ERRORS:
        name = member.filename.lower()
        return "warc" if ".warc" in name else "arc" if ".arc" in name else ""
    return "warc" if warc.looks_like(head) else "arc" if arc.looks_like(head) else ""


@contextmanager
def opened(zipped: zipfile.ZipFile, member: zipfile.ZipInfo, path: str) -> Iterator[tuple[IO[bytes], int]]:
    """Open a member as a seekable file; also yield how many of its bytes are missing."""
    if member.header_offset < 0:  # of a file that lost its first bytes
        yield io.BytesIO(), max(member.file_size, 1)
        return
    if member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & 1:  # encrypted
        with Path(path).open("rb") as file:
            file.seek(member.header_offset + 26)
            lengths = file.read(4)  # of the name, and of the extra field in front of the content
            start = (
                member.header_offset
                + 30
                + int.from_bytes(lengths[:2], "little")
                + int.from_bytes(lengths[2:], "little")
            )
            end = max(start, min(start + member.file_size, file.seek(0, io.SEEK_END)))
            yield io.BufferedReader(FileSlice(file, start, end), HEAD_BYTES), start + member.file_size - end
        return
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copy:
        try:
            with zipped.open(member) as content:
                while piece := content.read(_PIECE):
                    copy.write(piece)
                    if copy.tell() > MAX_UNPACKED_BYTES:
                        raise EOFError  # the rest is reported as damage
        except _ERRORS:
            yield copy, max(member.file_size - copy.tell(), 1)
        else:
            yield copy, 0
