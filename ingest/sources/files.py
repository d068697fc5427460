"""Reads pages that are files: saved HTML and text, plain or compressed. The name and the first bytes show the type."""

from __future__ import annotations

import os
import re
import stat
from functools import cache
from mimetypes import MimeTypes
from pathlib import Path
from typing import IO
from urllib.parse import quote, unquote_to_bytes, urlsplit

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.split import Failed, Item, Items, Skipped, Split
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked

HTML, TEXT = "text/html", "text/plain"
HEAD = 16_384  # bytes of a file by which its type is recognised

_TYPES = {
    **dict.fromkeys(("html", "htm", "xhtml", "xht", "shtml", "shtm"), HTML),
    **dict.fromkeys(("txt", "text", "md", "markdown", "rst", "adoc", "asciidoc", "org"), TEXT),
    **dict.fromkeys(("cdx", "cdxj"), "application/x-cdx"),  # the index of a web archive: text, but no page
    "log": "text/x-log",  # of a crawler
    "parquet": "application/vnd.apache.parquet",
}
# Endings of programs: crawlers save under these names what the programs have sent. WAT is also a language.
_UNSURE = {"php", "php3", "php4", "php5", "phtml", "asp", "aspx", "jsp", "jspx", "cgi", "cfm", "pl", "do", "dll", "wat"}
_ARCHIVES = ("application/warc", "application/x-arc", "application/vnd.apache.parquet")
_SIGNATURES = (
    (b"WARC/", _ARCHIVES[0]),
    (b"filedesc://", _ARCHIVES[1]),
    (b"PAR1", _ARCHIVES[2]),
    (b"%PDF-", "application/pdf"),
    (b"%!PS", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
_BEFORE = rb"(?:\xef\xbb\xbf)?(?:\s|<!--(?:(?!-->).)*-->|<\?xml[^>]*>)*"
_PAGE_TAG = rb"<(?:!doctype\s+html|html|head|body|title)[\s>]"
_ANY_TAG = (
    rb"<(?:meta|link|script|style|base|div|p|span|table|h[1-6]|ul|ol|br|hr|a|b|i|img|font|center|form|iframe|article"
    rb"|section|header|main|nav)[\s>/]"
)
_IS_HTML = re.compile(_BEFORE + _PAGE_TAG, re.IGNORECASE | re.DOTALL)
_MAY_BE_HTML = re.compile(_BEFORE + rb"(?:" + _PAGE_TAG + rb"|" + _ANY_TAG + rb")", re.IGNORECASE | re.DOTALL)
_HTML_SOMEWHERE = re.compile(_PAGE_TAG, re.IGNORECASE)
_BEGINS_AS_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]\d])")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # control characters that are not used in text
_ENDING = re.compile(r"\.([a-z0-9+]{1,9})", re.IGNORECASE)
_UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def read(split: Split, page_bytes: int) -> Items:
    """Yield the files of `split`. Without `names`, `path` is a single file, and `base` its URL."""
    names = split.names or ("",)
    end = len(names) if split.end is None else min(split.end, len(names))
    for i in range(split.start, end):
        name = names[i]
        path = os.path.join(split.path, name) if name else split.path  # noqa: PTH118 (a Path for each file is slow)
        url = split.base + quote(os.fsencode(name)) if split.base else file_uri(path)
        if split.skipped or split.failed:
            yield i, Failed(Page(url, html=b""), split.failed) if split.failed else Skipped(url, split.skipped)
        else:
            yield i, _item(path, url, page_bytes, every_text=split.every_text)
    yield max(split.start, end), None


def file_uri(path: str) -> str:
    return "file://" + quote(os.fsencode(Path(path).absolute()))


def path_of(url: str) -> str:
    """Return the path in a `file_uri`; an empty string for any other URL, such as that of a row in a file."""
    is_file = url.startswith("file:///") and "#" not in url
    return os.fsdecode(unquote_to_bytes(urlsplit(url).path)) if is_file else ""


def _item(path: str, url: str, page_bytes: int, *, every_text: bool) -> Item:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
        if stat.S_ISDIR(mode):
            os.scandir(path).close()  # `Folder.files` yields a folder as if it were a file if this fails
        if not stat.S_ISREG(mode):
            return Skipped(url, "not a file")
        with unpacked(path) as file:
            return read_page(file, path, url, page_bytes, every_text=every_text)
    except OSError as error:
        return Failed(Page(url, html=b""), f"cannot be read: {error.strerror}")
    except DamagedError as error:
        return Failed(Page(url, html=b""), str(error))


def read_page(file: IO[bytes], path: str, url: str, page_bytes: int, *, every_text: bool) -> Item:
    """Return the page that an open file is. Its `path`, which need not exist, tells the type."""
    head = file.read(HEAD)
    kind = type_of(path, head)
    if kind in _ARCHIVES:  # it is read as a page only if it could not be opened as an archive
        return Failed(Page(url, html=b""), f"cannot be read as {kind}")
    if every_text and is_text(head) and kind != HTML:
        kind = TEXT
    if kind not in (HTML, TEXT):
        return Skipped(url, f"type {kind}")
    if not head:
        return Skipped(url, "empty")
    body = head + file.read(page_bytes + 1 - len(head)) if len(head) <= page_bytes else head
    if len(body) > page_bytes:
        return Failed(Page(url, html=b"", content_type=kind), too_large(page_bytes))
    return Page(url, html=body, content_type=kind)


def too_large(page_bytes: int) -> str:
    return f"larger than {page_bytes / (1_000_000 if page_bytes % (1 << 20) else 1 << 20):.4g} MB"


def type_by_name(path: str) -> str | None:
    """Return the type that the ending of a name stands for; None if it stands for no type, or for several."""
    name = os.path.basename(path).lower()  # noqa: PTH119
    name = name.removesuffix(".gz").removesuffix(".zst")
    _, dot, ending = name.rpartition(".")
    if not dot or "?" in name or ending in _UNSURE or not _ENDING.fullmatch(dot + ending):
        return None
    return _TYPES.get(ending) or _others().get(ending)


def type_of(path: str, head: bytes) -> str:
    """Return the type of a file that starts with `head`: HTML by the content, kinds of text by the name."""
    if signed := _signed(head):
        return signed
    named = type_by_name(path)
    head = _as_ascii(head)
    if _IS_HTML.match(head) or named == HTML:
        return HTML
    if not is_text(head):
        return named if named and named != TEXT else "application/octet-stream"
    if named:
        return named
    if _MAY_BE_HTML.match(head) or _HTML_SOMEWHERE.search(head, 0, 1_024):
        return HTML
    if head.startswith((b"<?php", b"<%")):
        return "text/x-php" if head.startswith(b"<?php") else "text/x-asp"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<?xml"):
        return "text/xml"
    return "application/json" if _BEGINS_AS_JSON.match(head) else TEXT


def is_text(head: bytes) -> bool:
    return not _signed(head) and not _BINARY.search(_as_ascii(head))


def _signed(head: bytes) -> str | None:
    return next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), None)


def begins_as_html(text: str) -> bool:
    return bool(_MAY_BE_HTML.match(text[:1_024].encode("utf-8", "replace")))


def _as_ascii(head: bytes) -> bytes:
    encoding = _UTF_16.get(head[:2])
    return head[2:].decode(encoding, "ignore").encode("utf-8", "ignore") if encoding else head


@cache
def _others() -> dict[str, str]:
    """Return the types of endings that are neither HTML nor plain text, the same on every machine."""
    from pygments.lexers import get_all_lexers  # noqa: PLC0415 (not needed to read web archives)

    types: dict[str, str] = {}
    for _, names, patterns, kinds in get_all_lexers(plugins=False):
        for pattern in patterns:
            if pattern.startswith("*.") and _ENDING.fullmatch(pattern[1:]):
                types.setdefault(pattern[2:].lower(), kinds[0] if kinds else f"text/x-{names[0] if names else 'code'}")
    known = MimeTypes().types_map[True]
    types |= {ending[1:]: kind for ending, kind in known.items() if kind not in (HTML, TEXT)}
    return {ending: "text/javascript" if kind == "application/javascript" else kind for ending, kind in types.items()}
