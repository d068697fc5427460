"""Charts draw numbers in the right places."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.web.charts.axes import Frame, LinearScale, LogScale, ShareScale, axes, chart
from opensearch_winnow.web.charts.bar_charts import pair_histogram, time_bars, time_periods
from opensearch_winnow.web.charts.log_plot import LogPlot
from opensearch_winnow.web.charts.timeline import POSITIONS, strip, timeline


@given(st.integers(0, 10**9))
def test_a_linear_scale_reaches_over_all_with_few_round_ticks(high: int) -> None:
    scale = LinearScale(high, 200, 0)
    assert scale.ticks[0] == 0
    assert scale.ticks[-1] >= max(high, 1)
    assert 2 <= len(scale.ticks) <= 7
    assert scale(0) == 200
    assert scale(scale.ticks[-1]) == pytest.approx(0)


@given(st.integers(1, 10**12), st.integers(10, 120))
def test_labels_of_a_log_scale_do_not_crowd(high: int, letters: int) -> None:
    scale = LogScale(1, high, 0, 100)
    labels = scale.labels(letters)
    assert set(labels) <= set(scale.ticks)
    assert len(labels) >= 2
    assert len(labels) <= 2 or len(labels) * max(map(len, labels.values())) <= letters


def test_names_are_escaped() -> None:
    frame = Frame()
    drawn = axes(frame, ShareScale(0, 100), LinearScale(5, 100, 0), names=("a < b", "&"))
    picture = ElementTree.fromstring("".join(chart(frame, "<script>", drawn)))
    assert picture.findtext("title") == "<script>"
    assert {"a < b", "&"} <= {text.text for text in picture.iter("text")}
    assert picture.attrib["role"] == "img"


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=50), st.floats(0.01, 1))
def test_a_bar_for_each_range_that_has_pairs(bars: list[int], threshold: float) -> None:
    frame = Frame()
    picture = ElementTree.fromstring(f"<svg>{''.join(pair_histogram(bars, threshold))}</svg>")
    drawn = [each for each in picture.iter("rect") if each.attrib["class"] != "frame"]
    ranges = [(pairs, at / len(bars)) for at, pairs in enumerate(bars) if pairs]
    highest = 0.0
    for (_, low), each in sorted(zip(ranges, drawn, strict=True), key=lambda pair: pair[0]):
        height = float(each.attrib["height"])
        assert height >= max(highest, 0.1)
        highest = height
        assert float(each.attrib["y"]) + height == pytest.approx(frame.bottom, abs=0.2)
        assert (each.attrib["class"] == "found") == (round(low, 6) >= round(threshold, 6))


def test_points_that_hide_each_other_are_drawn_once() -> None:
    counts = dict.fromkeys(range(1, 2_001), 1)
    few = "".join(LogPlot(counts, Frame()).points(lambda *_: "", every_point=False))
    all_of_them = "".join(LogPlot(counts, Frame()).points(lambda *_: ""))
    assert few.count("<circle") < 400 < all_of_them.count("<circle") == 2_000


def test_a_power_law_is_a_straight_line() -> None:
    plot = LogPlot({1: 900, 10: 90, 100: 9}, Frame())
    centres = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', "".join(plot.points(lambda *_: "")))
    law = r'd="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"'
    assert re.findall(law, "".join(plot.power(900, 1))) == [(*centres[0], *centres[2])]
    ((*start, x, y),) = re.findall(law, "".join(plot.power(900, 3)))  # which ends at 1
    assert tuple(start) == centres[0]
    assert float(start[0]) < float(x) < float(centres[1][0])
    assert float(y) > float(centres[2][1])
    assert list(plot.power(1, 3)) == []


def test_months_and_years() -> None:
    assert time_periods({}) == {}
    assert time_periods({"2023-11": 1, "2024-02": 3}) == {"2023-11": 1, "2023-12": 0, "2024-01": 0, "2024-02": 3}
    assert time_periods({"2010-05": 1, "2010-06": 1, "2016-01": 4}) == {
        "2010": 2, "2011": 0, "2012": 0, "2013": 0, "2014": 0, "2015": 0, "2016": 4
    }  # fmt: skip


@given(st.dictionaries(st.dates().map(lambda day: f"{day.year:04}-{day.month:02}"), st.integers(1, 10**6), min_size=1))
def test_no_page_is_lost_between_months_and_years(months: dict[str, int]) -> None:
    found = time_periods(months)
    assert sum(found.values()) == sum(months.values())
    said = re.findall(r"<title>[\d-]+: ([\d,]+) pages?</title>", "".join(time_bars(found)))
    assert sum(int(each.replace(",", "")) for each in said) == sum(months.values())


def card(site: str, time: datetime | None) -> Card:
    return Card("", "", site, "", None, time, True, "", 0, 0, 0, None, None, "")


def test_a_timeline() -> None:
    first, last = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC)
    middle = first + (last - first) / 2
    found = timeline(
        [card("a", first), card("b", middle), card("b", last), card("b", last), card("c", None)], max_sites=2
    )
    assert found
    assert (found.first, found.last, found.left_out) == ("2024-01-01", "2024-03-01", 1)
    b, a = found.lines
    assert (a.site, a.captures, a.first, a.last, a.strokes) == ("a", 1, "2024-01-01", "2024-01-01", {0: 1})
    assert (b.site, b.captures, b.first, b.last) == ("b", 3, "2024-01-31", "2024-03-01")
    assert b.strokes == {POSITIONS // 2: 1, POSITIONS: 2}
    assert "".join(strip(b)).count('class="stroke"') == 2


def test_there_is_no_timeline_of_one_day() -> None:
    day = datetime(2024, 1, 1, tzinfo=UTC)
    assert timeline([], max_sites=5) is None
    assert timeline([card("a", None)], max_sites=5) is None
    assert timeline([card("a", day), card("b", day.replace(hour=5))], max_sites=5) is None
