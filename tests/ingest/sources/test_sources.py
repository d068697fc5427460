from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import (
    MAX_FILES_PER_SPLIT,
    MAX_FILES_TO_SIZE,
    SourceError,
    Sources,
    read,
)
from opensearch_winnow.ingest.sources.split import Failed, Item, Skipped

pytestmark = pytest.mark.filterwarnings(
    "ignore:Use the new Reader and Writer:DeprecationWarning"
)  # FastWARC warns about its own code

CAP = 1_000_000
SIZE = 1_000_000
HTML = b"<!doctype html><title>A page</title><p>of words"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
LINE = b'{"url": "https://example.org/line", "text": "words"}\n'


def warc(url: str) -> bytes:
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(HTML), HTML)
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + body + b"\r\n\r\n")


def items(*names: str | Path, size: int = SIZE, base: str = "", every_text: bool = False) -> list[Item]:
    with Sources([str(name) for name in names], base=base, every_text=every_text) as sources:
        return [item for split in sources.splits(size) for _, item in read(split, CAP) if item is not None]


def outcomes(found: list[Item]) -> dict[str, str]:
    """Return by URL whether an item is a page, or else the reason."""
    said = {}
    for item in found:
        if isinstance(item, Page):
            said[item.url] = "page"
        elif isinstance(item, Skipped):
            said[item.url] = item.reason
        else:
            assert isinstance(item, Failed)
            said[item.page.url] = item.reason
    assert len(said) == len(found)
    return said


def urls(*names: str | Path, base: str = "") -> list[str]:
    return list(outcomes(items(*names, base=base)))


def complaints(*names: str | Path, base: str = "") -> list[str]:
    with pytest.raises(SourceError) as caught:
        Sources([str(name) for name in names], base=base)
    return str(caught.value).splitlines()


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A folder such as a crawler leaves behind."""
    folder = tmp_path / "mirror"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    for name in ("index.html", "index.html?id=3", "sub/a.html", "sub/deep/b.txt", ".git/c.html", ".hidden.html"):
        (folder / name).write_bytes(HTML)
    (folder / "logo.png").write_bytes(PNG)
    (folder / "app.js").write_bytes(b"var a;")
    (folder / "sub" / "data.json").write_bytes(b'{"a": 1}')
    (folder / "sub" / "archive.warc.gz").write_bytes(warc("https://example.org/archived"))
    (folder / "lines.jsonl").write_bytes(LINE)
    with zipfile.ZipFile(folder / "letter.docx", "w") as zipped:
        zipped.writestr("word/document.xml", "<xml>")
    with zipfile.ZipFile(folder / "crawl.wacz", "w") as zipped:
        zipped.writestr("archive/data.warc.gz", warc("https://example.org/zipped"))
    (folder / "pipe.html").symlink_to(folder / "nothing.html")
    (folder / "up").symlink_to(folder)
    return folder


# --- folders ----------------------------------------------------------------------------------------------------------


def test_everything_in_a_folder_is_counted(mirror: Path) -> None:
    at = mirror.as_uri()
    assert outcomes(items(mirror)) == {
        "https://example.org/zipped": "page",
        "https://example.org/line": "page",
        "https://example.org/archived": "page",
        f"{at}/letter.docx": "type application/zip",
        f"{at}/app.js": "type text/javascript",
        f"{at}/index.html": "page",
        f"{at}/index.html%3Fid%3D3": "page",
        f"{at}/logo.png": "type image/png",
        f"{at}/pipe.html": "symbolic link",
        f"{at}/up": "symbolic link",
        f"{at}/sub/a.html": "page",
        f"{at}/sub/data.json": "type application/json",
        f"{at}/sub/deep/b.txt": "page",
    }


def test_every_text_includes_source_code(mirror: Path) -> None:
    found = outcomes(items(mirror, every_text=True))
    left_out = [url.rpartition("/")[2] for url, said in found.items() if said.startswith("type ")]
    assert left_out == ["letter.docx", "logo.png"]


@given(size=st.integers(1, 500))
def test_items_do_not_depend_on_the_size_of_splits(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    folder = tmp_path_factory.getbasetemp() / "sizes"
    if not folder.exists():
        folder.mkdir()
        for number in range(20):
            (folder / f"{number:02}.html").write_bytes(HTML * (number % 5))
        (folder / "lines.ndjson").write_bytes(LINE * 9)
        pq.write_table(pa.table({"url": ["u", "v"], "text": ["x", "y"]}), folder / "rows.parquet", row_group_size=1)
    with Sources([str(folder)]) as sources:
        splits = list(sources.splits(size))
        assert splits == list(sources.splits(size))
        assert all(len(split.names) == 1 or split.size <= size for split in splits if split.format == "files")
        total = sources.size
    assert total == sum(file.stat().st_size for file in folder.iterdir())
    assert sum(split.size for split in splits) <= total
    # Archives come before pages: a split of pages is complete only when it has enough of them.
    assert sorted(items(folder, size=size), key=repr) == sorted(items(folder), key=repr)


def test_a_folder_is_walked_lazily(tmp_path: Path) -> None:
    for number in range(2 * MAX_FILES_PER_SPLIT + 1):
        (tmp_path / f"{number:05}.html").write_bytes(HTML)
    with Sources([str(tmp_path)]) as sources:
        splits = sources.splits(SIZE)
        first = next(splits)
        assert first.names == tuple(f"{number:05}.html" for number in range(MAX_FILES_PER_SPLIT))
        assert (first.start, first.end, first.size) == (0, MAX_FILES_PER_SPLIT, MAX_FILES_PER_SPLIT * len(HTML))
        (tmp_path / f"{MAX_FILES_PER_SPLIT:05}.html").unlink()
        found = [item for split in splits for _, item in read(split, CAP) if item is not None]
    assert [type(item) for item in found] == [Failed] + [Page] * MAX_FILES_PER_SPLIT


def test_a_folder_that_was_deleted_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.html").write_bytes(HTML)
    with Sources([str(folder)]) as sources:
        (folder / "a.html").unlink()
        folder.rmdir()
        found = [item for split in sources.splits(SIZE) for _, item in read(split, CAP) if item is not None]
    assert outcomes(found) == {folder.as_uri(): "cannot be read: No such file or directory"}


@pytest.mark.check
def test_the_size_of_sources(tmp_path: Path) -> None:
    for number in range(MAX_FILES_TO_SIZE):
        (tmp_path / f"{number}.html").touch()
    (tmp_path / "0.html").write_bytes(HTML)
    with Sources([str(tmp_path)]) as sources:
        assert sources.size == len(HTML)
    (tmp_path / "one more.html").touch()
    with Sources([str(tmp_path)]) as sources:
        assert sources.size is None


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / os.fsdecode(b"\xff.html")).write_bytes(HTML)
    (folder / os.fsdecode(b"\xff.jsonl")).write_bytes(LINE)
    assert urls(folder) == ["https://example.org/line", f"file://{tmp_path}/caf%E9/%FF.html"]
    assert urls(f"{folder}/*.html") == [f"file://{tmp_path}/caf%E9/%FF.html"]
    assert complaints(tmp_path / os.fsdecode(b"gone\xff")) == [f"there is no file or folder {tmp_path}/gone\ufffd"]


def test_a_data_set_written_by_spark_is_read(tmp_path: Path) -> None:
    table = pa.table({"url": ["u"], "text": ["x"]})
    for name in ("part-00000.snappy.parquet", "part-00001.snappy.parquet", "_metadata"):
        pq.write_table(table, tmp_path / name)
    pq.write_table(table.slice(0, 0), tmp_path / "part-00002.snappy.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "._SUCCESS.crc").write_bytes(b"crc\0")
    assert items(tmp_path) == [Page("u", text="x")] * 2


def test_an_unreadable_file_does_not_stop_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 damaged")
    pq.write_table(pa.table({"other": [1]}), tmp_path / "b.parquet")
    (tmp_path / "c.jsonl").symlink_to("gone")
    (tmp_path / "d.html").write_bytes(HTML)
    assert list(outcomes(items(tmp_path)).values()) == [
        "Parquet that cannot be read: it has no footer, so its end is missing",
        "no field with a text",
        "symbolic link",
        "page",
    ]


# --- names ------------------------------------------------------------------------------------------------------------


def test_patterns_match_as_in_the_shell(mirror: Path) -> None:
    at = mirror.as_uri()
    assert urls(mirror / "*.html") == [f"{at}/index.html", f"{at}/pipe.html"]
    assert urls(mirror / "s?b" / "[ab].html") == [f"{at}/sub/a.html"]
    assert urls(mirror / "**" / "*.txt") == [f"{at}/sub/deep/b.txt"]
    assert urls(mirror / "**" / "a.*") == [f"{at}/sub/a.html"]
    assert urls(mirror / "**" / "sub" / "**" / "b.*") == [f"{at}/sub/deep/b.txt"]
    assert urls(mirror / "s*") == urls(mirror / "sub") == urls(mirror / "sub" / "**")
    assert urls(mirror / "index.html?id=3") == [f"{at}/index.html%3Fid%3D3"]  # a file with this name exists
    assert urls(mirror / "index.html?i?=3") == [f"{at}/index.html%3Fid%3D3"]


def test_what_is_named_twice_is_read_once(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mirror)
    (mirror.parent / "link").symlink_to(mirror)
    once = sorted(urls(mirror))
    for again in (
        ["index.html", ".", mirror],
        [mirror, "index.html", "./index.html", f"{mirror.as_uri()}/index.html"],
        ["sub", ".", "sub/deep"],
        [".", "sub", "**/*.html"],
        ["*.html", "index*", "."],
        [mirror, mirror.parent / "link"],
    ):
        assert sorted(urls(*again)) == once
    assert urls("index.html", "../mirror/index.html") == [f"{mirror.as_uri()}/index.html"]


def test_sources_of_different_kinds_are_read_together(mirror: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    pq.write_table(pa.table({"url": ["https://example.org/row"], "html": ["<p>x"]}), rows)
    lines = tmp_path / "lines"
    lines.write_bytes(gzip.compress(LINE))
    page = tmp_path / "page"
    page.write_bytes(gzip.compress(HTML))
    found = urls(rows, lines, page, mirror / "sub" / "archive.warc.gz", mirror / "sub" / "deep", mirror / "app.js")
    assert found == [
        "https://example.org/row",
        "https://example.org/line",
        "https://example.org/archived",
        page.as_uri(),
        f"{mirror.as_uri()}/app.js",  # skipped in folders, but read if it is named
        f"{mirror.as_uri()}/sub/deep/b.txt",
    ]


def test_urls_with_a_base(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mirror)
    base = "https://example.org"
    whole = {url for url in urls(mirror, base=base) if url.startswith(f"{base}/") and "%3F" not in url}
    assert {f"{base}/index.html", f"{base}/sub/a.html", f"{base}/sub/deep/b.txt"} <= whole
    assert urls("index.html", base=base) == [f"{base}/index.html"]
    assert urls("sub/a.html", base=base) == [f"{base}/a.html"]
    assert urls("sub/a.html", "sub/deep/b.txt", base=base) == [f"{base}/a.html", f"{base}/deep/b.txt"]
    assert {f"{base}/index.html", f"{base}/sub/a.html"} <= set(urls("sub", "index.html", base=f"{base}/"))
    assert urls("*/*.html", base=f"{base}/?file=") == [f"{base}/?file=sub/a.html"]


# --- error messages ---------------------------------------------------------------------------------------------------


def test_all_errors_are_reported_at_once(mirror: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "nothing").mkdir()
    (tmp_path / "images").mkdir()
    for name in ("a.png", "b.png", "c"):
        (tmp_path / "images" / name).write_bytes(PNG)
    (tmp_path / "array.json").write_bytes(b'[{"url": "u", "text": "x"}]')
    (tmp_path / "pretty.jsonl").write_bytes(b'{\n  "url": "u"\n}')
    (tmp_path / "wide.jsonl").write_bytes('{"url": "u", "text": "x"}\n'.encode("utf-16"))
    (tmp_path / "damaged.jsonl.gz").write_bytes(gzip.compress(LINE)[:10])
    (tmp_path / "empty.jsonl.gz").write_bytes(gzip.compress(b""))
    with zipfile.ZipFile(tmp_path / "letter.docx", "w") as zipped:
        zipped.writestr("word/document.xml", "<xml>")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7 in letters only")
    pq.write_table(pa.table({"address": ["u"]}), tmp_path / "rows.parquet")
    pq.write_table(pa.table({"url": pa.array([], pa.string()), "text": pa.array([], pa.string())}), tmp_path / "none")
    at = f"{tmp_path}/"
    accepted = (
        "pages are read from HTML, text, JSONL, CSV, Parquet, WARC, ARC and WACZ files, and from folders of these"
    )
    not_lines = "is JSON, but not JSONL, which has an object with url and html or text on each line"
    expected = {
        "https://example.org/": "https://example.org/ is an address. Sources are files: fetch it first, "
        "for example with wget --warc-file",
        f"{at}gone": f"there is no file or folder {at}gone",
        f"{at}mirror/index.html/x": f"there is no file or folder {at}mirror/index.html/x",
        f"{at}*.warc.gz": f"no file with pages matches {at}*.warc.gz: {accepted}",
        f"{at}gone/*": f"no file with pages matches {at}gone/* (1 × cannot be read: No such file or directory): "
        f"{accepted}",
        f"{at}empty": f"{at}empty is empty",
        f"{at}nothing": f"there is no page in {at}nothing: {accepted}",
        f"{at}images": f"there is no page in {at}images (3 × type image/png): {accepted}",
        f"{at}images/c": f"{at}images/c is image/png: {accepted}",
        f"{at}array.json": f"{at}array.json {not_lines}: jq -c '.[]' turns an array into JSONL",
        f"{at}pretty.jsonl": f"{at}pretty.jsonl {not_lines}: jq -c '.[]' turns an array into JSONL",
        f"{at}wide.jsonl": f"{at}wide.jsonl is UTF-16, and JSONL is UTF-8: convert it, for example with "
        "iconv -f UTF-16 -t UTF-8",
        f"{at}damaged.jsonl.gz": f"{at}damaged.jsonl.gz cannot be read: gzip that is cut off",
        f"{at}empty.jsonl.gz": f"{at}empty.jsonl.gz is empty",
        f"{at}letter.docx": f"{at}letter.docx is application/zip: {accepted}",
        f"{at}paper.pdf": f"{at}paper.pdf is application/pdf: {accepted}",
        f"{at}rows.parquet": f"{at}rows.parquet has no field with a text: its fields are address; name the one that "
        "holds the text with --text-field or FieldNames(text=…)",
        f"{at}none": f"{at}none is empty",
        "/dev/zero": f"/dev/zero is neither a file nor a folder: {accepted}",
    }
    assert complaints(mirror, *expected) == list(expected.values())


def test_missing_sources_and_invalid_bases_are_refused() -> None:
    assert complaints()[0].startswith("no source is named: pages are read from")
    assert complaints("gone", base="example.org")[0].endswith(", not example.org")
    assert len(complaints("gone", base="example.org")) == 2


def test_a_folder_that_cannot_be_read(as_anybody: Path) -> None:
    (as_anybody / "locked").mkdir(mode=0)
    (as_anybody / "a.html").write_bytes(HTML)
    found = outcomes(items(as_anybody))
    (as_anybody / "locked").chmod(0o700)
    assert found[f"{as_anybody.as_uri()}/locked"] == "cannot be read: Permission denied"


# --- standard input ---------------------------------------------------------------------------------------------------


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """A function that replaces standard input. Temporary files go to `tmp_path`."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def pipe(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe


def test_standard_input_may_have_any_format(tmp_path: Path, piped: Callable[[bytes], None]) -> None:
    for content, url in (
        (LINE, "https://example.org/line"),
        (gzip.compress(LINE), "https://example.org/line"),
        (warc("https://example.org/archived"), "https://example.org/archived"),
        (HTML, "file:///dev/stdin"),
        (b"words", "file:///dev/stdin"),
        (LINE + b"not json", "https://example.org/line"),
    ):
        piped(content)
        found = items("-", "-")
        assert isinstance(found[0], Page)
        assert found[0].url == url
        for failed in found[1:]:
            assert isinstance(failed, Failed)
            assert failed.page.url == f"file:///dev/stdin#byte={len(LINE)}"
        assert not list(tmp_path.iterdir())
    piped(HTML)
    assert urls("-", base="https://example.org/a?b=c") == ["https://example.org/a?b=c"]


def test_the_temporary_file_is_always_removed(tmp_path: Path, piped: Callable[[bytes], None]) -> None:
    piped(PNG)
    assert complaints("-")[0].startswith("standard input is image/png: pages are read from")
    piped(b"")
    assert complaints("-") == ["standard input is empty"]
    piped(HTML)
    assert len(complaints("-", "gone")) == 1
    piped(HTML)
    with Sources(["-"]) as sources:
        assert sources.size == len(HTML)
        assert list(tmp_path.rglob("*"))
    assert not list(tmp_path.iterdir())
    sources.close()


def test_slow_packages_are_imported_when_they_are_needed() -> None:
    script = (
        "import sys\nfrom opensearch_winnow.ingest.sources import Sources, read\n"
        "print([name for name in ('pyarrow', 'fastwarc', 'warcio', 'zstandard') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"[]\n"
