"""Recognises the format of a file by its content; in a folder, by its name where that is enough."""

from __future__ import annotations

import os
import re
import stat
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from opensearch_winnow.foundation.extras import MissingExtraError, extra
from opensearch_winnow.ingest.sources import csv_file, files, jsonl
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.ingest.sources.source_row import RowChoice, Rows
from opensearch_winnow.ingest.sources.split import Items, Split
from opensearch_winnow.ingest.sources.unpacked import ZSTD, DamagedError, is_packed, unpacked

ARCHIVES = ("warc", "arc", "wacz")
LZ4 = b"\x04\x22\x4d\x18"  # its first bytes
BLOCKS = (ZSTD, LZ4)  # formats whose blocks can only be read as a whole
BLOCK = 4 << 20  # bytes of the largest block
JSON_LINES = re.compile(r".*\.(?:jsonl|ndjson|jsonlines)(?:\.gz|\.zst)?", re.IGNORECASE | re.DOTALL)
# Types that do not decide the format: only the content does.
SEVERAL_KINDS = ("application/json", "application/vnd.apache.parquet", "application/zip")


class Reader(Protocol):
    """A module that reads files of one format: rows of JSON lines, CSV and Parquet, and items of all others."""

    def looks_like(self, head: bytes) -> bool: ...
    def splits(self, path: str, size: int) -> Iterator[Split]: ...
    def read(self, split: Split, page_bytes: int) -> Items: ...
    def rows(self, split: Split, choice: RowChoice) -> Rows: ...


def reader(name: str) -> Reader:
    return cast("Reader", import_module(f"{__package__}.{name}"))  # imported when needed: some are slow to import


def format_of(path: str) -> tuple[str, bytes]:
    """Return the format of a file, and its first bytes, unpacked unless a reader of archives unpacks them."""
    with open(path, "rb") as file:  # noqa: PTH123
        head = file.read(files.HEAD)
        if head.startswith(BLOCKS):
            head += file.read(BLOCK)
    if head.startswith(b"PAR1"):
        with extra("parquet"):
            reader("parquet")
        return "parquet", head
    packed = is_packed(head)
    if packed or head.lstrip().startswith((LZ4, b"WARC/", b"filedesc:", b"PK\x03\x04")):
        for kind in ARCHIVES:
            if _is_archive(kind, head, path) and (kind != "wacz" or any(reader(kind).splits(path, sys.maxsize))):
                with extra("archives"):  # complain here, rather than in each worker
                    import_module("fastwarc")
                    import_module("brotli")
                return kind, head  # a zip file only if there are archives in it
    if packed:
        with unpacked(path) as content:
            head = content.read(files.HEAD)
    return "jsonl" if jsonl.looks_like(head) else "files", head


def _is_archive(kind: str, head: bytes, path: str) -> bool:
    try:
        return reader(kind).looks_like(head)
    except MissingExtraError:  # to look into a frame of Zstandard or LZ4: other files are read without the extra
        if head.startswith(ZSTD):
            with suppress(DamagedError), unpacked(path) as content:
                if not content.read(files.HEAD).lstrip().startswith((b"WARC/", b"filedesc:")):
                    return False
        raise


def format_in_folder(path: str, fields: FieldNames = USUAL) -> str:
    """Return the format by the name, because there may be a million files; by the content where that is not enough."""
    if JSON_LINES.fullmatch(path):
        return "jsonl"
    if csv_file.NAME.fullmatch(path):
        return "csv_file" if _is_csv_with_text(path, fields) else "files"
    named = files.type_by_name(path)
    if named is not None and named not in SEVERAL_KINDS:
        return "files"
    try:
        if stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 (opening a pipe would wait)
            return format_of(path)[0]
    except (OSError, DamagedError):
        pass
    return "files"


def is_zip(path: str) -> bool:
    """Return whether a file is read like a folder. Others, such as .docx and .jar, are zip files of another purpose."""
    return is_zip_name(path) and Path(path).is_file() and zipfile.is_zipfile(path)  # opening a pipe would wait


def is_damaged_zip(path: str) -> bool:
    """Return whether a file is a zip file by its name, but not by its content, which is no saved page either."""
    if not is_zip_name(path) or not Path(path).is_file() or zipfile.is_zipfile(path):
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return files.type_of(path, file.read(files.HEAD)) != files.HTML
    except OSError:
        return False  # it is not damaged, but cannot be read


def is_zip_name(path: str) -> bool:
    return path.lower().endswith(".zip")


def _is_csv_with_text(path: str, fields: FieldNames) -> bool:
    """Return whether a column of a CSV file holds the text of its rows: others are data, not pages."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            return False
        names = csv_file.columns_of(path, fields)
    except (OSError, DamagedError, UnicodeDecodeError):
        return False
    return fields.has_content(names)
