"""Matches on a terminal: lines that fit, URLs that can be told apart, bars and percentages; and typed dates."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.answers.display_text import one_line, width
from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.cli.asking.match_table import table
from opensearch_winnow.cli.short_urls import short_urls
from opensearch_winnow.cli.terminal import bar
from opensearch_winnow.foundation.time_period import TimePeriod
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.relationship import Lengths
from opensearch_winnow.queries.scores import Passage
from tests.cli.sample_card import CONTROL_CHARACTERS, MILL, card
from tests.sample_matches import sample_matches

match = Match(card, 0.94, 0.97, 0.96, "exact", 0.0, [Passage(0, 9, 5, 14)] * 3)


def lines(matches: Matches, columns: int, **options: bool) -> list[str]:
    return ["".join(text for text, _ in line) for line in table(matches, columns, **options)]


def test_a_line_has_three_numbers_a_bar_and_the_page() -> None:
    head, line = lines(sample_matches(match), 120)
    assert head.split() == ["resemblance", "A", "in", "B", "B", "in", "A", "passages", "date", "page", "(B)"]
    assert re.split(" {2,}", line.strip()) == [
        "94 % █████████▍", "97 %", "96 %", "3", "2024-03-01", MILL, "The mill"
    ]  # fmt: skip
    assert head.index("page (B)") == line.index(MILL)


def test_the_score_of_the_threshold_comes_first() -> None:
    for score, column, cell in (
        ("containment", "A in B ", "97 % █████████▊"),
        ("contained", "B in A ", "96 % █████████▋"),
    ):
        head, line = lines(sample_matches(match, score=score), 120)
        assert head.startswith(column)
        assert line.strip().startswith(cell)


def test_estimates_are_marked() -> None:
    head, line = lines(sample_matches(replace(match, kind="estimate", error=0.034, passages=[])), 120)
    assert [part in line for part in ("≈ 94 ± 3 % █", "≈ 97 %", "≈ 96 %")] == [True] * 3
    assert "passages" not in head  # none were computed
    mixed = lines(sample_matches(match, replace(match, kind="estimate", passages=[])), 120)
    assert "passages" in mixed[0]
    assert "  –  " in mixed[2]
    assert "≈ 94 ± 0.4 %" in lines(sample_matches(replace(match, kind="estimate", error=0.004, passages=[])), 120)[1]


def test_the_relationship_is_shown_where_there_is_room() -> None:
    small_edits = replace(match, passages=[Passage(0, 97, 0, 97)], lengths=Lengths(100, 101, 20, 20))
    found = sample_matches(small_edits, replace(match, kind="estimate", passages=[]))
    for shown in (lines(found, 120), lines(found, 60, full=True)):
        assert "  relationship" in shown[0]
        assert shown[1][shown[0].index("relationship") :].startswith("small edits")
    assert "small edits" not in "".join(lines(found, 100))
    assert "relationship" not in lines(sample_matches(match), 120)[0]  # no passages were sought


LONG_URL = "http://www.example.org/" + "a-long-way/" * 30 + "end.html"


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
@pytest.mark.parametrize(
    "url", [MILL, LONG_URL, "http://例え.jp/" + "とても長い道/" * 9, "http://x.org/שלום/" + "ش" * 90]
)
@pytest.mark.parametrize("title", [None, "漢字の" * 30, "שלום עולם", "🙂 and 🙂" * 9, "\x1b]0;t\x07\x1b[2J\u202e"])
def test_lines_fit_and_stay_in_columns(columns: int, url: str, title: str | None) -> None:
    hostile = replace(match, card=card._replace(url=url, title=title))
    shown = lines(sample_matches(match, hostile), columns)
    assert max(map(width, shown[1:])) <= columns
    first, second = (line.index("2024-03-01") for line in shown[1:] if "2024-03-01" in line)
    assert first == second
    assert not CONTROL_CHARACTERS.search("".join(shown))


def test_a_url_is_shortened_in_its_middle_unless_told_not_to() -> None:
    far = replace(match, card=card._replace(url=LONG_URL))
    for columns in (80, 120):
        assert lines(sample_matches(far), columns)[-1].endswith("end.html")
        assert "…" in lines(sample_matches(far), columns)[-1]
        assert lines(sample_matches(far), columns, full=True)[-1].endswith(LONG_URL)


def test_a_url_without_enough_room_gets_its_own_line() -> None:
    far = replace(match, card=card._replace(url=f"http://www.example.org/{'way/' * 8}end.html"))
    _, numbers, url = lines(sample_matches(far), 80)
    assert (numbers.endswith("2024-03-01  The mill"), url) == (True, f"  {far.url}")
    assert len(lines(sample_matches(far), 130)) == 2


def test_the_common_beginning_of_urls_is_omitted_if_room_is_short() -> None:
    folder = "http://www.example.org/" + "a-long-way/" * 5
    found = [replace(match, card=card._replace(url=f"{folder}{name}/index.html", title=None)) for name in ("13", "15")]
    head, *rows = lines(sample_matches(*found), 100)
    assert [row.split()[-1] for row in rows] == ["…/13/index.html", "…/15/index.html"]
    assert "page (B), … is http" in head
    assert max(map(width, lines(sample_matches(*found), 80))) <= 80
    assert folder in lines(sample_matches(*found), 160)[1]


@pytest.mark.parametrize(
    ("urls", "shown"),
    [
        (["http://a.example/long", "http://b.example/long"], ["a.example/long", "b.example/long"]),
        (["http://a.example/one", "http://a.example/two"], ["…/one", "…/two"]),
        (["file:///one/two/three", "file:///one/two/four"], ["…/three", "…/four"]),
        (["file:///one/two/three", "file:///seven/two/three"], ["/one/two/three", "/seven/two/three"]),
        (["http://a.example/long"] * 2, ["a.example/long"] * 2),
        (["http://a.example/long/and/longer"], ["a.examp…d/longer"]),
        (["http://a.example"], ["http://a.example"]),
        (["Amy Lee_1 of the first", "üller of the second year"], ["Amy Lee…he first", "üller o…ond year"]),
        (["class of/amy/work/main.py", "other year/bob/work/main.py"], ["class of/amy…", "other year/bob…"]),
        ([f"one-and-the-same-{n}-name-for-all" for n in (1, 2)], ["…same-1…-for-all", "…same-2…-for-all"]),
    ],
)
def test_short_urls(urls: list[str], shown: list[str]) -> None:
    assert short_urls(urls, 16).shown == shown


@given(st.lists(st.text("ab/:.中\x1b\n"), max_size=5), st.integers(3, 30))
def test_short_urls_fit(urls: list[str], columns: int) -> None:
    shown = short_urls(urls, columns).shown
    assert all(width(url) <= columns for url in shown)
    assert len(set(shown)) == len({one_line(url).strip() for url in urls})


@given(st.floats(0, 1), st.integers(1, 40))
def test_bars_grow_and_are_never_rounded_to_empty_or_full(share: float, columns: int) -> None:
    drawn = bar(share, columns)
    assert len(drawn) == columns
    assert (drawn.strip() == "") == (share == 0)
    assert (drawn == "█" * columns) == (share == 1)
    eighths = 8 * drawn.count("█") + " ▏▎▍▌▋▊▉".index((drawn.replace("█", "") + " ")[0])
    assert abs(eighths / 8 / columns - share) <= 1 / 8 / columns


@given(st.floats(0, 1))
def test_percentages_are_never_rounded_to_0_or_100(share: float) -> None:
    assert (compact_percent(share) == "0 %") == (share == 0)
    assert (compact_percent(share) == "100 %") == (share == 1)


@pytest.mark.parametrize(
    ("typed", "start", "end"),
    [
        ("2024", "2024-01-01", "2025-01-01"),
        ("2024-02", "2024-02-01", "2024-03-01"),
        ("2024-12", "2024-12-01", "2025-01-01"),
        ("2024-02-28", "2024-02-28", "2024-02-29"),
        ("20241231", "2024-12-31", "2025-01-01"),
        ("2024-03-01T12:00:00Z", "2024-03-01T12:00:00", "2024-03-01T12:00:01"),
        ("2024-03-01T12:00:00+02:00", "2024-03-01T10:00:00", "2024-03-01T10:00:01"),
        ("2024-03-01T12:00:00.5", "2024-03-01T12:00:00.500000", "2024-03-01T12:00:00.500001"),
    ],
)
def test_a_date_is_the_period_it_names(typed: str, start: str, end: str) -> None:
    assert TimePeriod.of(typed) == tuple(datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (start, end))


@given(st.floats(0, 4e9))
def test_a_moment_is_in_its_year_its_month_and_its_day(seconds: float) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    for form in ("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S.%fZ"):
        period = TimePeriod.of(f"{moment:{form}}")
        assert period.start <= moment < period.end
