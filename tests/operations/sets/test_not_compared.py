"""A class is never all-clear by accident: who was not compared is named, and a hostile submission costs itself."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from unicodedata import normalize

import pytest

from opensearch_winnow import pairs
from opensearch_winnow.ingest.sources.zip_file import NO_DIRECTORY
from opensearch_winnow.queries.sets.pairs import NotCompared
from opensearch_winnow.web.class_report.report import write_report
from tests.ingest.sources.test_wacz import record
from tests.ingest.sources.test_zip_file import encrypted, packed, without_utf_8_flag
from tests.operations.sets.test_pairs import COPY, OTHER, SUM, names, write


def ids(documents: Iterable[NotCompared]) -> list[str]:
    return [each.name for each in documents]


def test_the_names_of_students_in_a_zip_file_are_read_right_and_masked(tmp_path: Path) -> None:
    """The names are written as zip on Linux and the Finder on macOS do: in UTF-8, without a flag."""
    comment = "# Milan García, exercise 4\n"
    members = {"Milan García": comment + SUM, "Zoë Müller": comment + COPY, "Ann Li": OTHER}
    content = packed({f"{normalize('NFD', name)}/a.py": text.encode() for name, text in members.items()})
    (tmp_path / "class.zip").write_bytes(without_utf_8_flag(content))
    found = pairs(str(tmp_path / "class.zip"))
    assert names(found) == [(normalize("NFD", "Milan García"), normalize("NFD", "Zoë Müller"))]
    write_report(found, tmp_path / "class.html", anonymise=True)
    text = normalize("NFC", (tmp_path / "class.html").read_text())
    assert "█████ ██████, exercise 4" in text
    assert not any(name in text for name in ("Milan", "García", "Zoë", "Müller"))


def test_a_hostile_zip_file_costs_itself_and_not_the_class(tmp_path: Path) -> None:
    members = {"m" * 300 + ".py": OTHER, "d/": "", "d": "x", "d/e.py": OTHER, ".": "y", "../../../up.py": OTHER}
    hostile = packed({name: text.encode() for name, text in members.items()})
    alice, bob = (packed({"a.py": program.encode()}) for program in (SUM, COPY))
    write(tmp_path / "class", alice_zip=alice, bob_zip=bob, mallory_zip=hostile, nadia_zip=encrypted(alice))
    found = pairs(write(tmp_path / "class", otto_zip=alice[:-30], paul_zip=packed({})))
    assert names(found) == [("alice.zip", "bob.zip")]
    assert ids(found.not_compared) == ["nadia.zip", "otto.zip", "paul.zip"]
    assert ids(found.partly_compared) == ["mallory.zip"]
    assert [each.id for each in found.documents] == ["alice.zip", "bob.zip", "mallory.zip"]
    assert not list(tmp_path.parent.glob("up.py"))


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("a.py", f"'''\n{SUM}"),
        ("a.py", f"x = 1\n'''\n{SUM}\n'''{OTHER}\n'''\n{SUM}"),
        ("a.py", f"{OTHER}\n{OTHER}\n'''\n{SUM}"),
        ("a.c", "int x; /*\n" + "int f(int a) { return a + 1; }\n" * 20),
        ("a.js", "let x = `\n" + "function f(a) { return a + 1; }\n" * 20),
    ],
    ids=["all", "between others", "the last lines", "comment", "template"],
)
def test_an_unclosed_string_or_comment_is_said(tmp_path: Path, name: str, program: str) -> None:
    write(tmp_path, b_py=SUM, c_py=COPY)
    (tmp_path / name).write_text(program)
    found = pairs(str(tmp_path))
    (unread,) = found.unread
    assert (unread.name, unread.failed, unread.document) == (name, True, name)
    assert "not closed" in unread.reason
    assert {*ids(found.not_compared), *ids(found.partly_compared)} == {name}
    (tmp_path / name).write_text("/" * 9 + "# a comment of many words, and more\n" * 90)
    assert not any("not closed" in each.reason for each in pairs(str(tmp_path)).unread)


def test_only_work_that_was_not_read_makes_a_submission_partly_compared(tmp_path: Path) -> None:
    write(tmp_path, alice__a_py=SUM, alice__photo_png=b"\x89PNG\r\n\x1a\n", alice__read_md="Hi")
    write(tmp_path, bob__b_py=COPY, bob__report_odt=b"PK", carol__photo_png=b"\x89PNG\r\n\x1a\n", task_pdf=b"%PDF-1")
    (tmp_path / "alice" / "tests").mkdir()
    (tmp_path / "alice" / "__init__.py").touch()
    found = pairs(str(tmp_path))
    assert ids(found.partly_compared) == ["bob"]
    assert ids(found.not_compared) == ["carol", "task.pdf"]
    assert found.submitted == 4
    files = pairs(str(tmp_path), submissions="files")
    assert ids(files.not_compared) == ["alice/tests", "bob/report.odt", "task.pdf"]
    of_nobody = {each.name for each in files.unread if not each.document}
    assert of_nobody == {"alice/__init__.py", "alice/photo.png", "alice/read.md", "carol/photo.png"}


def test_rows_and_captures_are_named_too(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "a", "text": "some words"}\n{"id": "b", "text": " "}\nno json\n')
    found = pairs(str(rows))
    assert [name.rpartition("/")[2] for name in ids(found.not_compared)] == ["rows.jsonl, line 3", "b"]
    assert found.submitted == 3
    folder = write(tmp_path / "class", alice__a_py=SUM, bob__b_py=COPY, crawl_warc=record(1) + record(2))
    found = pairs(folder)
    reasons = [(each.name, each.reason) for each in found.unread]
    assert reasons == [("http://e/1", "not a program"), ("http://e/2", "not a program")]
    assert found.submitted == 2


def test_empty_folders_are_submissions(tmp_path: Path) -> None:
    write(tmp_path / "class", alice__a_py=SUM, bob__b_py=COPY, base__given_py=OTHER)
    for name in ("emil", "fay/src", "gus"):
        (tmp_path / "class" / name).mkdir(parents=True)
    for name in ("gus/.DS_Store", "__MACOSX/._gus"):
        (tmp_path / "class" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "class" / name).write_bytes(b"\0\1")
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as packed_class:
        for path in sorted((tmp_path / "class").rglob("*")):
            packed_class.write(path, path.relative_to(tmp_path / "class"))
    by_folder = pairs(str(tmp_path / "class"), base=[str(tmp_path / "class" / "base")])
    others = [path for path in sorted((tmp_path / "class").iterdir()) if path.name not in ("base", "__MACOSX")]
    by_name = pairs(list(map(str, others)))
    by_zip = pairs(str(tmp_path / "class.zip"))
    for found in (by_folder, by_name, by_zip):
        assert ids(found.not_compared) == ["emil", "fay", "gus"]
        assert names(found) == [("alice", "bob")]
    assert by_folder.submitted == 5


@pytest.mark.parametrize("name", ["eve.zip", "eve.rar", "eve.7z", "eve.tar", "eve.tar.gz", "eve.tgz"])
@pytest.mark.parametrize("content", [b"Rar!\x1a\x07\0\xcf", b"<html>error</html>", b"Not found. " * 20, b"PK\3\4 no"])
@pytest.mark.parametrize("kind", ["py", "txt"])
def test_an_archive_that_cannot_be_read_is_a_submission(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    folder = tmp_path / "class"
    write(folder, **{f"alice_{kind}": SUM, f"bob_{kind}": COPY, f"carl_{kind}": OTHER})
    (folder / name).write_bytes(content)
    paths = [str(path) for path in sorted(folder.iterdir())]
    for found in (pairs(str(folder)), pairs(paths)):
        (submission,) = found.not_compared
        (unread,) = submission.unread
        assert (submission.name, unread.name, found.submitted) == (name, name, 4)
        assert "zip" in unread.reason
        assert unread.failed or not name.endswith(".zip")


def test_a_broken_zip_file_is_named_alike_in_a_folder_and_in_a_zip_file(tmp_path: Path) -> None:
    members = {"alice.zip": packed({"a.py": SUM.encode()}), "bob.zip": packed({"b.py": COPY.encode()})}
    members |= {"eve.zip": b"Rar!\x1a", "html.zip": b"<html>error</html>", "cut.zip": packed({"c.py": b"1"})[:-30]}
    files = {f"class__{name.replace('.', '_')}": content for name, content in members.items()}
    write(tmp_path, class_zip=packed(members), **files)
    for found in (pairs(str(tmp_path / "class")), pairs(str(tmp_path / "class.zip"))):
        assert sorted(ids(found.not_compared)) == ["cut.zip", "eve.zip", "html.zip"]
        assert {each.reason for each in found.unread} == {NO_DIRECTORY}


def test_a_submission_of_which_nothing_was_compared_is_named_whatever_it_is(tmp_path: Path) -> None:
    photo = b"\x89PNG\r\n\x1a\n"
    write(tmp_path / "flat", **{f"s{n}_py": SUM for n in range(5)}, carla_txt=SUM, dora_png=photo, README_md="Hi")
    (tmp_path / "flat" / "frida").write_text(SUM)
    (tmp_path / "flat" / "gus.zip").write_bytes(packed({"main.txt": SUM.encode()}))
    assert ids(pairs(str(tmp_path / "flat")).not_compared) == ["carla.txt", "dora.png", "frida", "gus.zip/main.txt"]
    essays = write(tmp_path / "essays", anna_txt=SUM, ben_txt=COPY, photo_png=photo)
    assert ids(pairs(essays).not_compared) == ["photo.png"]
    folders = write(tmp_path / "class", alice__a_py=SUM, alice__a_png=photo, bob__b_py=COPY, c_png=photo, d_txt=SUM)
    write(tmp_path / "class", **{f"s{n}__a_py": OTHER for n in range(3)})
    write(tmp_path / "class", README_md="Hi", Makefile_am="x")
    assert ids(pairs(folders).not_compared) == ["c.png", "d.txt"]
    years = write(tmp_path / "years", **{f"{year}__s{n}of{year}_py": SUM for year in (2024, 2025) for n in range(9)})
    write(tmp_path / "years", notes_txt="Hi")
    assert not pairs(years).not_compared
