"""winnow compare: numbers, rows and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click import unstyle
from click.testing import Result

from opensearch_winnow import Scheme, compare
from opensearch_winnow.answers.formatting import percent
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import capture_id
from tests.operations.sets.test_pairs import COPY, SUM

Winnow = Callable[..., Result]
Prose = Callable[..., str]


def test_json_equals_the_answer_of_the_library(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    done = winnow("compare", *pair, "--json")
    both = compare(pair[0].read_text(), pair[1].read_text())
    assert done.exit_code == 0
    assert json.loads(done.stdout) == both.to_dict()
    assert [list(each) for each in json.loads(done.stdout)["passages"]] == [
        ["start", "end", "other_start", "other_end"]
    ] * 3
    assert done.stdout.count("\n") == 1


def test_rows_have_the_passages(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    a, b = (path.read_text() for path in pair)
    head, *rows = [line.split("\t") for line in winnow("compare", *pair).stdout.splitlines()]
    assert head == ["number", "start", "end", "other_start", "other_end", "words", "moved", "boilerplate", "text"]
    assert [(row[0], *row[6:8]) for row in rows] == [
        ("1", "false", "false"),
        ("2", "false", "false"),
        ("3", "true", "false"),
    ]
    for row in rows:
        start, end, other_start, other_end = map(int, row[1:5])
        assert canonical_text(a[start:end]).chars == canonical_text(b[other_start:other_end]).chars
        assert int(row[5]) == pytest.approx(60, abs=2)
        assert row[8] == " ".join(a[start:end].split())


def test_offsets_count_characters_of_the_unchanged_file(winnow: Winnow, tmp_path: Path, prose: Prose) -> None:
    """Line ends of two characters stay two, and a byte order mark is one."""
    shared = prose(60)
    (tmp_path / "a").write_bytes(("\ufeffé\r\n\r\n" + shared).encode())
    (tmp_path / "b").write_bytes(shared.encode())
    (passage,) = json.loads(winnow("compare", tmp_path / "a", tmp_path / "b", "--json").stdout)["passages"]
    assert (passage["start"], passage["other_start"]) == (6, 0)


def test_nothing_shared_says_why(winnow: Winnow, tmp_path: Path, prose: Prose) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text(prose(80, 1))
    b.write_text(prose(80, 2))
    done = winnow("compare", a, b)
    assert done.exit_code == 1
    assert "Nothing shared: no run of 10 words, and none of 149 canonical characters; nor does" in done.stderr
    a.write_text("")
    done = winnow("compare", a, b, "--json")
    assert done.exit_code == 1
    assert "A has 0 canonical characters; at least 50 are needed (--noise)" in done.stderr
    nothing = json.loads(done.stdout)
    assert [nothing[name] for name in ("resemblance", "containment", "contained", "passages")] == [0, 0, 0, []]
    assert nothing["relationship"] == {"kind": "nothing in common", "reason": "no shared passage"}


def test_nothing_shared_suggests_what_would_find_something(winnow: Winnow, tmp_path: Path, prose: Prose) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    quote = "seven remarkable expressions standing together"  # 42 letters
    a.write_text(f"{prose(40, 1)} {quote} {prose(40, 2)}")
    b.write_text(f"{prose(40, 3)} {quote} {prose(40, 4)}")
    done = winnow("compare", a, b)
    assert "--preset passages finds 1 passage." in done.stderr
    assert winnow("compare", a, b, "--preset", "passages").exit_code == 0


def test_the_finest_preset_does_not_suggest_itself(winnow: Winnow, tmp_path: Path, prose: Prose) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text(prose(80, 1))
    b.write_text(prose(80, 2))
    nothing = "Nothing shared: no run of 10 words, and none of {} canonical characters"
    assert winnow("compare", a, b, "--preset", "passages").stderr == f"{nothing.format(40)}.\n"
    assert winnow("compare", a, b, "--noise", "15", "--guarantee", "30").stderr == f"{nothing.format(30)}.\n"
    coarser = winnow("compare", a, b, "--noise", "15", "--guarantee", "60").stderr
    assert coarser == f"{nothing.format(60)}; nor does --preset passages find a shorter one.\n"


def test_letters_that_only_look_alike_are_pointed_out(winnow: Winnow, tmp_path: Path, prose: Prose) -> None:
    a, b, other = (tmp_path / name for name in ("a", "b", "other"))
    a.write_text(prose(80, 1))
    b.write_text(prose(80, 1).translate(str.maketrans("aeo", "\u0430\u0435\u043e")))  # Cyrillic letters
    other.write_text(prose(80, 2) + " é")
    hint = "With --fold-confusables, 1 passage is shared: some letters only look alike.\n"
    done = winnow("compare", a, b)
    assert done.exit_code == 1
    assert done.stderr.startswith("Nothing shared: ")
    assert done.stderr.endswith(f"\n{hint}")
    assert "--fold-confusables" not in winnow("compare", a, other).stderr
    folded = winnow("compare", a, b, "--fold-confusables", "--json")
    assert (folded.exit_code, folded.stderr) == (0, "")
    assert json.loads(folded.stdout)["relationship"]["reason"].endswith(", but some letters only look alike")


def test_fail_above(winnow: Winnow, pair: tuple[Path, Path], tmp_path: Path, prose: Prose) -> None:
    resemblance = compare(pair[0].read_text(), pair[1].read_text()).resemblance
    assert winnow("compare", *pair, "--fail-above", "0.1").exit_code == 1
    assert winnow("compare", *pair, "--fail-above", str(resemblance)).exit_code == 0
    assert winnow("compare", *pair, "--fail-above", "1").exit_code == 0
    assert winnow("compare", *pair, "--fail-above", "80").exit_code == 2
    (tmp_path / "other").write_text(prose(100, 9))
    nothing = winnow("compare", pair[0], tmp_path / "other", "--fail-above", "0.1")
    assert nothing.exit_code == 0
    assert "Nothing shared" in nothing.stderr


def test_one_text_may_come_from_stdin(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    whole = winnow("compare", *pair, "--json").stdout
    assert winnow("compare", "-", pair[1], "--json", stdin=pair[0].read_bytes()).stdout == whole
    assert winnow("compare", pair[0], "-", "--json", stdin=pair[1].read_bytes()).stdout == whole
    both = winnow("compare", "-", "-", stdin=b"x")
    assert both.exit_code == 2
    assert "only one of A and B can be -" in both.stderr


def test_copied_programs_are_recognized(winnow: Winnow, tmp_path: Path) -> None:
    """All names differ, and comments contain other languages' syntax; the file names tell the language."""
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    line = "def {0}(self, {1}):\n    {2}while {1}[{1}.{0}] // 2 > 3:\n        yield {0}({1}, '{1}')\n"
    a.write_text("".join(line.format(f"one{i}", f"two{i}", "") for i in range(9)))
    b.write_text("".join(line.format(f"q{i}", f"r{i}", "# it's no '//'\n    ") for i in range(9)))
    done = winnow("compare", a, b, "--preset", "code", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["resemblance"], found["containment"], found["contained"]) == (1, 1, 1)
    both = compare(a.read_text(), b.read_text(), Scheme.preset("code"), names=("a.py", "b.py"))
    assert found["passages"] == [passage._asdict() for passage in both.passages] != []
    assert winnow("compare", a, "-", "--preset", "code", "--json", stdin=b.read_bytes()).stdout == done.stdout
    assert winnow("compare", a, b, "--preset", "pages").exit_code == 1


def test_two_programs_are_compared_as_programs(winnow: Winnow, tmp_path: Path) -> None:
    a, b, text = tmp_path / "a.py", tmp_path / "b.py", tmp_path / "b.txt"
    a.write_text(SUM)
    b.write_text(COPY)
    text.write_text(COPY)
    done = winnow("compare", a, b)
    assert "compared as programs; --preset pages compares them as texts" in done.stderr
    ((*_, tokens, _, _, _),) = (line.split("\t") for line in done.stdout.splitlines()[1:])
    whole = len(canonical(SUM, Scheme.preset("programs"), name="a.py").chars)
    assert int(tokens) == whole > len(SUM.split())
    assert winnow("compare", a, b, "--preset", "pages").stdout != done.stdout
    assert f"{whole} tokens" in winnow("compare", a, b, "--color", "always").stdout
    assert "programs" not in winnow("compare", a, text).stderr


def test_programs_that_share_nothing(winnow: Winnow, tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_text("x = 1\n" * 20)
    b.write_text("while y: del z\n" * 20)
    done = winnow("compare", a, b, "--preset", "code")
    assert "Nothing shared: no run of 10 tokens; nor does" in done.stderr
    b.write_text("x = 1  # one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve\n")
    done = winnow("compare", a, b, "--preset", "code")
    assert "B has 3 tokens; at least 30 are needed (--noise)" in done.stderr


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0 %"),
        (1e-9, "under 1 %"),
        (0.01, "1 %"),
        (0.714, "71 %"),
        (0.99, "99 %"),
        (0.9901, "over 99 %"),
        (1, "100 %"),
    ],
)
def test_percentages_are_never_rounded_to_0_or_100(share: float, words: str) -> None:
    assert percent(share).strip() == words


MILL = "http://example.org/mill"
QUOTE = "http://example.net/quote"
FIRST, SECOND = datetime(2023, 5, 6, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC)  # the captures of MILL
ONE = capture_id(MILL, FIRST)


def pages_of(store: Path, *urls: str) -> list[str]:
    with Index.open(store, create=False) as index:
        return [index.page(url).text for url in urls]


def test_pages_of_a_store(winnow: Winnow, crawl: Path) -> None:
    done = winnow("compare", MILL, QUOTE, "--store", crawl, "--json")
    mill, quote = pages_of(crawl, MILL, QUOTE)
    both = compare(mill, quote)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == both.to_dict() | {
        "a": {"id": capture_id(MILL, SECOND), "url": MILL, "fetched_at": "2024-03-01T00:00:00Z"},
        "b": {"id": capture_id(QUOTE, None), "url": QUOTE, "fetched_at": None},
    }
    assert len(both)


def test_a_file_against_a_page(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    whole = json.loads(winnow("compare", MILL, QUOTE, "--store", crawl, "--json").stdout)
    whole["a"] = None  # the file is no capture
    mill, quote = pages_of(crawl, MILL, QUOTE)
    (tmp_path / "mill.txt").write_text(mill)
    (tmp_path / "quote.html").write_text(f"<p>{quote}")
    assert json.loads(winnow("compare", tmp_path / "mill.txt", QUOTE, "--store", crawl, "--json").stdout) == whole
    assert json.loads(winnow("compare", "-", QUOTE, "--store", crawl, "--json", stdin=mill).stdout) == whole
    html = json.loads(winnow("compare", MILL, tmp_path / "quote.html", "--store", crawl, "--json").stdout)
    assert html["resemblance"] == whole["resemblance"]


def test_the_scheme_of_the_store_is_used(winnow: Winnow, tmp_path: Path, prose: Prose) -> None:
    """Options override it; and a store named only by the environment does not change how files are compared."""
    store = tmp_path / "fine.winnow"
    quote = "seven remarkable expressions standing together"
    texts = [f"{prose(40, 2 * n)} {quote} {prose(40, 2 * n + 1)}" for n in (1, 2)]
    with Index.open(store, scheme=Scheme.preset("passages")) as index:
        index.add(Page(f"http://example.org/{n}", text=text) for n, text in enumerate(texts))
    urls = ("http://example.org/0", "http://example.org/1")
    assert winnow("compare", *urls, "--store", store).exit_code == 0
    coarse = winnow("compare", *urls, "--store", store, "--preset", "pages")
    assert coarse.exit_code == 1
    assert "--preset passages finds 1 passage." in coarse.stderr
    for name, text in zip("ab", texts, strict=True):
        (tmp_path / name).write_text(text)
    files = (tmp_path / "a", tmp_path / "b")
    assert winnow("compare", *files, "--store", store).exit_code == 0
    assert winnow("compare", *files).exit_code == 1


def test_the_store_of_the_environment(
    winnow: Winnow, crawl: Path, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_option = winnow("compare", MILL, QUOTE, "--store", crawl, "--json").stdout
    files = winnow("compare", *pair, "--json").stdout
    monkeypatch.setenv("WINNOW_STORE", str(crawl))
    assert winnow("compare", MILL, QUOTE, "--json").stdout == by_option
    assert winnow("compare", *pair, "--json").stdout == files
    monkeypatch.setenv("WINNOW_STORE", "gone.winnow")
    assert winnow("compare", *pair, "--json").stdout == files
    assert "gone.winnow" in winnow("compare", MILL, QUOTE).stderr


def test_unknown_pages_are_refused(winnow: Winnow, crawl: Path, pair: tuple[Path, Path]) -> None:
    near = winnow("compare", pair[0], "https://example.org/mill", "--store", crawl)
    assert (near.exit_code, near.stdout) == (2, "")
    assert f"there is {MILL}" in near.stderr
    no_store = winnow("compare", pair[0], MILL)
    assert no_store.exit_code == 2
    assert f"there is no file {MILL}; " in no_store.stderr
    assert "--store" in no_store.stderr


def test_the_same_page_twice_is_reported(winnow: Winnow, crawl: Path, pair: tuple[Path, Path]) -> None:
    same = f"A and B are the same capture. Choose another of that page with --at: winnow history {MILL} lists them\n"
    for names in ((MILL, MILL), (MILL, capture_id(MILL, SECOND)), (MILL, "--at", "2024-04")):
        done = winnow("compare", *names, "--store", crawl, "--json")
        assert (done.exit_code, json.loads(done.stdout)["resemblance"]) == (0, 1)
        assert done.stderr == same
    assert winnow("compare", pair[0], pair[0]).stderr == "A and B are the same file\n"
    assert winnow("compare", *pair).stderr == ""
    unknown = winnow("compare", "x", "x", "--store", crawl)
    assert (unknown.exit_code, unknown.stderr) == (2, f"Error: {crawl} has no page x\n")


@pytest.mark.parametrize(
    "words",
    [
        (MILL,),
        (MILL, "--at", "2023"),
        (MILL, "--at", "2023-05-06", "--at", "2024-03-01"),
        (capture_id(MILL, FIRST), MILL),
        (capture_id(MILL, FIRST), capture_id(MILL, SECOND)),
    ],
)
def test_two_captures_of_a_page(winnow: Winnow, crawl: Path, words: tuple[str, ...]) -> None:
    done = winnow("compare", *words, "--store", crawl, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert [answer[side]["fetched_at"] for side in "ab"] == ["2023-05-06T00:00:00Z", "2024-03-01T00:00:00Z"]
    with Index.open(crawl) as index:
        before, after = index.page(MILL, FIRST), index.page(MILL)
        both = index.compare(capture_id(MILL, FIRST), capture_id(MILL, SECOND))
    assert compare(before.text, after.text) == replace(both, a=None, b=None)
    assert answer["resemblance"] == both.resemblance < 1


def test_captures_of_two_pages_at_a_time(winnow: Winnow, crawl: Path, pair: tuple[Path, Path]) -> None:
    def captures(*words: str | Path) -> list[str]:
        answer = json.loads(winnow("compare", *words, "--store", crawl, "--json").stdout)
        return [answer[side]["fetched_at"][:10] if answer[side] else "" for side in "ab"]

    mirror = "http://mirror.example/mill"
    assert captures(MILL, mirror) == captures(MILL, mirror, "--at", "2024") == ["2024-03-01", "2024-03-02"]
    assert captures(MILL, mirror, "--at", "2023", "--at", "2024") == ["2023-05-06", "2024-03-02"]
    assert captures(pair[0], MILL, "--at", "2023") == ["", "2023-05-06"]
    early = winnow("compare", MILL, mirror, "--at", "2023", "--store", crawl)
    assert (early.exit_code, early.stdout) == (2, "")
    assert f"has no capture of {mirror} until 2023-12-31 23:59:59" in early.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("a.txt",), "give B, a text to compare a.txt with"),
        (("a.txt", "b.txt", "--at", "2024"), "--at chooses a capture of a page, but a.txt is a file"),
        (("a.txt", MILL, "--at", "2023", "--at", "2024"), "--at chooses a capture of a page, but a.txt is a file"),
        ((MILL, "--at", "1", "--at", "2", "--at", "3"), "'1' is not a date"),
        ((MILL, "--at", "2022", "--at", "2023", "--at", "2024"), "give --at at most twice"),
        ((QUOTE,), f"has only one capture of {QUOTE}: name another page to compare it with"),
        ((ONE,), f"{ONE} is the id of one capture: name another to compare it with"),
        ((ONE, MILL, "--at", "2024"), f"{ONE} is the id of one capture, so there is no other to choose by its date"),
        ((ONE, "0" * 32), f"has no capture {'0' * 32}: it may have been deleted"),
    ],
)
def test_captures_that_cannot_be_chosen(
    winnow: Winnow,
    crawl: Path,
    pair: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    complaint: str,
) -> None:
    monkeypatch.chdir(pair[0].parent)
    done = winnow("compare", *words, "--store", crawl)
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_captures_side_by_side(on_terminal: Callable[..., tuple[int, str]], crawl: Path, tmp_path: Path) -> None:
    code, shown = on_terminal("winnow", "compare", MILL, "--store", crawl.name, NO_COLOR="1", COLUMNS="120")
    lines = shown.splitlines()
    assert code == 0
    assert lines[2].startswith("Revised: ")
    assert lines[4].split(" │ ") == [f"A {MILL} (2023-05-06)".ljust(58), f"B {MILL} (2024-03-01)"]
    ids = f"{capture_id(MILL, FIRST)} {capture_id(MILL, SECOND)}"
    assert lines[-1] == f"→ winnow compare {ids} --html compare.html --store {crawl.name}"
    assert on_terminal(*lines[-1].split()[1:])[0] == 0
    assert f"{MILL} (2023-05-06)" in (tmp_path / "compare.html").read_text()


@pytest.mark.check
def test_pages_side_by_side(on_terminal: Callable[..., tuple[int, str]], crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "LICENCE").write_text(" ".join(pages_of(crawl, QUOTE)[0].split()[60:90]))
    assert on_terminal("winnow", "boilerplate", "add", "LICENCE", "--store", crawl)[0] == 0
    code, shown = on_terminal("winnow", "compare", MILL, QUOTE, "--store", crawl.name)
    lines = unstyle(shown).splitlines()
    assert code == 0
    assert lines[0] == "1 shared passage, 1 more run is boilerplate"
    assert any(line.startswith("boilerplate 30 words · A 0–") for line in lines)
    assert lines[-1] == f"→ winnow compare {MILL} {QUOTE} --html compare.html --store {crawl.name}"
    assert on_terminal("winnow", "compare", MILL, QUOTE, "--store", crawl, "--html", "out.html")[0] == 0
    assert "boilerplate" in (tmp_path / "out.html").read_text()
