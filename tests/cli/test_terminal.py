"""Output on a terminal: colours, columns, and no control characters from texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click import unstyle

from opensearch_winnow.answers.display_text import width
from tests.cli.conftest import OnTerminal, Prose
from tests.cli.test_hostile_terminal import ACTING

BACKGROUND_COLOUR = re.compile(r"\x1b\[38;5;16m\x1b\[48;5;\d+m(.*?)\x1b\[0m")


def test_compare_answers_first_then_shows_passages_side_by_side(
    on_terminal: OnTerminal, pair: tuple[Path, Path]
) -> None:
    code, shown = on_terminal("winnow", "compare", "a.txt", "b.txt")
    lines = unstyle(shown).splitlines()
    assert (code, lines[0]) == (0, "3 shared passages, 1 moved")
    assert re.fullmatch(r"resemblance \d+ %   A in B \d+ %   B in A \d+ %", lines[1])
    assert re.fullmatch(r"[A-Z][a-z ]+: .+, \d+ % of it in another order", lines[2])
    assert re.fullmatch(r"A a\.txt +│ B b\.txt", lines[4])
    heads = [line for line in lines if line.startswith("[")]
    assert [(head[:2], "moved" in head) for head in heads] == [("[1", False), ("[2", False), ("[3", True)]
    assert "60 words · A 0–" in heads[0]
    beside = [line for line in lines if "│" in line]
    assert {line.index("│") for line in beside} == {49}
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "→ winnow compare a.txt b.txt --html compare.html"
    left = " ".join(line.partition("│")[0].strip() for line in beside)
    assert pair[0].read_text()[:200] in left


def test_only_the_passages_are_coloured(on_terminal: OnTerminal, pair: tuple[Path, Path]) -> None:
    _, shown = on_terminal("winnow", "compare", "a.txt", "b.txt", "--full")
    first = shown.split("[2]")[0].split("[1]")[1]
    beside = (line.split("│") for line in first.splitlines() if "│" in line)
    rows = [[" ".join(BACKGROUND_COLOUR.findall(side)) for side in sides] for sides in beside]
    left, right = ("".join(row[side] for row in rows).replace(" ", "") for side in (0, 1))
    assert left.rstrip(".") == right.rstrip(".") == pair[0].read_text().split("\n\n")[0].replace(" ", "").rstrip(".")


def test_long_passages_are_shortened_in_the_middle(on_terminal: OnTerminal, tmp_path: Path, prose: Prose) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(prose(1_000) + f" and {name}")
    _, shown = on_terminal("winnow", "compare", "a", "b")
    _, full = on_terminal("winnow", "compare", "a", "b", "--full")
    assert re.search(r"… 9\d\d words …", unstyle(shown))
    assert "words …" not in unstyle(full)
    assert len(full.splitlines()) > 4 * len(shown.splitlines())


def test_no_color(on_terminal: OnTerminal, pair: tuple[Path, Path]) -> None:
    _, plain = on_terminal("winnow", "compare", *pair, NO_COLOR="1")
    assert "\x1b" not in plain
    assert re.search(r"\[1\] \w", plain)  # numbers mark the start and end of a passage instead
    assert "[/1]" in plain
    assert on_terminal("winnow", "compare", *pair, "--color", "never")[1] == plain
    assert on_terminal("winnow", "compare", *pair, TERM="dumb")[1] == plain
    assert "\x1b[48" in on_terminal("winnow", "compare", *pair, "--color", "always", NO_COLOR="1")[1]
    assert "\x1b[" in on_terminal("winnow", "compare", *pair, NO_COLOR="")[1]


def test_a_narrow_terminal_shows_a_above_b(on_terminal: OnTerminal, pair: tuple[Path, Path]) -> None:
    _, shown = on_terminal("winnow", "compare", *(path.name for path in pair), COLUMNS="40")
    assert "│" not in shown
    assert max(len(line) for line in unstyle(shown).splitlines()[5:-1] if "·" not in line) <= 40


def test_wide_characters_keep_the_columns_straight(on_terminal: OnTerminal, tmp_path: Path) -> None:
    ideographs = "".join(map(chr, range(0x4E00, 0x4E00 + 120)))
    (tmp_path / "a").write_text("abc " + ideographs)
    (tmp_path / "b").write_text("שלום עולם " + ideographs + " é́́ end")
    _, shown = on_terminal("winnow", "compare", "a", "b")
    beside = [line for line in unstyle(shown).splitlines() if "│" in line]
    assert len(beside) > 4
    assert {width(line.partition("│")[0]) for line in beside} == {49}
    assert max(map(width, beside)) <= 100


@pytest.mark.parametrize("command", ["compare", "fingerprint"])
def test_no_control_characters_of_a_text_reach_the_terminal(
    on_terminal: OnTerminal, tmp_path: Path, prose: Prose, command: str
) -> None:
    hostile = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp\u2066\b\r"
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(f"{hostile}{prose(15)} {hostile} {prose(15, 2)} {hostile}".encode())
    files = ["a", "b"][: 2 if command == "compare" else 1]
    _, shown = on_terminal("winnow", command, *files, NO_COLOR="1")
    assert "␛]0;title␇" in shown or command == "fingerprint"
    assert not ACTING.search(shown)


def test_a_file_name_of_300_characters_is_shortened_in_the_middle(
    on_terminal: OnTerminal, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    long = tmp_path / ("deep" * 50) / ("er" * 100) / "end.txt"
    long.parent.mkdir(parents=True)
    long.write_bytes(pair[1].read_bytes())
    _, shown = on_terminal("winnow", "compare", pair[0], long)
    (head,) = [line for line in unstyle(shown).splitlines() if line.startswith("A ")]
    assert width(head) <= 100
    assert head.endswith("end.txt")
    assert "…" in head


def test_fingerprint_is_a_table(on_terminal: OnTerminal, pair: tuple[Path, Path]) -> None:
    code, shown = on_terminal("winnow", "fingerprint", pair[0], "--preset", "passages")
    head, *rows, summary, next_step = unstyle(shown).splitlines()
    assert (code, head.split()) == (0, ["hash", "position", "k-gram"])
    assert all(re.match(r"[0-9a-f]{16} +\d+  \S", row) for row in rows)
    assert max(map(len, rows)) <= 100
    assert summary.startswith(f"{len(rows)} fingerprints of ")
    assert next_step.startswith("→ winnow compare")


def test_a_terminal_is_not_read_as_standard_input(on_terminal: OnTerminal) -> None:
    code, shown = on_terminal("winnow", "fingerprint", "-")
    assert (code, "Examples:" in shown, "nothing is piped in; name a file" in shown) == (2, True, True)
