"""Programs as HTML: all of the text, line by line, with the right numbers and marks."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given, strategies as st

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.foundation.scheme import PRESETS
from opensearch_winnow.queries.compare import compare
from opensearch_winnow.web.texts.compared_panes import shown_panes
from opensearch_winnow.web.texts.marked_code import (
    BLOCK_LINES,
    FOLD_EDGE_LINES,
    MAX_UNFOLDED_LINES,
    count_lines,
    line_starts,
    lines_of,
    marked_code,
)
from opensearch_winnow.web.texts.marked_text import Marking
from opensearch_winnow.web.texts.shown_passages import shown_passages

MARKING = Marking(own="p", partner="b")
ROW = re.compile(
    r'<div class="row(?: whole)?" data-line="(\d+)">(?:<span class="at">.*?</span>)?<code>(.*?)</code></div>', re.DOTALL
)


def rows(html: str) -> list[tuple[int, str]]:
    return [(int(number), unescape(re.sub(r"<[^>]+>", "", code))) for number, code in ROW.findall(html)]


@st.composite
def marked_programs(draw: st.DrawFn) -> tuple[str, dict[int, tuple[int, int]]]:
    text = "".join(draw(st.lists(st.sampled_from(["a", "<b>", " ", "\n", "    ", "}\n", "&"]), min_size=1)))
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
    spans = draw(st.lists(places.filter(lambda each: each[0] < each[1]), max_size=4))
    return text, dict(enumerate(spans, 1))


@given(marked_programs())
def test_every_line_is_there_with_its_number(program: tuple[str, dict[int, tuple[int, int]]]) -> None:
    text, spans = program
    html = "".join(marked_code(text, spans, MARKING))
    shown = rows(html)
    assert "".join(line for _, line in shown) == text
    assert [number for number, _ in shown] == list(range(1, len(shown) + 1))
    assert [line.rstrip("\n") for _, line in shown] == text.removesuffix("\n").split("\n")
    for number in spans:
        assert html.count(f'id="p{number}"') == 1


@given(marked_programs())
def test_what_is_shared_is_marked_except_for_space(program: tuple[str, dict[int, tuple[int, int]]]) -> None:
    text, spans = program
    html = "".join(marked_code(text, spans, MARKING))
    for number, (start, end) in spans.items():
        marks = re.findall(rf'<mark class="[^"]*\bp{number}\b[^"]*"[^>]*>(.*?)</mark>', html, re.DOTALL)
        assert "".join(unescape("".join(marks)).split()) == "".join(text[start:end].split())


def test_a_line_that_is_shared_from_end_to_end_is_marked_as_a_whole() -> None:
    text = "if (a) {\n    b();\n}  c();\n"
    html = "".join(marked_code(text, {1: (text.index("b"), text.index("}") + 1)}, MARKING))
    assert re.findall(r'class="row( whole)?"', html) == ["", " whole", ""]
    assert ">    b();\n</mark>" in html


def test_numbers_stand_outside_of_the_code() -> None:
    html = "".join(marked_code("x = 1\ny = 2\n", {1: (6, 11)}, MARKING))
    assert '<span class="at"><a class="n" id="p1" href="#b1">1</a></span><code>' in html


def test_many_lines_that_are_not_shared_are_folded() -> None:
    lines = [f"line{number}\n" for number in range(1, 201)]
    text = "".join(lines)
    shared = text.index("line191\n")
    html = "".join(marked_code(text, {1: (shared, shared + 8)}, MARKING))
    folded = rows(html[html.index("<details") : html.index("</details>")])
    assert folded[0][0] == FOLD_EDGE_LINES + 1
    assert folded[-1][0] == 190 - FOLD_EDGE_LINES
    assert f"<summary>{len(folded)} lines not shared</summary>" in html
    assert rows(html) == [(number, line) for number, line in enumerate(lines, 1)]
    few = "".join(marked_code("".join(lines[:MAX_UNFOLDED_LINES]), {}, MARKING))
    assert "<details" not in few
    assert html.count('<div class="block"') >= 200 // BLOCK_LINES


def test_what_is_not_visible_is_left_out() -> None:
    text = "".join(f"line{number}\n" for number in range(1, 101))
    at = text.index("line50")
    marking = Marking(own="p", partner="b", visible=[(at - 7, at + 14)])
    html = "".join(marked_code(text, {1: (at, at + 6)}, marking))
    assert rows(html) == [(49, "line49\n"), (50, "line50\n"), (51, "line51\n")]
    assert html.count("characters left out") == 2


def test_the_lines_of_a_span() -> None:
    starts = line_starts("a\r\nb\rc\n")
    assert starts == [0, 3, 5]
    assert lines_of(starts, (0, 1)) == (1, 1)
    assert lines_of(starts, (0, 4)) == (1, 2)
    assert lines_of(starts, (5, 6)) == (3, 3)


def test_the_lines_of_a_passage_end_with_its_text() -> None:
    text = "x = 1\ndef add(a, b):\n    return a + b\n\n\ndef other(c):\n    pass\n"
    starts, begin = line_starts(text), text.index("def add")
    assert count_lines(text, starts, (begin, text.index(" other"))) == 2
    assert count_lines(text, starts, (begin, text.index("\n    pass"))) == 3
    assert count_lines(text, starts, (0, len(text))) == 5
    assert count_lines(text, starts, (begin, begin + 1)) == 1


def test_the_compare_screen_shows_a_store_of_code_in_lines() -> None:
    text = "".join(f"total{number} = add({number}, {number + 1});\n" for number in range(20))
    a, b = (ComparedText(id=name, text=text) for name in "ab")
    for preset, code in (("code", True), ("pages", False)):
        scheme = PRESETS[preset]
        both = compare(text, text, scheme, names=("a.java", "b.java"))
        compared = Compared.of(a, b, both, scheme)
        view = shown_panes(compared, shown_passages(compared.passages, 1), lambda number: f"#{number}")
        assert [pane.code for pane in view.panes] == [code, code]
        assert [bool(rows(pane.text)) for pane in view.panes] == [code, code]
        assert view.chips[0].size == ("20 lines" if code else f"{view.chips[0].words} words")
