"""winnow pairs, as its users call it."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click import unstyle

from opensearch_winnow import Index, Page
from tests.cli.conftest import Winnow
from tests.operations.sets.test_pairs import COPY, DOOR, MILL, OTHER, SHIP, SUM, write


@pytest.fixture
def essays(tmp_path: Path) -> str:
    return write(tmp_path / "essays", a_txt=MILL, b_txt=f"{MILL} {DOOR}", c_txt=f"{DOOR} {DOOR}", d_txt=SHIP)


@pytest.fixture
def homework(tmp_path: Path) -> str:
    return write(tmp_path / "class", alice__a_py=SUM, bob__b_py=COPY, carol__c_py=OTHER, carol__notes_txt="late")


def shown(winnow: Winnow, *arguments: str | Path, code: int = 0) -> list[str]:
    """Return the lines that a terminal shows."""
    done = winnow("pairs", *arguments, "--color", "always")
    assert done.exit_code == code
    return unstyle(done.stdout).splitlines()


def test_a_table_on_a_terminal(winnow: Winnow, homework: str, essays: str) -> None:
    compared, found, _, head, line = shown(winnow, homework)
    assert "3 submissions (each sub-folder is one), compared as programs: 3 pairs" in compared
    assert found == "1 pair has a similarity of 40 % or more, in 1 group"
    assert head.split() == [*("similarity", "A", "in", "B", "B", "in", "A", "longest", "(tokens)", "A", "B")]
    *numbers, longest, a, b = line.split()
    assert numbers == ["100", "%", "██████████", "100", "%", "100", "%"]
    assert (longest.isdigit(), a, b) == (True, "alice", "bob")
    assert winnow("pairs", homework, "--color", "always").stderr == "1 left out: not a program (carol/notes.txt)\n"
    # The bar is beside the number that ranks.
    head, line = shown(winnow, essays, "--by", "longest")[3:5]
    assert (head.split()[:3], line.split()[:2]) == (["longest", "(words)", "similarity"], ["23", "██████████"])


def test_json_csv_parquet_and_tab_separated_values_agree(winnow: Winnow, essays: str, tmp_path: Path) -> None:
    document = winnow.json("pairs", essays)
    assert (document["total"], document["compared"], document["submitted"]) == (2, 6, 4)
    rows = [each | {"passages": len(each["passages"])} for each in document["pairs"]]
    tables = {ending: tmp_path / f"out.{ending}" for ending in ("json", "jsonl", "csv", "parquet")}
    for table in tables.values():
        done = winnow("pairs", essays, "--to", table)
        assert (done.exit_code, done.stdout) == (0, "")
    assert json.loads(tables["json"].read_text()) == document
    assert [json.loads(line) for line in tables["jsonl"].read_text().splitlines()] == rows
    assert pq.read_table(tables["parquet"]).to_pylist() == rows
    with tables["csv"].open(newline="") as file:
        assert list(csv.DictReader(file)) == [{name: str(value) for name, value in row.items()} for row in rows]
    cells = [[f"{v:.6g}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    assert winnow.rows("pairs", essays) == [list(rows[0]), *cells]
    passage = document["pairs"][0]["passages"][0]
    assert (passage["file"], passage["other_file"]) == ("a.txt", "b.txt")


@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        ("", ["a.txt b.txt", "b.txt c.txt"]),
        ("--limit 1", ["a.txt b.txt"]),
        ("--by containment --min-containment 1", ["a.txt b.txt"]),
        ("--min-containment 1", ["a.txt b.txt"]),
        ("--min-longest 23", ["b.txt c.txt"]),
        ("--min-similarity 0.9", []),
        ("--min-similarity 90%", []),
    ],
)
def test_the_measure_the_minimum_and_the_limit(winnow: Winnow, essays: str, options: str, pairs: list[str]) -> None:
    _, *rows = winnow.rows("pairs", essays, *options.split(), code=int(not pairs))
    assert [" ".join(row[:2]) for row in rows] == pairs


def test_exit_code_1(winnow: Winnow, essays: str) -> None:
    done = winnow("pairs", essays, "--min-similarity", "0.9", "--json")
    assert (done.exit_code, json.loads(done.stdout)["pairs"]) == (1, [])
    assert "6 pairs. No two have a similarity of 90 % or more." in done.stderr
    (Path(essays) / "late.txt.gz").write_bytes(b"\x1f\x8b\x08 no gzip")
    done = winnow("pairs", essays)
    assert (done.exit_code, "late.txt.gz" in done.stderr) == (1, True)
    assert len(done.stdout.splitlines()) == 3  # the others are compared


def test_those_that_were_not_compared_stand_first(winnow: Winnow, tmp_path: Path) -> None:
    """A class of seven: two can be compared, one only in part, and four not at all."""
    folder = write(tmp_path / "class", alice__a_py=SUM, bob__b_py=OTHER, carol__c_py=COPY, carol__more_docx=b"PK")
    write(Path(folder), dora__work_pdf=b"%PDF-1.4", fay__main_py=f"'''\n{SUM}", gus__notes_txt="late")
    (Path(folder) / "emil").mkdir()
    missing, in_part, compared, found = shown(winnow, folder, "--min-similarity", "1", code=1)[:4]
    names = (
        "4 of 7",
        "dora (PDF: ",
        "; emil (an empty folder)",
        "; gus (not a program)",
        "; fay (a string or comment ",
    )
    assert [name for name in names if name not in missing] == []
    assert in_part.startswith("1 of 7 submissions was compared only in part: carol (more.docx: an office file")
    assert compared.startswith("3 submissions")
    assert found.startswith("1 pair")
    piped = winnow("pairs", folder, "--to", tmp_path / "pairs.csv", "--report", tmp_path / "class.html")
    assert (piped.exit_code, piped.stderr.splitlines()[:2]) == (1, [missing, in_part])
    document = winnow.json("pairs", folder, code=1)
    assert list(document)[:3] == ["not_compared", "partly_compared", "submitted"]
    assert [each["name"] for each in document["not_compared"]] == ["dora", "emil", "gus", "fay"]
    assert document["partly_compared"] == [{"name": "carol", "reason": "an office file: save it as text first"}]
    assert document["submitted"] == 7
    page = (tmp_path / "class.html").read_text()
    assert page.index(f">{missing}<") < page.index(f">{in_part}<") < page.index("<h1>")


def test_there_is_no_all_clear_for_those_that_were_not_compared(winnow: Winnow, tmp_path: Path) -> None:
    folder = write(tmp_path / "essays", a_txt=MILL, b_txt=SHIP, **{f"{n:02}_pdf": b"%PDF-1.4" for n in range(30)})
    first, _, found = shown(winnow, folder, "--report", tmp_path / "all.html", code=1)[:3]
    names = ", ".join(f"{n:02}.pdf" for n in range(30))
    assert f"30 of 32 documents could not be compared: {names} (PDF: " in first
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
        ("", "name what to compare"),
        ("essays --min-similarity 3", "is not a share from 0 to 1"),
        ("essays --min-longest 1 --by similarity", "give min_similarity, not min_longest"),
        ("essays --noise 10", "name the preset too"),
        ("essays --to pairs.txt", "ends in .json, .jsonl, .csv or .parquet"),
        ("essays --to essays/pairs.csv", "would be read as an input"),
        ("essays --owner [", "neither a file nor a regular expression"),
        ("essays --base nowhere", "nowhere"),
        ("essays --anonymise", "anonymise is for a report: name the report, too"),
        ("essays --report nowhere/class.html", "there is no folder nowhere"),
        ("essays --report same.json --to same.json", "is named twice"),
        ("essays --report essays/report.html", "would be read as an input in the next run"),
    ],
)
@pytest.mark.usefixtures("here", "essays")
def test_what_cannot_be_done_is_said(winnow: Winnow, options: str, message: str) -> None:
    assert message in winnow.refused("pairs", *options.split())


def test_a_file_is_replaced_only_on_request_and_when_complete(winnow: Winnow, essays: str, tmp_path: Path) -> None:
    out = tmp_path / "pairs.csv"
    out.write_text("mine")
    winnow.refused("pairs", essays, "--to", out)
    winnow.refused("pairs", essays, "--to", out, "--overwrite", "--owner", "(")
    assert out.read_text() == "mine"
    assert winnow("pairs", essays, "--to", out, "--overwrite").exit_code == 0
    assert out.read_text().startswith("a,b,similarity,")


def test_the_scheme_can_be_chosen(winnow: Winnow, essays: str) -> None:
    chosen = winnow.json("pairs", essays, "--preset", "passages", "--noise", "10")
    assert chosen["scheme"].startswith("10-40-")
    (Path(essays) / "e.txt").write_text(MILL.replace("e", "е"))
    assert (winnow.json("pairs", essays)["total"], winnow.json("pairs", essays, "--fold-confusables")["total"]) == (
        2,
        4,
    )


def test_submissions_of_many_files_are_pointed_out(winnow: Winnow, tmp_path: Path) -> None:
    parts = {f"{top}__{n}__main_py": SUM for top in "ab" for n in range(10)}
    done = winnow("pairs", write(tmp_path / "class", **parts))
    assert "a submission has 10 files on average; --submissions files compares the files" in done.stderr


def test_a_store_has_earlier_documents(winnow: Winnow, essays: str, tmp_path: Path) -> None:
    store = tmp_path / "earlier.winnow"
    with Index.open(store) as index:
        index.add([Page("http://a.org/ship", text=SHIP), Page("http://a.org/copy", text=SHIP)])
    lines = shown(winnow, essays, "--store", store)
    assert "4 documents and 2 earlier documents, compared as texts: 14 pairs" in lines[0]
    assert "d.txt" in lines[4]
    (pair,) = winnow.json("pairs", "--store", store)["pairs"]
    assert (pair["a"], pair["b"]) == ("http://a.org/ship", "http://a.org/copy")


def test_hostile_names_do_not_act_on_the_terminal(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("\x1b[31mred\t.txt", "=cmd.txt", os.fsdecode(b"\xff.txt")):
        (tmp_path / "in" / name).write_text(MILL)
    assert winnow("pairs", tmp_path / "in", "--to", tmp_path / "out.csv").exit_code == 0
    done = winnow("pairs", tmp_path / "in")
    assert (done.exit_code, "\x1b" in done.stdout) == (0, False)
    assert all(len(line.split("\t")) == 9 for line in done.stdout.splitlines())
    assert "'=cmd.txt" in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(("target", "page"), [("report.html", "report.html"), ("report", "report/index.html")])
def test_a_report(winnow: Winnow, homework: str, tmp_path: Path, target: str, page: str) -> None:
    report = ("pairs", homework, "--report", tmp_path / target)
    assert winnow.json(*report)["total"] == 1
    before = (tmp_path / page).read_text()
    for part in ("<h1>1 pair has a similarity of 40 % or more, in 1 group</h1>", "carol/notes.txt: not", "alice"):
        assert part in before
    assert "exists; name another, or add --overwrite" in winnow.refused(*report)
    assert winnow(*report, "--overwrite", "--anonymise").exit_code == 0
    anonymous = (tmp_path / page).read_text()
    assert "Submission 01" in anonymous
    assert "alice" not in anonymous


def test_a_report_of_nothing_is_written_too(winnow: Winnow, essays: str, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert winnow("pairs", essays, "--min-similarity", "1", "--report", report).exit_code == 1
    assert "No two have a similarity of 100 % or more" in report.read_text()
