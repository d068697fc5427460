"""winnow pairs, as its users call it."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from opensearch_winnow import Index, Page
from tests.operations.sets.test_pairs import COPY, DOOR, MILL, OTHER, SHIP, SUM, write

Winnow = Callable[..., Result]


@pytest.fixture
def essays(tmp_path: Path) -> str:
    return write(tmp_path / "essays", a_txt=MILL, b_txt=f"{MILL} {DOOR}", c_txt=f"{DOOR} {DOOR}", d_txt=SHIP)


@pytest.fixture
def homework(tmp_path: Path) -> str:
    return write(tmp_path / "class", alice__a_py=SUM, bob__b_py=COPY, carol__c_py=OTHER, carol__notes_txt="late")


def test_a_table_on_a_terminal(winnow: Winnow, homework: str) -> None:
    done = winnow("pairs", homework, "--color", "always")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert "3 submissions (each sub-folder is one), compared as programs: 3 pairs" in lines[0]
    assert lines[1:3] == ["1 pair has a similarity of 40 % or more, in 1 group", ""]
    assert lines[3].replace("\x1b[1m", "").replace("\x1b[0m", "").split() == [
        *("similarity", "A", "in", "B", "B", "in", "A", "longest", "(tokens)", "A", "B")
    ]
    *numbers, longest, a, b = lines[4].split()
    assert numbers == ["100", "%", "██████████", "100", "%", "100", "%"]
    assert (longest.isdigit(), a, b) == (True, "alice", "bob")
    assert done.stderr == "1 left out: not a program (carol/notes.txt)\n"


def test_json_csv_parquet_and_tab_separated_values_agree(winnow: Winnow, essays: str, tmp_path: Path) -> None:
    answer = winnow("pairs", essays, "--json")
    document = json.loads(answer.stdout)
    assert (answer.exit_code, document["total"], document["compared"]) == (0, 2, 6)
    assert (document["by"], document["min_score"], document["submissions"]) == ("similarity", 0.1, "files")
    assert (document["not_compared"], document["submitted"], document["unread"]) == ([], 4, [])
    rows = [each | {"passages": len(each["passages"])} for each in document["pairs"]]
    tables = {ending: tmp_path / f"out.{ending}" for ending in ("json", "jsonl", "csv", "parquet")}
    done = [winnow("pairs", essays, "--to", table) for table in tables.values()]
    assert [each.exit_code for each in done] == [0, 0, 0, 0]
    assert json.loads(tables["json"].read_text()) == document
    assert [json.loads(line) for line in tables["jsonl"].read_text().splitlines()] == rows
    assert pq.read_table(tables["parquet"]).to_pylist() == rows
    with tables["csv"].open(newline="") as file:
        read = list(csv.DictReader(file))
    assert read == [{name: str(value) for name, value in row.items()} for row in rows]
    assert [each.stdout for each in done] == [""] * 4
    head, *lines = (line.split("\t") for line in winnow("pairs", essays).stdout.splitlines())
    assert head == list(rows[0])
    assert lines == [[f"{v:.6g}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    passage = document["pairs"][0]["passages"][0]
    assert (passage["file"], passage["other_file"]) == ("a.txt", "b.txt")


def test_the_measure_the_minimum_and_the_limit(winnow: Winnow, essays: str) -> None:
    def listed(*options: str) -> list[str]:
        return ["".join(line.split("\t")[:2]) for line in winnow("pairs", essays, *options).stdout.splitlines()[1:]]

    assert listed() == ["a.txtb.txt", "b.txtc.txt"]
    assert listed("--limit", "1") == ["a.txtb.txt"]
    assert listed("--by", "containment", "--min-containment", "1") == ["a.txtb.txt"]
    assert listed("--min-containment", "1") == ["a.txtb.txt"]
    assert listed("--min-longest", "23") == ["b.txtc.txt"]
    assert listed("--min-similarity", "0.9") == listed("--min-similarity", "90%") == []


def test_nothing_found_is_exit_code_1(winnow: Winnow, essays: str) -> None:
    done = winnow("pairs", essays, "--min-similarity", "0.9", "--json")
    assert (done.exit_code, json.loads(done.stdout)["pairs"]) == (1, [])
    assert "4 documents, compared as texts: 6 pairs. No two have a similarity of 90 % or more." in done.stderr


def test_a_file_that_fails_is_exit_code_1(winnow: Winnow, essays: str) -> None:
    (Path(essays) / "late.txt.gz").write_bytes(b"\x1f\x8b\x08 no gzip")
    done = winnow("pairs", essays)
    assert done.exit_code == 1
    assert "late.txt.gz" in done.stderr
    assert len(done.stdout.splitlines()) == 3  # the others are compared


@pytest.fixture
def gaps(tmp_path: Path) -> str:
    """A class of seven: two can be compared, one only in part, and four not at all."""
    folder = Path(write(tmp_path / "class", alice__a_py=SUM, bob__b_py=OTHER, carol__c_py=COPY, carol__more_docx=b"PK"))
    write(folder, dora__work_pdf=b"%PDF-1.4", fay__main_py=f"'''\n{SUM}", gus__notes_txt="late")
    (folder / "emil").mkdir()
    return str(folder)


MISSING = (
    "4 of 7 submissions could not be compared: dora (PDF: convert it to text first); emil (an empty folder);"
    " gus (not a program); fay (a string or comment that is not closed hides the rest of it)"
)
IN_PART = "1 of 7 submissions was compared only in part: carol (more.docx: an office file: save it as text first)"


def test_those_that_were_not_compared_stand_first(winnow: Winnow, gaps: str, tmp_path: Path) -> None:
    shown = winnow("pairs", gaps, "--min-similarity", "1", "--color", "always")
    lines = [line.replace("\x1b[1m", "").replace("\x1b[0m", "") for line in shown.stdout.splitlines()]
    assert lines[:4] == [
        MISSING,
        IN_PART,
        "3 submissions (each sub-folder is one), compared as programs: 3 pairs",
        "1 pair has a similarity of 100 % or more, in 1 group",
    ]
    piped = winnow("pairs", gaps, "--to", tmp_path / "pairs.csv", "--report", tmp_path / "class.html")
    assert piped.stderr.splitlines()[:2] == [MISSING, IN_PART]
    document = json.loads(winnow("pairs", gaps, "--json").stdout)
    assert list(document)[:3] == ["not_compared", "partly_compared", "submitted"]
    assert [each["name"] for each in document["not_compared"]] == ["dora", "emil", "gus", "fay"]
    assert document["partly_compared"] == [{"name": "carol", "reason": "an office file: save it as text first"}]
    assert document["submitted"] == 7
    page = (tmp_path / "class.html").read_text()
    assert page.index(f">{MISSING}<") < page.index(f">{IN_PART}<") < page.index("<h1>")
    assert {done.exit_code for done in (shown, piped)} == {1}


def test_there_is_no_all_clear_for_those_that_were_not_compared(winnow: Winnow, tmp_path: Path) -> None:
    folder = write(tmp_path / "essays", a_txt=MILL, b_txt=SHIP, **{f"{n:02}_pdf": b"%PDF-1.4" for n in range(30)})
    done = winnow("pairs", folder, "--color", "always", "--report", tmp_path / "all.html")
    first, _, found = done.stdout.splitlines()[:3]
    names = ", ".join(f"{n:02}.pdf" for n in range(30))
    assert f"30 of 32 documents could not be compared: {names} (PDF: convert it to text first)" in first
    assert found == "No two of these have a similarity of 10 % or more"
    page = (tmp_path / "all.html").read_text()
    assert page.index(names) < page.index("<h1>No two of these")
    assert all(f"<li>{n:02}.pdf: PDF" in page for n in range(30))
    anonymous = winnow("pairs", folder, "--report", tmp_path / "no-names.html", "--anonymise")
    page = (tmp_path / "no-names.html").read_text()
    assert anonymous.exit_code == 1
    assert "30 of 32 documents could not be compared: Document" in page
    assert "00.pdf" not in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "name what to compare"),
        (["nowhere"], "there is no file or folder nowhere"),
        (["{essays}", "--min-similarity", "3"], "is not a share from 0 to 1"),
        (["{essays}", "--min-longest", "1", "--by", "similarity"], "give min_similarity, not min_longest"),
        (["{essays}", "--min-longest", "1", "--min-similarity", "1"], "give only one of min_similarity, min_longest"),
        (["{essays}", "--owner", "^(x)"], "owner ^(x) matches 0 of 4 documents, such as a.txt"),
        (["{essays}", "--noise", "10"], "name the preset too"),
        (["{essays}", "--to", "pairs.txt"], "ends in .json, .jsonl, .csv or .parquet"),
        (["{essays}", "--to", "{essays}/pairs.csv"], "would be read as an input"),
        (["{essays}", "--owner", "["], "neither a file nor a regular expression"),
        (["{essays}", "--base", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_done_is_said(winnow: Winnow, essays: str, options: list[str], message: str) -> None:
    done = winnow("pairs", *(option.format(essays=essays) for option in options))
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_file_is_replaced_only_on_request_and_when_complete(winnow: Winnow, essays: str, tmp_path: Path) -> None:
    out = tmp_path / "pairs.csv"
    out.write_text("mine")
    assert winnow("pairs", essays, "--to", out).exit_code == 2
    assert winnow("pairs", essays, "--to", out, "--overwrite", "--owner", "(").exit_code == 2
    assert out.read_text() == "mine"
    assert winnow("pairs", essays, "--to", out, "--overwrite").exit_code == 0
    assert out.read_text().startswith("a,b,similarity,")


def test_the_scheme_can_be_chosen(winnow: Winnow, essays: str) -> None:
    done = winnow("pairs", essays, "--preset", "passages", "--noise", "10", "--json")
    assert json.loads(done.stdout)["scheme"].startswith("10-40-")


def test_letters_that_look_alike_are_one_on_request(winnow: Winnow, tmp_path: Path) -> None:
    folder = write(tmp_path / "essays", a_txt=MILL, b_txt=MILL.replace("e", "е"))
    assert winnow("pairs", folder).exit_code == 1
    assert winnow("pairs", folder, "--fold-confusables").exit_code == 0


def test_the_bar_is_beside_the_number_that_ranks(winnow: Winnow, essays: str) -> None:
    lines = winnow("pairs", essays, "--by", "longest", "--color", "always").stdout.splitlines()[3:]
    assert lines[0].replace("\x1b[1m", "").split()[:3] == ["longest", "(words)", "similarity"]
    assert lines[1].split()[:2] == ["23", "██████████"]


def test_submissions_of_many_files_are_pointed_out(winnow: Winnow, tmp_path: Path) -> None:
    parts = {f"{top}__{n}__main_py": SUM for top in "ab" for n in range(10)}
    done = winnow("pairs", write(tmp_path / "class", **parts))
    assert "a submission has 10 files on average; --submissions files compares the files" in done.stderr


def test_a_store_has_earlier_documents(winnow: Winnow, essays: str, tmp_path: Path) -> None:
    store = tmp_path / "earlier.winnow"
    with Index.open(store) as index:
        index.add([Page("http://a.org/ship", text=SHIP), Page("http://a.org/copy", text=SHIP)])
    done = winnow("pairs", essays, "--store", store, "--color", "always")
    assert "4 documents and 2 earlier documents, compared as texts: 14 pairs" in done.stdout
    assert "d.txt" in done.stdout.splitlines()[4]
    inside = winnow("pairs", "--store", store, "--json")
    assert [(pair["a"], pair["b"]) for pair in json.loads(inside.stdout)["pairs"]] == [
        ("http://a.org/ship", "http://a.org/copy")
    ]


def test_hostile_names_do_not_act_on_the_terminal(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("\x1b[31mred\t.txt", "=cmd.txt", os.fsdecode(b"\xff.txt")):
        (tmp_path / "in" / name).write_text(MILL)
    assert winnow("pairs", tmp_path / "in", "--to", tmp_path / "out.csv").exit_code == 0
    done = winnow("pairs", tmp_path / "in")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert all(len(line.split("\t")) == 9 for line in done.stdout.splitlines())
    assert "'=cmd.txt" in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize("target", ["report.html", "report"])
def test_a_report(winnow: Winnow, homework: str, tmp_path: Path, target: str) -> None:
    report = tmp_path / target
    done = winnow("pairs", homework, "--report", report, "--json")
    assert (done.exit_code, json.loads(done.stdout)["total"]) == (0, 1)
    page = (report if target.endswith(".html") else report / "index.html").read_text()
    assert "<h1>1 pair has a similarity of 40 % or more, in 1 group</h1>" in page
    assert "carol/notes.txt: not a program" in page
    assert "alice" in page
    before = page
    again = winnow("pairs", homework, "--report", report)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "exists; name another, or add --overwrite" in again.stderr
    assert winnow("pairs", homework, "--report", report, "--overwrite", "--anonymise").exit_code == 0
    page = (report if target.endswith(".html") else report / "index.html").read_text()
    assert page != before
    assert "Submission 01" in page
    assert "alice" not in page


def test_a_report_of_nothing_is_written_too(winnow: Winnow, essays: str, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert winnow("pairs", essays, "--min-similarity", "1", "--report", report).exit_code == 1
    assert "No two have a similarity of 100 % or more" in report.read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--anonymise",), "anonymise is for a report: name the report, too"),
        (("--report", "nowhere/class.html"), "there is no folder nowhere"),
        (("--report", "same.json", "--to", "same.json"), "is named twice"),
        (("--report", "class/report.html"), "would be read as an input in the next run"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_at_once(
    winnow: Winnow,
    homework: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = winnow("pairs", homework, *arguments)
    assert done.exit_code == 2
    assert complaint in done.stderr
