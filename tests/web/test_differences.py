"""Compared texts: passages with whole words, and all that two texts do not share, once, and nothing else."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, compare
from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.web.texts.compared_panes import whole_panes
from opensearch_winnow.web.texts.differences import MAX_WORD_PAIRS_PER_ROW, WordChanges, difference_rows, render_rows
from opensearch_winnow.web.texts.whole_words import trim_to_words, without_edges
from tests.web.known_crawl_fixture import paragraph

SCHEME = Scheme.preset("passages")
SHARED, OTHER = paragraph("shared by both"), paragraph("other shared")


def compared(a: str, b: str) -> Compared:
    sides = ComparedText(id="a", text=a), ComparedText(id="b", text=b)
    return Compared.of(*sides, compare(a, b, SCHEME), SCHEME)


def words(markup: str) -> list[str]:
    """Return the words of a cell, without the chips of passages."""
    return re.findall(r"\w+", unescape(re.sub("<a .*?</a>|<[^>]+>", "", markup, flags=re.DOTALL)))


PARTS = st.lists(st.sampled_from([paragraph(f"part {number}", 20) for number in range(6)]), max_size=6)


@given(PARTS, PARTS)
def test_all_that_is_not_shared_is_shown_once_and_in_order(ours: list[str], theirs: list[str]) -> None:
    found = trim_to_words(compared("\n".join(ours), "\n".join(theirs)))
    shown = render_rows(found, difference_rows(found), lambda number: f"?from={number}")
    for side, name in ((found.a, "a"), (found.b, "b")):
        expected = [word for start, end in side.unshared for word in re.findall(r"\w+", side.text[start:end])]
        assert [word for row in shown for word in words(getattr(row, name))] == expected
    everything = "".join(f"{row.a}{row.b}" for row in shown)
    names = re.findall(r' id="([pb]\d+)"', everything) + [f"p{row.passage.number}" for row in shown if row.passage]
    assert len(set(names)) == len(names)
    links = re.findall(' href="#([^"]+)"', everything)
    assert set(links) <= set(names)
    in_order = [row.passage for row in shown if row.passage]
    assert not any(each.moved for each in in_order)


def test_halves_of_words_are_not_shown() -> None:
    """Both words end in an e, which belongs to the shared run."""
    found = trim_to_words(compared(f"true {SHARED} on", f"false {SHARED} one"))
    (row,) = [row for row in difference_rows(found) if row.passage is None and row.a[0] == 0]
    (shown,) = render_rows(found, [row], str)
    assert (words(shown.a), words(shown.b)) == (["true"], ["false"])


def test_scripts_without_spaces_are_left_as_they_are() -> None:
    shared = "水車小屋の番人は朝ごとに谷の道を下って粉を量り夕方には誰とも話さずに帰っていった" * 2
    found = compared(f"昔{shared}", f"今{shared}")
    assert list(trim_to_words(found).passages) == list(found.passages)


@pytest.mark.parametrize(
    ("a", "b", "ours", "theirs"),
    [
        ("the old mill", "the new mill", ["old"], ["new"]),
        ("The Mill, closed", "the mill (closed)", [], []),
        ("one two", "three", ["one two"], ["three"]),
        ("one", "one two three", [], ["two three"]),
        ("", "one", [], ["one"]),
    ],
)
def test_words_that_stand_on_one_side_only(a: str, b: str, ours: list[str], theirs: list[str]) -> None:
    found = WordChanges().find(a, [(0, len(a))] if a else [], b, [(0, len(b))])
    assert [a[slice(*span)] for span in found[0]] == ours
    assert [b[slice(*span)] for span in found[1]] == theirs


def test_work_is_bounded() -> None:
    many = "word " * (MAX_WORD_PAIRS_PER_ROW // 100)
    whole = [(0, len(many))]
    assert WordChanges().find(many, whole, many, whole) == (whole, whole)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (f"ByteVectorValues\n{SHARED} Ending", f"FloatEncodings\n{SHARED} Ended"),  # half a word at either end
        (f"He said: -- {SHARED} ...", f"They said: -- {SHARED} ...\n\n{OTHER}"),
        (f"One\n{SHARED}\n{OTHER} and {SHARED} two", f"{SHARED}s {OTHER}e"),
    ],
    ids=["half-words", "punctuation", "repeated"],
)
def test_a_number_stands_at_the_first_word_of_its_passage(a: str, b: str) -> None:
    for pane in whole_panes(compared(a, b)).panes:
        numbers = re.findall(r'(.)<mark[^>]*>(?:<a class="n[^>]*>\d+</a>)+(.)', pane.text, re.DOTALL)
        assert numbers
        for before, after in numbers:
            assert not before.isalnum()
            assert after.isalnum()
        for last, after in re.findall("(.)</mark>(.)", pane.text, re.DOTALL):
            assert not (last.isalnum() and after.isalnum())


@given(st.text(" .\nab1", max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_edges(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    first, last = without_edges(text, (start, end))
    assert start <= first <= last <= end
    if any(map(str.isalnum, text[start:end])):
        assert text[first].isalnum()
        assert text[last - 1].isalnum()
        assert not any(map(str.isalnum, text[start:first] + text[last:end]))
    else:
        assert (first, last) == (start, end)
