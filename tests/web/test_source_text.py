"""A text coloured by its sources: batches, links and the strip."""

from __future__ import annotations

import re

import pytest

from opensearch_winnow.operations.asking.sources import TextSource, TextSources
from opensearch_winnow.web.texts.shown_passages import MAX_PASSAGES
from opensearch_winnow.web.texts.source_text import source_text

TEXT = "".join(f"word{number:05} " for number in range(1_000))  # 10 characters each


def found(*spans: tuple[int, int, int], grey: tuple[tuple[int, int], ...] = ()) -> TextSources:
    """Return sources with these parts: number of the source, start and end."""
    numbers = sorted({number for number, _, _ in spans})
    sources = [
        TextSource(number, number - 1, [], [], [(start, end) for each, start, end in spans if each == number], 0.1)
        for number in numbers
    ]
    return TextSources(sources, grey, 0.1 * bool(grey), 0.5, [])


def test_parts_have_the_number_and_the_colour_of_their_source() -> None:
    view = source_text(TEXT, found((1, 0, 99), (2, 100, 199), (1, 300, 399)), str)
    marks = re.findall(r'<mark class="(c\d) (p\d)"[^>]*><a class="n" id="(p\d)" href="#(s\d)">(\d)</a>', view.html)
    assert marks == [
        ("c1", "p1", "p1", "s1", "1"),
        ("c2", "p2", "p2", "s2", "2"),
        ("c1", "p3", "p3", "s1", "1"),
    ]
    assert view.first_part == {1: "#p1", 2: "#p2"}
    assert (view.part_count, view.shown.is_only) == (3, True)
    assert re.sub("<[^>]+>", "", re.sub("<a.*?</a>", "", view.html)) == TEXT


def test_what_is_original_is_never_folded() -> None:
    assert "<details" not in source_text(TEXT, found((1, 0, 99)), str).html


def test_very_many_parts_come_in_batches() -> None:
    many = found(*((1 + at % 2, 20 * at, 20 * at + 9) for at in range(MAX_PASSAGES + 50)))
    view = source_text(TEXT, many, lambda number: f"/x?from={number}", start=MAX_PASSAGES + 1)
    assert [each.number for each in view.shown.passages] == list(range(MAX_PASSAGES + 1, MAX_PASSAGES + 51))
    assert (view.shown.previous, view.shown.following) == (1, None)
    assert view.first_part == {1: "/x?from=1#p1", 2: "/x?from=2#p2"}
    assert 'id="p300"' not in view.html
    assert 'href="/x?from=300#p300"' in view.html


def test_only_the_beginning_of_a_long_text_is_shown() -> None:
    view = source_text(TEXT, found((1, 0, 99), (2, 480, 620), (3, 700, 799), grey=((800, 900),)), str, max_chars=500)
    assert view.html.count("<mark") == 2
    assert "word00049" in view.html
    assert "word00050" not in view.html
    assert len(view.strip) == 4  # the strip shows all of it


def test_the_strip_is_to_scale() -> None:
    view = source_text(TEXT, found((1, 0, 5_000), (2, 9_999, 10_000), grey=((6_000, 7_000),)), str)
    assert [part.colour for part in view.strip] == ["c1", "boilerplate", "c2"]
    assert [part.start for part in view.strip] == pytest.approx([0, 600, 999.9])
    assert [part.width for part in view.strip] == pytest.approx([500, 100, 2])  # the last would be invisible
