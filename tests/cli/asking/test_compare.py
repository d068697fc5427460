"""winnow compare: numbers, rows, exit codes, and with --differences what only one of two texts has."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click import unstyle

from opensearch_winnow import Scheme, compare
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.answers.formatting import percent
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import capture_id
from tests.cli.conftest import MILL, OnTerminal, Prose, Winnow
from tests.meaningless_text import sentences
from tests.operations.sets.test_pairs import COPY, SUM

QUOTE, MIRROR = "http://example.net/quote", "http://mirror.example/mill"
FIRST, SECOND = datetime(2023, 5, 6, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC)  # the captures of MILL
ONE, OTHER = capture_id(MILL, FIRST), capture_id(MILL, SECOND)
SHORT_QUOTE = "seven remarkable expressions standing together"  # 42 letters


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "a", tmp_path / "b"


def test_json_equals_the_answer_of_the_library(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    done = winnow("compare", *pair, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == compare(pair[0].read_text(), pair[1].read_text()).to_dict()
    assert [list(each) for each in json.loads(done.stdout)["passages"]] == [
        ["start", "end", "other_start", "other_end"]
    ] * 3
    assert done.stdout.count("\n") == 1
    # Either text may come from a pipe.
    assert winnow("compare", "-", pair[1], "--json", stdin=pair[0].read_bytes()).stdout == done.stdout
    assert winnow("compare", pair[0], "-", "--json", stdin=pair[1].read_bytes()).stdout == done.stdout
    assert "only one of A and B" in winnow.refused("compare", "-", "-", stdin=b"x")


def test_rows_have_the_passages(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    a, b = (path.read_text() for path in pair)
    head, *rows = winnow.rows("compare", *pair)
    assert head == ["number", "start", "end", "other_start", "other_end", "words", "moved", "boilerplate", "text"]
    assert [(row[0], row[6], row[7]) for row in rows] == [
        ("1", "false", "false"),
        ("2", "false", "false"),
        ("3", "true", "false"),
    ]
    for row in rows:
        start, end, other_start, other_end = map(int, row[1:5])
        assert canonical_text(a[start:end]).chars == canonical_text(b[other_start:other_end]).chars
        assert int(row[5]) == pytest.approx(60, abs=2)
        assert row[8] == " ".join(a[start:end].split())


def test_offsets_count_characters_of_the_unchanged_file(winnow: Winnow, files: tuple[Path, Path], prose: Prose) -> None:
    """Line ends of two characters stay two, and a byte order mark is one."""
    files[0].write_bytes(("\ufeffé\r\n\r\n" + prose(60)).encode())
    files[1].write_bytes(prose(60).encode())
    (passage,) = winnow.json("compare", *files)["passages"]
    assert (passage["start"], passage["other_start"]) == (6, 0)


def test_nothing_shared_says_why_and_what_would_find_something(
    winnow: Winnow, files: tuple[Path, Path], prose: Prose
) -> None:
    a, b = files
    a.write_text(prose(80, 1))
    b.write_text(prose(80, 2))

    def said(*options: str) -> str:
        done = winnow("compare", a, b, *options)
        assert done.exit_code == 1
        return done.stderr

    assert "none of 149 canonical characters; nor does" in said()
    # The finest preset does not suggest itself.
    assert said("--preset", "passages").endswith(" 40 canonical characters.\n")
    assert said("--noise", "15", "--guarantee", "30").endswith(" 30 canonical characters.\n")
    assert " 60 canonical characters; nor does" in said("--noise", "15", "--guarantee", "60")
    a.write_text(f"{prose(40, 1)} {SHORT_QUOTE} {prose(40, 2)}")
    b.write_text(f"{prose(40, 3)} {SHORT_QUOTE} {prose(40, 4)}")
    assert "--preset passages finds 1 passage." in said()
    assert winnow("compare", a, b, "--preset", "passages").exit_code == 0
    a.write_text("")
    assert "A has 0 canonical characters; at least 50 are needed (--noise)" in said("--json")
    nothing = winnow.json("compare", a, b, code=1)
    assert [nothing[name] for name in ("resemblance", "containment", "contained", "passages")] == [0, 0, 0, []]
    assert nothing["relationship"] == {"kind": "nothing in common", "reason": "no shared passage"}


def test_letters_that_only_look_alike_are_pointed_out(winnow: Winnow, files: tuple[Path, Path], prose: Prose) -> None:
    a, b = files
    a.write_text(prose(80, 1))
    b.write_text(prose(80, 1).translate(str.maketrans("aeo", "\u0430\u0435\u043e")))  # Cyrillic letters
    done = winnow("compare", a, b)
    assert (done.exit_code, "\nWith --fold-confusables, 1 passage is shared" in done.stderr) == (1, True)
    folded = winnow("compare", a, b, "--fold-confusables", "--json")
    assert (folded.exit_code, folded.stderr) == (0, "")
    assert "look alike" in json.loads(folded.stdout)["relationship"]["reason"]
    b.write_text(prose(80, 2) + " é")
    assert "--fold-confusables" not in winnow("compare", a, b).stderr


def test_fail_above(winnow: Winnow, pair: tuple[Path, Path], tmp_path: Path, prose: Prose) -> None:
    resemblance = compare(pair[0].read_text(), pair[1].read_text()).resemblance
    for limit, code in (("0.1", 1), (str(resemblance), 0), ("1", 0), ("80", 2)):
        assert winnow("compare", *pair, "--fail-above", limit).exit_code == code
    (tmp_path / "other").write_text(prose(100, 9))
    nothing = winnow("compare", pair[0], tmp_path / "other", "--fail-above", "0.1")
    assert (nothing.exit_code, "Nothing shared" in nothing.stderr) == (0, True)


def test_copied_programs_are_recognized(winnow: Winnow, tmp_path: Path) -> None:
    """All names differ, and comments contain other languages' syntax; the file names tell the language."""
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    line = "def {0}(self, {1}):\n    {2}while {1}[{1}.{0}] // 2 > 3:\n        yield {0}({1}, '{1}')\n"
    a.write_text("".join(line.format(f"one{i}", f"two{i}", "") for i in range(9)))
    b.write_text("".join(line.format(f"q{i}", f"r{i}", "# it's no '//'\n    ") for i in range(9)))
    found = winnow.json("compare", a, b, "--preset", "code")
    assert (found["resemblance"], found["containment"], found["contained"]) == (1, 1, 1)
    both = compare(a.read_text(), b.read_text(), Scheme.preset("code"), names=("a.py", "b.py"))
    assert found["passages"] == [passage._asdict() for passage in both.passages] != []
    assert winnow.json("compare", a, "-", "--preset", "code", stdin=b.read_bytes()) == found
    assert winnow("compare", a, b, "--preset", "pages").exit_code == 1


def test_two_programs_are_compared_as_programs(winnow: Winnow, tmp_path: Path) -> None:
    a, b, text = tmp_path / "a.py", tmp_path / "b.py", tmp_path / "b.txt"
    for path, content in ((a, SUM), (b, COPY), (text, COPY)):
        path.write_text(content)
    done = winnow("compare", a, b)
    assert "compared as programs; --preset pages" in done.stderr
    ((*_, tokens, _, _, _),) = (line.split("\t") for line in done.stdout.splitlines()[1:])
    whole = len(canonical(SUM, Scheme.preset("programs"), name="a.py").chars)
    assert int(tokens) == whole > len(SUM.split())
    assert winnow("compare", a, b, "--preset", "pages").stdout != done.stdout
    assert f"{whole} tokens" in winnow("compare", a, b, "--color", "always").stdout
    assert "programs" not in winnow("compare", a, text).stderr
    a.write_text("x = 1\n" * 20)
    b.write_text("while y: del z\n" * 20)
    assert "no run of 10 tokens; nor does" in winnow("compare", a, b, "--preset", "code").stderr
    b.write_text("x = 1  # one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve\n")
    assert "B has 3 tokens; at least 30 are needed" in winnow("compare", a, b, "--preset", "code").stderr


def test_percentages_are_never_rounded_to_0_or_100() -> None:
    shares = {0: "0 %", 1e-9: "under 1 %", 0.01: "1 %", 0.714: "71 %", 0.99: "99 %", 0.9901: "over 99 %", 1: "100 %"}
    assert {share: percent(share).strip() for share in shares} == shares


def pages_of(store: Path, *urls: str) -> list[str]:
    with Index.open(store, create=False) as index:
        return [index.page(url).text for url in urls]


def test_pages_of_a_store_and_a_file_against_a_page(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    whole = winnow.json("compare", MILL, QUOTE, "--store", crawl)
    mill, quote = pages_of(crawl, MILL, QUOTE)
    both = compare(mill, quote)
    assert whole == both.to_dict() | {
        "a": {"id": OTHER, "url": MILL, "fetched_at": "2024-03-01T00:00:00Z"},
        "b": {"id": capture_id(QUOTE, None), "url": QUOTE, "fetched_at": None},
    }
    assert len(both)
    whole["a"] = None  # the file is no capture
    (tmp_path / "mill.txt").write_text(mill)
    (tmp_path / "quote.html").write_text(f"<p>{quote}")
    assert winnow.json("compare", tmp_path / "mill.txt", QUOTE, "--store", crawl) == whole
    assert winnow.json("compare", "-", QUOTE, "--store", crawl, stdin=mill) == whole
    html = winnow.json("compare", MILL, tmp_path / "quote.html", "--store", crawl)
    assert html["resemblance"] == whole["resemblance"]


def test_the_scheme_of_the_store_is_used(winnow: Winnow, files: tuple[Path, Path], prose: Prose) -> None:
    """Options override it; and a store named only by the environment does not change how files are compared."""
    store = files[0].with_name("fine.winnow")
    texts = [f"{prose(40, 2 * n)} {SHORT_QUOTE} {prose(40, 2 * n + 1)}" for n in (1, 2)]
    urls = ("http://example.org/0", "http://example.org/1")
    with Index.open(store, scheme=Scheme.preset("passages")) as index:
        index.add(Page(url, text=text) for url, text in zip(urls, texts, strict=True))
    assert winnow("compare", *urls, "--store", store).exit_code == 0
    coarse = winnow("compare", *urls, "--store", store, "--preset", "pages")
    assert (coarse.exit_code, "--preset passages finds 1 passage." in coarse.stderr) == (1, True)
    for path, text in zip(files, texts, strict=True):
        path.write_text(text)
    assert winnow("compare", *files, "--store", store).exit_code == 0
    assert winnow("compare", *files).exit_code == 1


def test_the_store_of_the_environment(
    winnow: Winnow, crawl: Path, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_option = winnow.json("compare", MILL, QUOTE, "--store", crawl)
    files = winnow.json("compare", *pair)
    monkeypatch.setenv("WINNOW_STORE", str(crawl))
    assert winnow.json("compare", MILL, QUOTE) == by_option
    assert winnow.json("compare", *pair) == files
    monkeypatch.setenv("WINNOW_STORE", "gone.winnow")
    assert winnow.json("compare", *pair) == files
    assert "gone.winnow" in winnow("compare", MILL, QUOTE).stderr


def test_unknown_pages_are_refused(winnow: Winnow, crawl: Path, pair: tuple[Path, Path]) -> None:
    assert f"there is {MILL}" in winnow.refused("compare", pair[0], "https://example.org/mill", "--store", crawl)
    no_store = winnow.refused("compare", pair[0], MILL)
    assert f"there is no file {MILL}; " in no_store
    assert "--store" in no_store


def test_the_same_page_twice_is_reported(winnow: Winnow, crawl: Path, pair: tuple[Path, Path]) -> None:
    for names in ((MILL, MILL), (MILL, OTHER), (MILL, "--at", "2024-04")):
        done = winnow("compare", *names, "--store", crawl, "--json")
        assert (done.exit_code, json.loads(done.stdout)["resemblance"]) == (0, 1)
        assert f"the same capture. Choose another of that page with --at: winnow history {MILL} " in done.stderr
    assert winnow("compare", pair[0], pair[0]).stderr == "A and B are the same file\n"
    assert winnow("compare", *pair).stderr == ""
    assert winnow.refused("compare", "x", "x", "--store", crawl) == f"Error: {crawl} has no page x"


@pytest.mark.parametrize(
    "words",
    [
        (MILL,),
        (MILL, "--at", "2023"),
        (MILL, "--at", "2023-05-06", "--at", "2024-03-01"),
        (ONE, MILL),
        (ONE, OTHER),
    ],
)
def test_two_captures_of_a_page(winnow: Winnow, crawl: Path, words: tuple[str, ...]) -> None:
    done = winnow("compare", *words, "--store", crawl, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert [answer[side]["fetched_at"] for side in "ab"] == ["2023-05-06T00:00:00Z", "2024-03-01T00:00:00Z"]
    with Index.open(crawl) as index:
        before, after, both = index.page(MILL, FIRST), index.page(MILL), index.compare(ONE, OTHER)
    assert compare(before.text, after.text) == replace(both, a=None, b=None)
    assert answer["resemblance"] == both.resemblance < 1


def test_captures_of_two_pages_at_a_time(winnow: Winnow, crawl: Path, pair: tuple[Path, Path]) -> None:
    def captures(*words: str | Path) -> list[str]:
        answer = winnow.json("compare", *words, "--store", crawl)
        return [answer[side]["fetched_at"][:10] if answer[side] else "" for side in "ab"]

    assert captures(MILL, MIRROR) == captures(MILL, MIRROR, "--at", "2024") == ["2024-03-01", "2024-03-02"]
    assert captures(MILL, MIRROR, "--at", "2023", "--at", "2024") == ["2023-05-06", "2024-03-02"]
    assert captures(pair[0], MILL, "--at", "2023") == ["", "2023-05-06"]
    early = winnow.refused("compare", MILL, MIRROR, "--at", "2023", "--store", crawl)
    assert f"has no capture of {MIRROR} until 2023-12-31 23:59:59" in early


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("a.txt",), "give B, a text to compare a.txt with"),
        (("a.txt", "b.txt", "--at", "2024"), "--at chooses a capture of a page, but a.txt is a file"),
        (("a.txt", MILL, "--at", "2023", "--at", "2024"), "--at chooses a capture of a page, but a.txt is a file"),
        ((MILL, "--at", "1", "--at", "2", "--at", "3"), "'1' is not a date"),
        ((MILL, "--at", "2022", "--at", "2023", "--at", "2024"), "give --at at most twice"),
        ((QUOTE,), f"has only one capture of {QUOTE}"),
        ((ONE,), f"{ONE} is the id of one capture: name another"),
        ((ONE, MILL, "--at", "2024"), f"{ONE} is the id of one capture: give a URL"),
        ((ONE, "0" * 32), f"has no capture {'0' * 32}"),
    ],
)
@pytest.mark.usefixtures("here", "pair")
def test_captures_that_cannot_be_chosen(winnow: Winnow, crawl: Path, words: tuple[str, ...], complaint: str) -> None:
    assert complaint in winnow.refused("compare", *words, "--store", crawl)


def test_captures_side_by_side(on_terminal: OnTerminal, crawl: Path, tmp_path: Path) -> None:
    code, shown = on_terminal("winnow", "compare", MILL, "--store", crawl.name, NO_COLOR="1", COLUMNS="120")
    lines = shown.splitlines()
    assert (code, lines[2].split()[0]) == (0, "Revised:")
    assert lines[4].split(" │ ") == [f"A {MILL} (2023-05-06)".ljust(58), f"B {MILL} (2024-03-01)"]
    assert lines[-1] == f"→ winnow compare {ONE} {OTHER} --html compare.html --store {crawl.name}"
    assert on_terminal(*lines[-1].split()[1:])[0] == 0
    assert f"{MILL} (2023-05-06)" in (tmp_path / "compare.html").read_text()


@pytest.mark.check
def test_pages_side_by_side(on_terminal: OnTerminal, crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "LICENCE").write_text(" ".join(pages_of(crawl, QUOTE)[0].split()[60:90]))
    assert on_terminal("winnow", "boilerplate", "add", "LICENCE", "--store", crawl)[0] == 0
    code, shown = on_terminal("winnow", "compare", MILL, QUOTE, "--store", crawl.name)
    lines = unstyle(shown).splitlines()
    assert (code, lines[0]) == (0, "1 shared passage, 1 more run is boilerplate")
    assert any(line.startswith("boilerplate 30 words · A 0–") for line in lines)
    assert lines[-1] == f"→ winnow compare {MILL} {QUOTE} --html compare.html --store {crawl.name}"
    assert on_terminal("winnow", "compare", MILL, QUOTE, "--store", crawl, "--html", "out.html")[0] == 0
    assert "boilerplate" in (tmp_path / "out.html").read_text()


ONLY = "Nobody spoke about the money at all that day", "The clerk stayed until the very end of it"


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, only in zip(paths, ONLY, strict=True):
        path.write_text(f"{sentences(40, 1)}\n\n{only}.\n\n{sentences(40, 2)}")
    return paths


def test_differences(winnow: Winnow, texts: list[Path]) -> None:
    head, *rows = winnow.rows("compare", *texts, "--differences")
    assert head == ["only_in", "start", "end", "text"]
    assert [(row[0], row[3]) for row in rows] == list(zip("AB", ONLY, strict=True))
    for (_, start, end, text), path in zip(rows, texts, strict=True):
        assert path.read_text()[int(start) : int(end)] == text
    answer = winnow.json("compare", *texts, "--differences")
    assert [[run["text"] for run in answer[key]] for key in ("removed", "added")] == [[only] for only in ONLY]
    assert winnow.json("compare", *texts)["removed"] is None
    assert winnow.rows("compare", texts[0], texts[0], "--differences") == [head]


def test_differences_of_pages(winnow: Winnow, crawl: Path) -> None:
    answer = winnow.json("compare", MILL, "--differences", "--store", crawl)
    with Index.open(crawl) as index:
        before, after = (answer[side]["id"] for side in "ab")
        assert answer == index.compare(before, after, differences=True).to_dict()
        assert index.compare(before, after).removed is None


def test_differences_on_a_terminal(on_terminal: OnTerminal, texts: list[Path]) -> None:
    code, table = on_terminal("winnow", "compare", *texts, "--differences", NO_COLOR="1", COLUMNS="50")
    assert code == 0
    assert "Only in A: 1 run\n− " in table
    assert "Only in B: 1 run\n+ " in table
    assert all(width(line) <= 50 for line in table.splitlines() if line.startswith(("−", "+")))
