"""Recognises files that have no text to compare, by their first bytes."""

from __future__ import annotations

import re
from pathlib import PurePath

OFFICE_NAMES = {
    **dict.fromkeys(("docx", "docm", "dotx", "doc", "dot"), "a Word document"),
    **dict.fromkeys(("xlsx", "xlsm", "xls"), "an Excel workbook"),
    **dict.fromkeys(("pptx", "pptm", "ppt"), "a PowerPoint presentation"),
    **dict.fromkeys(("odt", "ott"), "an OpenDocument text"),
    "ods": "an OpenDocument spreadsheet",
    "odp": "an OpenDocument presentation",
    "epub": "an e-book",
}
# The files that the format requires, for documents with another name.
OFFICE_PARTS = (
    (b"word/", "a Word document"),
    (b"xl/", "an Excel workbook"),
    (b"ppt/", "a PowerPoint presentation"),
    (b"opendocument.text", "an OpenDocument text"),
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet"),
    (b"opendocument.presentation", "an OpenDocument presentation"),
    (b"epub+zip", "an e-book"),
)
ZIP = b"PK\x03\x04"
SIGNATURES = (
    (re.compile(rb"%PDF-"), "a PDF"),
    (re.compile(rb"%!PS"), "a PostScript file"),
    (re.compile(rb"\{\\rtf"), "an RTF document"),
    (re.compile(rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP|II\*\0|MM\0\*|BM.{4}\0{4}", re.DOTALL), "an image"),
    (re.compile(rb".{4}ftyp(?:avif|heic|heix|mif1)", re.DOTALL), "an image"),
    (re.compile(rb"\x1f\x8b|BZh|7z\xbc\xaf\x27\x1c|\xfd7zXZ|\x28\xb5\x2f\xfd|Rar!"), "a compressed file"),
)
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # OLE, the container of Office before 2007


def file_kind(name: str, content: bytes) -> str | None:
    """Return what a file without plain text is, such as "a PDF", or None if that cannot be told."""
    named = OFFICE_NAMES.get(PurePath(name.lower()).suffix.removeprefix("."))
    if content.startswith(OLD_OFFICE):
        return named or "an Office document"
    if content.startswith(ZIP):
        return named or next((kind for part, kind in OFFICE_PARTS if part in content), "a ZIP archive")
    return next((kind for signature, kind in SIGNATURES if signature.match(content)), None)
