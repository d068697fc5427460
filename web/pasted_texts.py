"""Pasted texts and uploaded files: read from a form, and kept in memory so that their results can be reloaded."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from secrets import token_hex
from threading import Lock

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.files import HEAD, HTML, TEXT, begins_as_html, is_text, type_of
from opensearch_winnow.ingest.sources.split import Failed
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.page_finder import PASTED_URL
from opensearch_winnow.web.form import FormError

EXPIRY_MINUTES = 60  # after the last use
MAX_TOTAL_CHARS = 32_000_000  # of all texts: beyond it, the least recently used are dropped
ID_PREFIX = "pasted-"  # followed by 32 random hex digits: an id cannot be guessed
FORM_HINT = "paste one, or choose a file"
API_HINT = 'send text, HTML or a file; as JSON, {"text": …} or {"html": …}'
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


@dataclass(frozen=True, slots=True)
class PastedText:
    text: str
    name: str = ""  # of the uploaded file


class PastedTexts:
    """Keeps pasted texts by id until they expire."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._texts: dict[str, tuple[float, PastedText]] = {}  # time of the last use; least recently used first

    def add(self, pasted: PastedText) -> str:
        """Keep the text and return its id."""
        id_ = ID_PREFIX + token_hex(16)
        with self._lock:
            self._texts[id_] = time.monotonic(), pasted
            self._drop_expired()
        return id_

    def get(self, id_: str) -> PastedText | None:
        with self._lock:
            self._drop_expired()
            if id_ not in self._texts:
                return None
            _, pasted = self._texts.pop(id_)
            self._texts[id_] = time.monotonic(), pasted
            return pasted

    def _drop_expired(self) -> None:
        total = sum(len(pasted.text) for _, pasted in self._texts.values())
        for id_, (used, pasted) in list(self._texts.items()):
            too_much = total > MAX_TOTAL_CHARS and len(self._texts) > 1
            if too_much or time.monotonic() - used > 60 * EXPIRY_MINUTES:
                del self._texts[id_]
                total -= len(pasted.text)


def text_from_form(index: Index, form: Mapping[str, str | bytes], *, hint: str = FORM_HINT) -> PastedText:
    """Return the text of the form's `file`, `html` or `text`. HTML is extracted as for the pages of the store.

    `hint` tells the user what to do if there is none.
    """
    page, name = _page_from_form(form, hint)
    record = index.prepare(page)
    if isinstance(record, Record) and (record.hashes.shingle_count or canonical(record.text, index.scheme).chars):
        return PastedText(record.text, name)
    what = "This file" if name else "This text"
    why = f"cannot be checked: {record.reason}" if isinstance(record, Failed) else "has no words to look for"
    raise FormError(f"{what} {why}.", "file" if name else "text")


def _page_from_form(form: Mapping[str, str | bytes], hint: str) -> tuple[Page, str]:
    """Return the sent text or file as a page, and the name of the file."""
    file, html, text = form.get("file"), form.get("html"), form.get("text")
    if isinstance(file, bytes) and file:
        name = str(form.get("file.filename", ""))
        head = file[:HEAD]
        kind = type_of(name, head)
        if kind != HTML and not is_text(head):
            known = file_kind(name, file)
            what = f"is {known}" if known else "is not a text file"
            raise FormError(
                f"{name or 'This file'} {what}. Save it as text or HTML, or copy its text into the box.", "file"
            )
        return Page(PASTED_URL, html=file, content_type=HTML if kind == HTML else TEXT), name
    if isinstance(html, str) and html:
        return Page(PASTED_URL, html=html), ""
    if isinstance(text, str) and text.strip():
        return (Page(PASTED_URL, html=text) if begins_as_html(text) else Page(PASTED_URL, text=text)), ""
    raise FormError(f"There is no text to look for: {hint}.", "text")


def file_kind(name: str, content: bytes) -> str | None:
    """Return the kind of a file without plain text, such as "a PDF"; None if it is unknown."""
    named = OFFICE_NAMES.get(PurePath(name.lower()).suffix.removeprefix("."))
    if content.startswith(OLD_OFFICE):
        return named or "an Office document"
    if content.startswith(ZIP):
        return named or next((kind for part, kind in OFFICE_PARTS if part in content), "a ZIP archive")
    return next((kind for signature, kind in SIGNATURES if signature.match(content)), None)
