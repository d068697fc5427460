"""Pairs of documents from files, submissions, rows and stores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page, Scheme, WinnowError, pairs
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.operations.sets import stored_documents
from opensearch_winnow.types import Document, DocumentFile, Pairs
from tests.ingest.sources.test_zip_file import packed
from tests.operations.sets.json_lines import write_lines

MILL = "The mill by the river was built of stone, and its wheel turned day and night for more than a hundred years."
DOOR = "A painter of the old school lived for twenty years in a narrow house with a blue door, one cat and no clock."
SHIP = "Every ship that left the harbour in that spring carried wool and salt, and letters that nobody would ever read."

SUM = """
def total(values):
    result = 0
    for value in values:
        if value > 0:
            result = result + value * 2
        else:
            result = result - value
    while result > 1000:
        result = result // 3
    return [result, len(values), max(values), sorted(values)]
"""
COPY = SUM.replace("total", "f").replace("values", "xs").replace("value", "x").replace("result", "acc")
OTHER = """
import sys
class Reader:
    def __init__(self, name, mode="r"):
        self.name, self.mode = name, mode
    def lines(self):
        with open(self.name, self.mode) as file:
            yield from (line.strip() for line in file if line)
    def __repr__(self):
        return f"{self.name}: {sys.getsizeof(self)}"
"""


def write(folder: Path, **files: str | bytes) -> str:
    """Write files, whose names have __ for / and the last _ for a dot, and return the folder."""
    for name, content in files.items():
        path = folder / ".".join(name.replace("__", "/").rsplit("_", 1))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(folder)


def names(found: Pairs) -> list[tuple[str, str]]:
    return [(pair.a, pair.b) for pair in found]


def documents(**texts: str) -> list[Document]:
    return [Document(name, (DocumentFile(name, text),)) for name, text in texts.items()]


def unread(found: Pairs) -> set[tuple[str, str]]:
    return {(each.name, each.reason) for each in found.unread}


def test_texts_of_a_folder_as_a_list_and_a_table(tmp_path: Path) -> None:
    found = pairs(write(tmp_path, a_txt=MILL, b_txt=f"{MILL} {DOOR}", c_html=f"<p>{DOOR}</p>", d_md=SHIP))
    assert set(names(found)) == {("a.txt", "b.txt"), ("b.txt", "c.html")}
    assert (found.form, found.folders, found.compared, found.total, found.groups) == ("text", False, 6, 2, 1)
    (passage,) = found.pairs[-1].passages
    assert MILL.removesuffix(".") == MILL[passage.start : passage.end]
    assert (len(found), list(found), found[0]) == (2, found.pairs, found.pairs[0])
    (row, _) = found.to_arrow().to_pylist()
    assert row == found[0].to_dict() | {"passages": len(found[0].passages)}
    assert found.to_dict()["documents"] == 4


def test_programs_are_recognised_and_other_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, data_csv="1,2\n3,4\n", notes_md=MILL, x_class=b"\xca\xfe\0", y_py=b"\0\1\xff" * 9)
    found = pairs(write(tmp_path, a_py=SUM, b_py=COPY, c_py=OTHER))
    assert names(found) == [("a.py", "b.py")]
    assert (found.form, found.scheme) == ("code", Scheme.preset("programs").id)
    assert ("y.py", "binary, not text") in unread(found)
    assert {("data.csv", "not a program"), ("notes.md", "not a program")} < unread(found)
    assert {name for name, _ in unread(found)} == {"data.csv", "notes.md", "x.class", "y.py"}
    assert not any(each.failed for each in found.unread)


def test_a_submission_has_several_files_and_nothing_runs_across_them(tmp_path: Path) -> None:
    write(tmp_path, alice__a_py=SUM, alice__lib__b_py=OTHER, bob__main_py=COPY, carol__main_py="print(1)\n")
    found = pairs(str(tmp_path))
    assert found.folders
    assert [document.id for document in found.documents] == ["alice", "bob", "carol"]
    assert [file.name for file in found.documents[0].files] == ["a.py", "lib/b.py"]
    assert names(found) == [("alice", "bob")]
    assert found.pairs[0].contained == 1  # all of Bob's work is in Alice's
    assert {(each.file_number, each.other_file_number) for each in found.pairs[0].passages} == {(0, 0)}
    files = pairs(str(tmp_path), submissions="files")
    assert names(files) == [("alice/a.py", "bob/main.py")]
    assert not files.folders


def test_base_files_do_not_count(tmp_path: Path) -> None:
    folder = write(tmp_path / "class", a_py=SUM + OTHER, b_py=COPY, c_py=OTHER, base__given_py=SUM)
    base = str(tmp_path / "class" / "base")
    assert names(pairs(folder, submissions="files"))
    found = pairs(folder, base=[base], min_similarity=0)
    assert names(found) == [("a.py", "c.py")]
    assert found.base == 1
    assert [document.id for document in found.documents] == ["a.py", "b.py", "c.py"]  # the base is none of them


def test_the_minimum_that_is_given_decides_the_measure(tmp_path: Path) -> None:
    folder = write(tmp_path, a_txt=MILL, b_txt=f"{MILL} {DOOR}", c_txt=f"{DOOR} {DOOR}")
    found = pairs(folder, min_longest=23)
    assert (found.measure, found.min_score, names(found)) == ("longest", 23, [("b.txt", "c.txt")])
    assert names(pairs(folder, by="containment", min_containment=1)) == [("a.txt", "b.txt")]
    assert (pairs(folder).measure, pairs(folder, by="longest").min_score) == ("similarity", 0)
    with pytest.raises(
        QuestionError, match=r"^pairs are ranked by containment: give min_containment, not min_longest$"
    ):
        pairs(folder, by="containment", min_longest=3)
    with pytest.raises(QuestionError, match=r"give only one of min_similarity, min_resemblance$"):
        pairs(folder, min_similarity=0.5, min_resemblance=0.5)


def test_owners_by_expression_file_and_field(tmp_path: Path) -> None:
    folder = write(tmp_path / "essays", ann_1_txt=MILL, ann_2_txt=MILL, bob_1_txt=MILL)
    wanted = [("ann_1.txt", "bob_1.txt"), ("ann_2.txt", "bob_1.txt")]
    assert names(pairs(folder, owner=r"([a-z]+)_\d")) == names(pairs(folder, owner="^[a-z]+")) == wanted
    table = tmp_path / "owners.csv"
    table.write_text("id,owner\nann_1.txt,Ann\nann_2.txt,Ann\n")
    assert names(pairs(folder, owner=str(table))) == wanted
    rows = write_lines(tmp_path / "rows.jsonl", ({"n": n, "body_": MILL, "by": by} for n, by in enumerate("xxy")))
    fields = FieldNames(id="n", text="body_")
    assert names(pairs(str(rows), fields=fields, owner_field="by")) == [("0", "2"), ("1", "2")]
    with pytest.raises(WinnowError, match="neither a file nor a regular expression"):
        pairs(folder, owner="(")
    table.write_text("ann_1.txt\n")
    with pytest.raises(WinnowError, match="row 1 has no owner"):
        pairs(folder, owner=str(table))


def test_owners_that_fit_nothing_are_said(tmp_path: Path) -> None:
    folder = write(tmp_path / "class", amy_1_txt=MILL, bob_1_txt=f"{MILL} {DOOR}")
    with pytest.raises(WinnowError, match=r"^owner \^\(\\d\+\) matches 0 of 2 documents, such as amy_1.txt$"):
        pairs(folder, owner=r"^(\d+)")
    owners = tmp_path / "owners.csv"
    owners.write_text("id,owner\namy_1.txt,amy\nzoe.txt,zoe\n")
    found = pairs(folder, owner=str(owners))
    assert unread(found) == {("zoe.txt", "named in owners.csv, but not among the documents")}


def test_submissions_from_moodle_are_called_by_the_student(tmp_path: Path) -> None:
    names_of = [f"{name}_assignsubmission_file_" for name in ("Zoë Müller_1", "Al Li_2", "Al Li_3")]
    for name in names_of:
        write(tmp_path / name, main_py=SUM, empty_py="")
    found = pairs(str(tmp_path))
    assert sorted(each.id for each in found.documents) == [*sorted(names_of[1:]), "Zoë Müller"]
    assert "Zoë Müller/empty.py" in {each.name for each in found.unread}
    flat = write(tmp_path / "flat", **{f"{name}main_py": SUM for name in names_of[:2]})
    assert names(pairs(flat)) == [("Al Li/main.py", "Zoë Müller/main.py")]


def test_rows_are_documents_and_their_ids_differ(tmp_path: Path) -> None:
    write(tmp_path, rows_csv=f'id,text\n7,"{MILL}"\n7,"{MILL}"\n8,"{SHIP}"\n', one_txt=SHIP)
    found = pairs([str(tmp_path / "rows.csv"), str(tmp_path / "one.txt")])
    assert names(found) == [("7", "7 (2)"), ("one.txt", "8")]


def test_a_zip_file_is_a_folder(tmp_path: Path) -> None:
    files = {"class/alice/main.py": SUM.encode(), "class/bob/work.zip": packed({"main.py": COPY.encode()})}
    files |= {"class/carol/work.zip": b"PK\3\4 damaged", "../../escaped.py": OTHER.encode()}
    (tmp_path / "moodle.zip").write_bytes(packed(files))
    found = pairs(str(tmp_path / "moodle.zip"), submissions="files")
    assert names(found) == [("class/alice/main.py", "class/bob/work.zip/main.py")]
    assert not (tmp_path.parent / "escaped.py").exists()
    assert [each.name for each in found.unread if each.failed] == ["class/carol/work.zip"]


@pytest.mark.parametrize("is_folder", [True, False])
def test_each_student_may_have_sent_a_zip_file(tmp_path: Path, is_folder: bool) -> None:
    alice, bob = (packed({"main.py": program.encode()}) for program in (SUM, COPY))
    write(tmp_path / "class", alice__work_zip=alice, bob__work_zip=bob)
    (tmp_path / "class.zip").write_bytes(packed({"alice/work.zip": alice, "bob/work.zip": bob}))
    found = pairs(str(tmp_path / ("class" if is_folder else "class.zip")))
    assert (names(found), found.folders) == ([("alice", "bob")], True)


def test_nothing_to_compare_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.zip").write_bytes(packed({}))
    with pytest.raises(WinnowError, match=r"^there is nothing to compare in .*\(1 × a zip file without files\)$"):
        pairs(str(tmp_path / "empty.zip"))
    folder = write(tmp_path / "class", blank_txt=" \n", raw_txt=b"\0\1")
    with pytest.raises(WinnowError, match=r"^there is nothing to compare in .*1 × no text"):
        pairs(folder)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1", "cp1251"])
def test_files_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    text = "Мельница у реки " * 20 if encoding == "cp1251" else f"{MILL} Grüße aus Köln, schöne Straße. " * 3
    found = pairs(write(tmp_path, a_txt=text.encode(encoding), b_txt=text))
    assert [pair.resemblance for pair in found] == [1.0]


def test_what_cannot_be_compared_is_named(tmp_path: Path) -> None:
    write(tmp_path, a_txt=MILL, b_txt=MILL, empty_txt="", blank_txt=" \n ")
    write(tmp_path, picture_png=b"\x89PNG\r\n\0\0", raw_txt=b"\0\1")
    (tmp_path / "unreadable.txt").symlink_to("/nowhere")
    by_folder = pairs(str(tmp_path))
    by_name = pairs([str(path) for path in sorted(tmp_path.iterdir()) if path.exists()])
    for found in (by_folder, by_name):
        assert names(found) == [("a.txt", "b.txt")]
        assert {Path(name).name for name, _ in unread(found)} >= {"empty.txt", "blank.txt", "picture.png", "raw.txt"}
    assert ("unreadable.txt", "symbolic link") in unread(by_folder)
    with pytest.raises(WinnowError, match="there is no file or folder"):
        pairs([str(tmp_path / "a.txt"), str(tmp_path / "missing.txt")])
    with pytest.raises(WinnowError, match="is empty"):
        pairs(str(tmp_path / "empty.txt"))


def test_the_order_of_the_names_does_not_change_the_pairs(tmp_path: Path) -> None:
    files = [f"{write(tmp_path, **{f'{n}_txt': MILL if n % 3 else MILL[:60]})}/{n}.txt" for n in range(9)]
    one, other, again = pairs(files), pairs(files[::-1]), pairs(files)
    assert {frozenset(pair) for pair in names(one)} == {frozenset(pair) for pair in names(other)}
    assert one.pairs == again.pairs


def test_documents_in_memory() -> None:
    assert names(pairs(documents(a=MILL, b=MILL, c=SHIP))) == [("a", "b")]
    programs = [replace(each, files=(DocumentFile(f"{each.id}.py", SUM),)) for each in documents(a="", b="")]
    assert pairs(programs).form == "code"


@pytest.mark.parametrize("limit", [None, 1])
def test_equal_scores_are_ranked_by_the_longest_passage_and_the_names(limit: int | None) -> None:
    found = pairs(documents(d=DOOR[:60], c=DOOR[:60], b=MILL, a=MILL, f=SHIP, e=f"{SHIP} "), limit=limit)
    assert names(found) == [("b", "a"), ("f", "e"), ("d", "c")][:limit]


class TestWithAStore:
    @pytest.fixture
    def index(self, file_index: Index) -> Index:
        texts = {"m": f"{MILL} {DOOR}", "s": f"{SHIP} {SHIP}", "n": f"{MILL} {DOOR}"}
        file_index.add([Page(f"http://a.org/{name}", text=text) for name, text in texts.items()])
        return file_index

    def test_all_its_pages_are_compared_and_its_boilerplate_does_not_count(self, index: Index) -> None:
        found = index.pairs()
        assert names(found) == [("http://a.org/m", "http://a.org/n")]
        assert found.compared == 3
        index.add_boilerplate("both", f"{MILL} {DOOR}")
        assert index.pairs().pairs == []
        assert names(index.pairs(boilerplate=False)) == [("http://a.org/m", "http://a.org/n")]

    @pytest.mark.parametrize("max_pages", [20_000, 1])
    def test_sources_are_compared_with_each_other_and_with_its_pages(
        self, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_pages: int
    ) -> None:
        monkeypatch.setattr(stored_documents, "MAX_PAGES", max_pages)
        folder = write(tmp_path / "new", a_txt=f"{MILL} {DOOR} Now.", b_txt=f"{DOOR} {DOOR}", c_txt="nothing")
        found = index.pairs(folder, min_similarity=0.1)
        wanted = {("a.txt", "b.txt"), *((new, f"http://a.org/{old}") for new in ("a.txt", "b.txt") for old in "mn")}
        assert set(names(found)) == wanted
        assert len([document for document in found.documents if document.earlier]) == (3 if max_pages > 1 else 2)

    @pytest.mark.parametrize("years", [("2025",), ("2024", "2025")])
    def test_earlier_submissions_are_folders_too(self, tmp_path: Path, years: tuple[str, ...]) -> None:
        for year in years:
            write(tmp_path / "old" / year / "tom", main_py=SUM, more_py=OTHER, table_csv="url,text\nhttp://a.org/,x\n")
            write(tmp_path / "old" / year / f"Li Po{year}_1_assignsubmission_file_", main_py=OTHER)
        new = write(tmp_path / "2026", alice__main_py=COPY, bob__b_py=MILL)
        with Index.open(tmp_path / "old.winnow", scheme=Scheme.preset("programs")) as index:
            index.index(tmp_path / "old")
            found = index.pairs(new, min_similarity=0.2)
        top = "2025" if len(years) == 1 else "old/2025"
        assert ("alice", f"{top}/tom") in names(found)
        assert {each.id for each in found.documents} >= {f"{top}/Li Po2025"}
        assert len(found.documents) == 2 + 2 * len(years)
        assert [name for name, reason in unread(found) if reason == "not a program"] == ["http://a.org/"]

    def test_a_store_of_the_other_kind_is_refused(self, index: Index, tmp_path: Path) -> None:
        programs = write(tmp_path / "2026", alice__main_py=COPY, bob__main_py=SUM)
        essays = write(tmp_path / "essays", a_txt=MILL, b_txt=MILL)
        with pytest.raises(WinnowError, match=r"is a store of texts, and the documents are programs: .* programs$"):
            index.pairs(programs)
        assert ("a.txt", "b.txt") in names(index.pairs(essays))
        with Index.open(tmp_path / "old.winnow", scheme=Scheme.preset("programs")) as old:
            old.add([Page("file:///2025/tom/main.py", text=SUM)])
            for texts in (essays, documents(a=MILL)):
                with pytest.raises(WinnowError, match=r"a store of programs, and the documents are texts: .* pages$"):
                    old.pairs(texts)

    def test_a_coarse_store_of_programs_gives_the_pairs_of_a_fine_one(self, tmp_path: Path) -> None:
        new = write(tmp_path / "2026", alice__main_py=COPY, bob__main_py=OTHER)
        found = {}
        for preset in ("code", "programs"):
            with Index.open(tmp_path / f"{preset}.winnow", scheme=Scheme.preset(preset)) as old:
                old.add([Page("file:///2025/tom/main.py", text=SUM), Page("file:///2025/li/main.py", text=OTHER[60:])])
                found[preset] = old.pairs(new, min_similarity=0.01), old.pairs(min_similarity=0.01)
        assert [each.pairs for each in found["code"]] == [each.pairs for each in found["programs"]]
        assert found["code"][0].scheme == Scheme.preset("programs").id

    def test_texts_must_be_stored(self, file_index: Index, tmp_path: Path) -> None:
        file_index.index([write(tmp_path / "pages", a_txt=MILL)], text=False)
        with pytest.raises(WinnowError, match="does not keep the texts of 1 page"):
            file_index.pairs()
