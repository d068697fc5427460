"""Zip files are read like folders of the same name, and a hostile one costs itself."""

from __future__ import annotations

import gzip
import io
import os
import re
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import zip_file
from opensearch_winnow.ingest.sources.files import path_of
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Skipped
from tests.ingest.sources import archives

HTML = b"<title>T</title><p>Hello"


def packed(members: Mapping[Any, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return content.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


def with_flags(content: bytes, change: Callable[[int], int], members: int | None = None) -> bytes:
    """Return a zip file with other flags, in both places where it has them."""
    changed = bytearray(content)
    for start, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        for found in list(re.finditer(start, content))[:members]:
            (old,) = struct.unpack_from("<H", changed, found.start() + flags)
            struct.pack_into("<H", changed, found.start() + flags, change(old))
    return bytes(changed)


def without_utf_8_flag(content: bytes) -> bytes:
    """Return a zip file as macOS and Linux write it: the names are UTF-8, and nothing says so."""
    return with_flags(content, lambda flags: flags & ~0x800)


def encrypted(content: bytes, members: int | None = 1) -> bytes:
    """Return a zip file whose first members say that they are encrypted."""
    return with_flags(content, lambda flags: flags | 1, members)


def found(path: Path, **options: Any) -> list[Item]:
    return archives.items(path, cap=1_000, zips=True, **options)


def outcomes(path: Path, top: Path | None = None, **options: Any) -> dict[str, str]:
    """Return by the name below `top` whether an item is a page, or else the reason."""
    said = archives.outcomes(found(path, **options))
    names = {url: path_of(url).removeprefix(f"{top or path}/") or url for url in said}
    assert len({*names.values()}) == len(said)
    return {names[url]: outcome for url, outcome in said.items()}


FILES = {
    "index.html": HTML,
    "Zoë Müller/a ?#%.txt": b"some words",
    "sub/deep/b.html": HTML,
    "sub/logo.png": b"\x89PNG\r\n\x1a\n",
    "sub/main.py": b"print(1)",
    "sub/big.txt": b"word " * 300,
    "sub/empty.txt": b"",
    "sub/rows.jsonl": b'{"url": "http://e/1", "text": "one"}\n{"text": "two"}\n',
    "sub/rows.csv": b"url,text\nhttp://e/2,three\n",
    ".git/hidden.html": HTML,
    "__MACOSX/._index.html": b"\0\5\x16\7",
}


@pytest.mark.parametrize("every_text", [False, True])
@pytest.mark.parametrize("base", ["", "https://e.org/x"])
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_zip_file_is_a_folder_of_the_same_name(tmp_path: Path, every_text: bool, base: str, size: int) -> None:
    unpacked = archives.write_files(tmp_path / "a" / "class.zip", FILES)
    zipped = archives.write_files(tmp_path / "b", {"class.zip": packed(FILES)}) / "class.zip"

    def without_top(items: list[Item], top: str) -> list[str]:
        return sorted(repr(item).replace(top, "…") for item in items)

    options = {"base": base, "every_text": every_text, "size": size}
    for folder, file in ((unpacked, zipped), (unpacked.parent, zipped.parent)):
        one, other = found(folder, **options), found(file, **options)
        assert without_top(one, unpacked.parent.as_uri()) == without_top(other, zipped.parent.as_uri())
        assert len(one) >= 9


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30), max_size=6))
def test_any_names_cost_at_most_their_member(names: list[str]) -> None:
    """Each member has one outcome, unless it is a folder or hidden; nothing is written, and no name leads outside."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):  # names may be equal
        path = Path(folder, "any.zip")
        with zipfile.ZipFile(path, "w") as zipped:
            for name in ("first.txt", *names):
                info = zipfile.ZipInfo(name)
                info.filename = info.orig_filename = name
                zipped.writestr(info, b"" if name.endswith("/") else b"some words")
        items = found(path)
        assert sorted(Path(folder).iterdir()) == [path]
    urls = [item.page.url if isinstance(item, Failed) else item.url for item in items if not isinstance(item, Damage)]
    assert all(url.startswith(f"{path.as_uri()}/") and "/../" not in url for url in urls)
    pages = {path_of(item.url) for item in items if isinstance(item, Page)}
    assert f"{path}/first.txt" in pages
    others = [name for name in names if not name.endswith("/") and not any(p.startswith(".") for p in name.split("/"))]
    assert len(items) <= 1 + len(names)
    assert len(items) >= len({name for name in others if "\\" not in name and ":" not in name})


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("flag", [True, False])
def test_names_in_utf_8_are_read_right_without_the_flag(tmp_path: Path, flag: bool, form: str) -> None:
    name = normalize(form, "Milan García/Zoë Müller/大.txt")  # type: ignore[arg-type]
    content = packed({name: b"some words"})
    (tmp_path / "x.zip").write_bytes(content if flag else without_utf_8_flag(content))
    assert outcomes(tmp_path / "x.zip") == {name: "page"}


def test_names_in_the_code_page_of_dos_are_read_right(tmp_path: Path) -> None:
    content = without_utf_8_flag(packed({"M?ller.txt": b"some words"})).replace(b"M?ller", "Müller".encode("cp437"))
    (tmp_path / "x.zip").write_bytes(content)
    assert outcomes(tmp_path / "x.zip") == {"Müller.txt": "page"}


def test_a_hostile_member_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "m.zip"
    long = f"{'n' * 300}.txt"
    names = (long, "d/", "d", "d/e.txt", ".", "/etc/passwd.txt", "../../up.txt", "C:\\x\\win.txt", "a:b.txt")
    others = {link("link.txt"): b"/etc/passwd", "damaged.txt": b"changed"}
    content = packed({**dict.fromkeys(names, b"some words"), **others}, zipfile.ZIP_STORED)
    path.write_bytes(content.replace(b"changed", b"CHANGED"))
    pages = dict.fromkeys((long, "d", "d/e.txt", "etc/passwd.txt", "up.txt", "x/win.txt", "a:b.txt"), "page")
    lost = {".": zip_file.NO_NAME, "link.txt": "symbolic link", "damaged.txt": "damaged in the zip file"}
    assert outcomes(path) == {**pages, **lost}
    assert list(tmp_path.iterdir()) == [path]


def test_of_members_with_one_name_the_last_is_read(tmp_path: Path) -> None:
    content = packed({"a.txt": b"first", "b.txt": b"last one"}).replace(b"b.txt", b"a.txt")
    (tmp_path / "x.zip").write_bytes(content)
    skipped, page = found(tmp_path / "x.zip")
    assert isinstance(skipped, Skipped)
    assert isinstance(page, Page)
    assert (skipped.reason, page.html) == (zip_file.REPLACED, b"last one")


def test_zip_files_in_zip_files_are_read_to_a_depth_and_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = packed({"deepest.txt": b"some words"})
    for depth in (3, 2, 1):
        content = packed({f"{depth}.zip": content, f"{depth}.txt": b"some words"})
    (tmp_path / "x.zip").write_bytes(content)
    said = {"1.txt": "page", "1.zip/2.txt": "page", "1.zip/2.zip/3.txt": "page", "1.zip/2.zip/3.zip": zip_file.TOO_DEEP}
    assert outcomes(tmp_path / "x.zip") == said
    monkeypatch.setattr(zip_file, "MAX_UNZIPPED_BYTES", 100_000)
    bomb = packed({"a.txt": b"word " * 100_000})
    assert len(bomb) < 10_000
    (tmp_path / "x.zip").write_bytes(packed({"alice.txt": b"some words", "bomb.zip": bomb, "bob.zip": bomb}))
    said = {"alice.txt": "page", "bomb.zip": zip_file.TOO_MUCH, "bob.zip": zip_file.TOO_MUCH}
    assert outcomes(tmp_path / "x.zip") == said
    (tmp_path / "x.zip").write_bytes(bomb)
    assert outcomes(tmp_path) == {"x.zip": zip_file.TOO_MUCH}


def with_unknown_compression(content: bytes) -> bytes:
    changed = bytearray(content)
    changed[8], changed[changed.index(b"PK\1\2") + 10] = 77, 77
    return bytes(changed)


WORDS = {"a.txt": b"some words"}
OFFICE = packed({"word/document.xml": b"<xml>", **WORDS})
# Files of a folder, and what becomes of them or of their members.
HOSTILE: dict[str, tuple[bytes, dict[str, str]]] = {
    "empty.zip": (packed({}), {"": zip_file.NO_FILES}),
    "cut.zip": (packed(WORDS)[:-30], {"": zip_file.NO_DIRECTORY}),
    "rar.zip": (b"Rar!\x1a\7\0", {"": zip_file.NO_DIRECTORY}),
    "text.zip": (b"Not found", {"": zip_file.NO_DIRECTORY}),
    "none.zip": (b"", {"": zip_file.NO_DIRECTORY}),
    "page.zip": (HTML, {"": "page"}),  # as wget saves it
    "letter.docx": (OFFICE, {"": "type application/zip"}),
    "program.jar": (OFFICE, {"": "type application/zip"}),
    "secret.zip": (
        encrypted(packed({"secret.txt": b"some words", **WORDS})),
        {"/secret.txt": "encrypted in the zip file", "/a.txt": "page"},
    ),
    "odd.zip": (
        with_unknown_compression(packed({"odd.txt": b"some words", **WORDS})),
        {"/odd.txt": "compressed in the zip file in an unknown way", "/a.txt": "page"},
    ),
    "good.zip": (
        packed({**WORDS, "no.zip": b"PK\3\4 no", "empty.zip": packed({})}),
        {"/a.txt": "page", "/no.zip": zip_file.NO_DIRECTORY, "/empty.zip": zip_file.NO_FILES},
    ),
}


def test_a_hostile_file_costs_itself_and_is_named(tmp_path: Path) -> None:
    archives.write_files(tmp_path, {name: content for name, (content, _) in HOSTILE.items()})
    os.mkfifo(tmp_path / "pipe.zip")
    expected = {name + member: each for name, (_, members) in HOSTILE.items() for member, each in members.items()}
    assert outcomes(tmp_path, every_text=True) == {**expected, "pipe.zip": "not a file"}
    assert outcomes(tmp_path / "cut.zip", tmp_path) == {"cut.zip": zip_file.NO_DIRECTORY}
    assert zip_file.empty_folders(str(tmp_path / "empty.zip")) == []


def test_a_zip_file_of_web_archives_stays_one(tmp_path: Path) -> None:
    crawl = {"archive/a.warc.gz": gzip.compress(archives.record(1)), "index.html": HTML}
    (tmp_path / "crawl.zip").write_bytes(packed(crawl))
    assert archives.outcomes(found(tmp_path / "crawl.zip")) == {"http://e/1": "page"}


def test_empty_folders_are_found(tmp_path: Path) -> None:
    folders = ("alice/", "emil/", "fay/src/", "fay/", ".git/", "gus\\", "jo/x/", "jo/y/.z")
    files = ("alice/a.py", "hugo/.DS_Store", "__MACOSX/._a.py", "ina/src/i.py")
    (tmp_path / "x.zip").write_bytes(packed(dict.fromkeys(folders, b"") | dict.fromkeys(files, b"1")))
    assert zip_file.empty_folders(str(tmp_path / "x.zip")) == ["emil", "fay/src", "gus", "hugo", "jo/x", "jo/y"]
