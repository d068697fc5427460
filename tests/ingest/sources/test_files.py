from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.files import HEAD, read, too_large, type_by_name, type_of
from opensearch_winnow.ingest.sources.split import Failed, Item, Skipped, Split
from tests.ingest.sources.archives import Pack, little_memory, write_files

packed = pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])

CAP = 100_000
HTML = b"<!doctype html><title>A page</title><p>of words"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def one(path: Path, *, cap: int = CAP, every_text: bool = False) -> Item:
    """Return the only item that a file in a folder becomes."""
    found = list(read(Split("files", str(path.parent), names=(path.name,), every_text=every_text), cap))
    assert [offset for offset, _ in found] == [0, 1]
    assert found[1][1] is None
    item = found[0][1]
    assert item is not None
    return item


def kind_of(name: str, content: bytes) -> str:
    return type_of(f"/crawl/{name}", content[:HEAD])


def test_html_is_html_under_any_name() -> None:
    names = "a.html A.HTM a.xhtml a.shtml a.html.gz index index.html?id=3 view.php page.php@id=3 view.php?f=a.py"
    names += " www.example.org ünïcode a.asp a.aspx a.cgi a.do a.js a.txt a.xml"
    for name in names.split():
        assert kind_of(name, b"\xef\xbb\xbf\n<!-- saved -->\n<!DOCTYPE html><p>x") == "text/html"
        assert kind_of(name, b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">') == "text/html"
        assert kind_of(name, "\ufeff<HTML><body>x".encode("utf-16-le")) == "text/html"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("fragment", b"<div class=a>words</div>", "text/html"),
        ("late.php", b"Warning: something\n<html><body>", "text/html"),
        ("noisy.html", b"words and a \0 in between", "text/html"),
        ("README.md", b"<p align=center>Markdown</p>\n\n# Title", "text/plain"),
        ("notes.txt", b"plain words", "text/plain"),
        ("notes.rst", b"Title\n=====", "text/plain"),
        ("LICENSE", b"Permission is hereby granted", "text/plain"),
        ("latin1", "déjà vu".encode("latin-1"), "text/plain"),
        ("utf16.txt", "\ufeffwords".encode("utf-16-be"), "text/plain"),
        ("main.py", b'page = "<html>"', "text/x-python"),
        ("Main.java", b"class Main {}", "text/x-java"),
        ("a.css", b"p { color: red }", "text/css"),
        ("a.js", b"var x;", "text/javascript"),
        ("data.json", b'{"a": 1}', "application/json"),
        ("answer", b'[{"a": 1}]', "application/json"),
        ("feed", b"<?xml version='1.0'?><rss>", "text/xml"),
        ("code.php", b"<?php echo 1;", "text/x-php"),
        ("crawl.cdx", b" CDX N b a m s k r M S V g", "application/x-cdx"),
        ("photo", PNG, "image/png"),
        ("photo.html", PNG, "image/png"),
        ("paper.txt", b"%PDF-1.7 words", "application/pdf"),
        ("report.zip", b"PK\x03\x04", "application/zip"),
        ("report.docx", b"PK\x03\x04", "application/zip"),
        ("film.mp4", b"\0\0\0\x20ftypisom", "video/mp4"),
        ("thing", b"\0\1\2\3", "application/octet-stream"),
        ("thing.txt", b"\0\1\2\3", "application/octet-stream"),
    ],
)
def test_the_type_of_a_file(name: str, content: bytes, kind: str) -> None:
    assert kind_of(name, content) == kind


def test_a_file_name_tells_the_type_only_if_its_suffix_is_clear() -> None:
    assert type_by_name("a.tar.html.gz") == "text/html"
    assert type_by_name("a.json.zst") == "application/json"
    silent = ("index", "index.php", "index.html?id=3", "a.b@c=d", ".", "a.", "crawl.warc.gz", "a.wacz", "a.warc.wat.gz")
    assert {type_by_name(name) for name in silent} == {None}


def test_many_comments_before_the_page_are_skipped_quickly() -> None:
    assert kind_of("page", b"<!-- a -->" * 1_500) == "text/plain"
    assert kind_of("page", b"<!-- a -->" * 1_500 + b"<html>") == "text/html"


@pytest.mark.parametrize(
    ("name", "content", "kind"), [("a.html", HTML, "text/html"), ("a.txt", b"words", "text/plain")]
)
@packed
def test_a_page_is_read(tmp_path: Path, name: str, content: bytes, kind: str, pack: Pack) -> None:
    (tmp_path / name).write_bytes(pack(content))
    assert one(tmp_path / name) == Page((tmp_path / name).as_uri(), html=content, content_type=kind)


def test_the_url_of_a_file(tmp_path: Path) -> None:
    names = ("index.html?id=3&ä", os.fsdecode(b"caf\xe9 #1%.html"), "sub/a b.html")
    write_files(tmp_path, dict.fromkeys(names, HTML))
    encoded = ["index.html%3Fid%3D3%26%C3%A4", "caf%E9%20%231%25.html", "sub/a%20b.html"]
    for base, prefix in (("", f"file://{tmp_path}/"), ("https://example.org/", "https://example.org/")):
        found = list(read(Split("files", str(tmp_path), names=names, base=base), CAP))
        assert [item.url for _, item in found if isinstance(item, Page)] == [prefix + name for name in encoded]
    single = Split("files", str(tmp_path / names[0]), base="https://example.org/?id=3")
    assert [item for _, item in read(single, CAP)] == [Page(single.base, html=HTML, content_type="text/html"), None]


def test_source_code_is_a_page_only_with_every_text(tmp_path: Path) -> None:
    code, image, page = (tmp_path / name for name in ("a.py", "a.png", "a.html"))
    for path, content in ((code, b"print('words')"), (image, PNG), (page, b"words")):
        path.write_bytes(content)
    assert one(code) == Skipped(code.as_uri(), "type text/x-python")
    assert one(code, every_text=True) == Page(code.as_uri(), html=b"print('words')", content_type="text/plain")
    assert one(image, every_text=True) == Skipped(image.as_uri(), "type image/png")
    assert one(page, every_text=True) == Page(page.as_uri(), html=b"words", content_type="text/html")


@packed
@pytest.mark.parametrize("cap", [1_000, HEAD - 1, HEAD, HEAD + 1, CAP])
def test_the_size_limit_is_exact(tmp_path: Path, pack: Pack, cap: int) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(pack(b"x" * cap))
    page = one(path, cap=cap)
    assert isinstance(page, Page)
    assert page.html == b"x" * cap
    path.write_bytes(pack(b"x" * (cap + 1)))
    assert one(path, cap=cap) == Failed(Page(path.as_uri(), html=b"", content_type="text/html"), too_large(cap))


def test_how_a_size_limit_is_written() -> None:
    assert too_large(10_000_000) == too_large(10 << 20) == "larger than 10 MB"


def test_a_decompression_bomb_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.html.zst"
    path.write_bytes(zstandard.compress(bytes(100_000_000)))
    with little_memory(30_000_000):
        assert isinstance(one(path), Failed)


def test_unreadable_files_are_counted(tmp_path: Path) -> None:
    gone, loop, cut, pipe, empty = (tmp_path / name for name in ("gone.html", "loop", "cut.html.gz", "pipe", "empty"))
    loop.symlink_to(loop)
    cut.write_bytes(gzip.compress(os.urandom(1_000))[:-20])
    os.mkfifo(pipe)
    empty.touch()
    assert one(gone) == Failed(Page(gone.as_uri(), html=b""), "cannot be read: No such file or directory")
    assert one(loop) == Failed(Page(loop.as_uri(), html=b""), "cannot be read: Too many levels of symbolic links")
    assert one(cut) == Failed(Page(cut.as_uri(), html=b""), "gzip that is cut off")
    assert one(pipe) == Skipped(pipe.as_uri(), "not a file")
    assert one(empty) == Skipped(empty.as_uri(), "empty")


def test_a_file_without_permission_fails(as_anybody: Path) -> None:
    locked = as_anybody / "locked.html"
    locked.touch(0)
    assert one(locked) == Failed(Page(locked.as_uri(), html=b""), "cannot be read: Permission denied")


def test_a_damaged_archive_among_pages_is_reported(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.warc.gz": gzip.compress(b"WARC/1.0\r\n"), "a.parquet": b"PAR1"})
    for name in ("a.warc.gz", "a.parquet"):
        item = one(tmp_path / name)
        assert isinstance(item, Failed)
        assert item.reason.startswith("cannot be read as application/")


def test_a_split_of_files_can_be_cut_anywhere(tmp_path: Path) -> None:
    names = tuple(f"{number}.html" for number in range(5))
    write_files(tmp_path, dict.fromkeys(names, HTML))
    split = Split("files", str(tmp_path), names=names)
    whole = list(read(split, CAP))
    assert [offset for offset, _ in whole] == [0, 1, 2, 3, 4, 5]
    for cut in range(6):
        *left, end = read(replace(split, end=cut), CAP)
        assert end == (cut, None)
        assert left + list(read(replace(split, start=cut, end=5), CAP)) == whole
