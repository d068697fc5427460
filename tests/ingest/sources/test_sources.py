from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, strategies as st
from pyarrow import parquet as pq

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import MAX_FILES_TO_SIZE, SourceError, Sources
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.split import Failed
from opensearch_winnow.ingest.sources.splits import MAX_FILES_PER_SPLIT, splits
from tests.ingest.sources import archives
from tests.ingest.sources.archives import Pack, items, lz4, outcomes, record, write_files
from tests.ingest.sources.test_zip_file import packed

CAP = SIZE = 1_000_000
HTML = b"<!doctype html><title>A page</title><p>of words"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
LINE = b'{"url": "https://example.org/line", "text": "words"}\n'
DOCX = packed({"word/document.xml": b"<xml>"})


def warc(url: str) -> bytes:
    return gzip.compress(record(url, archives.HTML + HTML))


def urls(*names: str | Path, base: str = "") -> list[str]:
    return list(outcomes(items(*names, base=base)))


def complaints(*names: str | Path, base: str = "") -> list[str]:
    with pytest.raises(SourceError) as caught:
        Sources([str(name) for name in names], base=base)
    return str(caught.value).splitlines()


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A folder such as a crawler leaves behind."""
    pages = ("index.html", "index.html?id=3", "sub/a.html", "sub/deep/b.txt", ".git/c.html", ".hidden.html")
    others = {
        "logo.png": PNG,
        "app.js": b"var a;",
        "sub/data.json": b'{"a": 1}',
        "sub/archive.warc.gz": warc("https://example.org/archived"),
        "lines.jsonl": LINE,
        "letter.docx": DOCX,
        "crawl.wacz": packed({"archive/data.warc.gz": warc("https://example.org/zipped")}),
    }
    folder = write_files(tmp_path / "mirror", dict.fromkeys(pages, HTML) | others)
    (folder / "pipe.html").symlink_to(folder / "nothing.html")
    (folder / "up").symlink_to(folder)
    return folder


def test_everything_in_a_folder_is_counted(mirror: Path) -> None:
    at = mirror.as_uri()
    found = outcomes(items(mirror))
    pages = ("index.html", "index.html%3Fid%3D3", "sub/a.html", "sub/deep/b.txt")
    types = {"letter.docx": "application/zip", "app.js": "text/javascript", "logo.png": "image/png"}
    assert found == {
        **{f"https://example.org/{name}": "page" for name in ("zipped", "line", "archived")},
        **{f"{at}/{name}": "page" for name in pages},
        **{f"{at}/{name}": f"type {kind}" for name, kind in {**types, "sub/data.json": "application/json"}.items()},
        **{f"{at}/{name}": "symbolic link" for name in ("pipe.html", "up")},
    }
    with_code = outcomes(items(mirror, every_text=True))
    assert [url for url in found if with_code[url].startswith("type ")] == [f"{at}/letter.docx", f"{at}/logo.png"]


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
        planned = list(splits(sources, size))
        assert planned == list(splits(sources, size))
        assert all(len(split.names) == 1 or split.size <= size for split in planned if split.format == "files")
        total = sources.size
    assert total == sum(file.stat().st_size for file in folder.iterdir())
    assert sum(split.size for split in planned) <= total
    # Archives come before pages: a split of pages is complete only when it has enough of them.
    assert sorted(items(folder, size=size), key=repr) == sorted(items(folder), key=repr)


def test_a_folder_is_walked_lazily(tmp_path: Path) -> None:
    for number in range(2 * MAX_FILES_PER_SPLIT + 1):
        (tmp_path / f"{number:05}.html").write_bytes(HTML)
    with Sources([str(tmp_path)]) as sources:
        planned = splits(sources, SIZE)
        first = next(planned)
        assert first.names == tuple(f"{number:05}.html" for number in range(MAX_FILES_PER_SPLIT))
        assert (first.start, first.end, first.size) == (0, MAX_FILES_PER_SPLIT, MAX_FILES_PER_SPLIT * len(HTML))
        (tmp_path / f"{MAX_FILES_PER_SPLIT:05}.html").unlink()
        found = [item for split in planned for _, item in read(split, CAP) if item is not None]
    assert [type(item) for item in found] == [Failed] + [Page] * MAX_FILES_PER_SPLIT


def test_a_folder_that_was_deleted_is_reported(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "folder", {"a.html": HTML})
    with Sources([str(folder)]) as sources:
        (folder / "a.html").unlink()
        folder.rmdir()
        found = [item for split in splits(sources, SIZE) for _, item in read(split, CAP) if item is not None]
    assert outcomes(found) == {folder.as_uri(): "cannot be read: No such file or directory"}


def test_a_folder_that_cannot_be_read(as_anybody: Path) -> None:
    (as_anybody / "locked").mkdir(mode=0)
    (as_anybody / "a.html").write_bytes(HTML)
    found = outcomes(items(as_anybody))
    (as_anybody / "locked").chmod(0o700)
    assert found[f"{as_anybody.as_uri()}/locked"] == "cannot be read: Permission denied"


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
    files = {os.fsdecode(b"\xff.html"): HTML, os.fsdecode(b"\xff.jsonl"): LINE}
    folder = write_files(tmp_path / os.fsdecode(b"caf\xe9"), files)
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
    damaged, *others = outcomes(items(tmp_path)).values()
    assert damaged.startswith("Parquet that cannot be read")
    assert others == ["no field with a text", "symbolic link", "page"]


def test_links_are_followed_when_asked_for_or_named(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write_files(tmp_path, {"passwd.html": HTML, "lines.jsonl": LINE})
    for name in ("passwd.html", "lines.jsonl"):
        (folder / name).symlink_to(tmp_path / name)
    (said,) = complaints(folder)
    assert "(2 × symbolic link)" in said
    assert said.endswith("; --follow-symlinks follows the links")
    assert "(1 × symbolic link)" in complaints(folder / "*.html")[0]
    link = folder / "passwd.html"
    assert urls(link) == [link.as_uri()]
    assert [*outcomes(items(folder, follow_links=True))] == ["https://example.org/line", link.as_uri()]


def test_patterns_match_as_in_the_shell(mirror: Path) -> None:
    """Tests of `Folder` have more patterns."""
    at = mirror.as_uri()
    assert urls(mirror / "*.html") == [f"{at}/index.html", f"{at}/pipe.html"]
    assert urls(mirror / "**" / "sub" / "**" / "[ab].*") == [f"{at}/sub/a.html", f"{at}/sub/deep/b.txt"]
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
    write_files(tmp_path, {"lines": gzip.compress(LINE), "page": gzip.compress(HTML)})
    pq.write_table(pa.table({"url": ["https://example.org/row"], "html": ["<p>x"]}), tmp_path / "rows")
    in_mirror = [mirror / name for name in ("sub/archive.warc.gz", "sub/deep", "app.js")]
    assert urls(tmp_path / "rows", tmp_path / "lines", tmp_path / "page", *in_mirror) == [
        *(f"https://example.org/{name}" for name in ("row", "line", "archived")),
        f"{tmp_path.as_uri()}/page",
        f"{mirror.as_uri()}/app.js",  # skipped in folders, but read if it is named
        f"{mirror.as_uri()}/sub/deep/b.txt",
    ]


# Pages of random characters, which stay larger than the inspected start of a file in any compression.
RECORDS = [record(n, archives.HTML + Random(n).randbytes(60_000).hex().encode()) for n in range(4)]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress, lz4])
@pytest.mark.parametrize("whole", [False, True], ids=["records", "file"])
def test_a_warc_file_is_recognized_whatever_its_compression_and_name(tmp_path: Path, pack: Pack, whole: bool) -> None:
    (tmp_path / "crawl").write_bytes(pack(b"".join(RECORDS)) if whole else b"".join(map(pack, RECORDS)))
    for named in (tmp_path, tmp_path / "crawl"):
        assert archives.urls(items(named, size=50_000)) == [f"http://e/{n}" for n in range(4)]


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


FILES = {
    "empty": b"",
    **dict.fromkeys(("images/a.png", "images/b.png", "images/c"), PNG),
    "array.json": b'[{"url": "u", "text": "x"}]',
    "pretty.jsonl": b'{\n  "url": "u"\n}',
    "wide.jsonl": '{"url": "u", "text": "x"}\n'.encode("utf-16"),
    "damaged.jsonl.gz": gzip.compress(LINE)[:10],
    "empty.jsonl.gz": gzip.compress(b""),
    "letter.docx": DOCX,
    "paper.pdf": b"%PDF-1.7 in letters only",
}
REFUSED = {
    "https://example.org/": "is an address.* --warc-file",
    "gone": "there is no file or folder",
    "mirror/index.html/x": "there is no file or folder",
    "*.warc.gz": r"no file with pages matches \S+: pages are read from",
    "gone/*": r"no file with pages matches \S+ \(1 × cannot be read: No such file or directory\): pages are read from",
    "empty": "is empty$",
    "nothing": r"there is no page in \S+: pages are read from",
    "images": r"there is no page in \S+ \(3 × type image/png\): pages are read from",
    "images/c": "is image/png: pages are read from",
    "array.json": "is JSON, but not JSONL.* jq",
    "pretty.jsonl": "is JSON, but not JSONL.* jq",
    "wide.jsonl": "is UTF-16, and JSONL is UTF-8.* iconv",
    "damaged.jsonl.gz": "cannot be read: gzip that is cut off$",
    "empty.jsonl.gz": "is empty$",
    "letter.docx": "is application/zip: pages are read from",
    "paper.pdf": "is application/pdf: pages are read from",
    "rows.parquet": "no field with a text: its fields are address; .* --text-field",
    "none": "is empty$",
    "/dev/zero": "neither a file nor a folder: pages are read from",
}


def test_all_errors_are_reported_at_once(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_files(mirror.parent, FILES))
    Path("nothing").mkdir()
    pq.write_table(pa.table({"address": ["u"]}), "rows.parquet")
    pq.write_table(pa.table({"url": pa.array([], pa.string()), "text": pa.array([], pa.string())}), "none")
    for name, said in zip(REFUSED, complaints(mirror, *REFUSED), strict=True):
        assert name in said
        assert re.search(REFUSED[name], said), said


def test_missing_sources_and_invalid_bases_are_refused() -> None:
    assert complaints()[0].startswith("no source is named: pages are read from")
    assert complaints("gone", base="example.org")[0].endswith(", not example.org")
    assert len(complaints("gone", base="example.org")) == 2


def test_slow_packages_are_imported_when_they_are_needed() -> None:
    script = (
        "import sys\nfrom opensearch_winnow.ingest.sources import Sources\n"
        "from opensearch_winnow.ingest.sources.reading import read\n"
        "print([name for name in ('pyarrow', 'fastwarc', 'warcio', 'zstandard') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"[]\n"
