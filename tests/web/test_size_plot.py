"""The plot of cluster sizes: a single inert file with every point in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.web.charts.axes import ticks
from opensearch_winnow.web.charts.size_plot import FRAME, size_plot

SVG = "{http://www.w3.org/2000/svg}"
NONE: Mapping[int, int] = {}
some_sizes = st.dictionaries(st.integers(2, 10**7), st.integers(1, 10**7), max_size=40)


def drawn(sizes: Mapping[int, int], identical: Mapping[int, int] = NONE) -> ElementTree.Element:
    return ElementTree.fromstring("".join(size_plot(sizes, identical, name="crawl.winnow", subtitle="some pages")))


def points(plot: ElementTree.Element) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the positions of the points by size and number of clusters."""
    (group,) = plot.findall(f"{SVG}g")
    found = {}
    for each in group:
        clusters, pages = re.findall(r"[\d,]+", each.findtext(f"{SVG}title") or "")
        place = float(each.attrib["cx"]), float(each.attrib["cy"])
        found[int(pages.replace(",", "")), int(clusters.replace(",", ""))] = place
    return found


def steps(plot: ElementTree.Element, kind: str = "steps") -> list[float]:
    """Return the heights of the step line, from left to right."""
    *_, line = (path.attrib["d"] for path in plot.iter(f"{SVG}path") if path.attrib["class"] == kind)
    return [float(number) for number in re.findall(r"(?: |V)([\d.]+)", line)]


@given(some_sizes.filter(bool))
def test_each_size_is_a_point_within_the_frame(sizes: dict[int, int]) -> None:
    places = points(drawn(sizes))
    assert places.keys() == set(sizes.items())
    assert all(FRAME.left < x < FRAME.right and FRAME.top < y < FRAME.bottom for x, y in places.values())
    from_left = [places[each][0] for each in sorted(places)]
    from_below = [-places[each][1] for each in sorted(places, key=lambda each: each[1])]
    assert from_left == sorted(from_left)
    assert from_below == sorted(from_below)


def test_the_line_counts_the_clusters_of_so_many_pages_or_more() -> None:
    plot = drawn({2: 90, 3: 9, 10: 1})
    top, middle, bottom = steps(plot)
    assert top == points(drawn({2: 100}))[2, 100][1]
    assert top < middle < bottom == points(plot)[10, 1][1]
    assert middle == pytest.approx((top + bottom) / 2)  # 100, 10 and 1


def test_a_second_line_counts_those_of_identical_pages() -> None:
    plot = drawn({2: 90, 3: 9, 10: 1}, {2: 9, 3: 1})
    assert steps(plot) == steps(drawn({2: 90, 3: 9, 10: 1}))
    assert steps(plot, "steps some") == steps(plot)[1:]  # 10 and 1
    said = "identical pages only"
    assert said in {text.text for text in plot.iter(f"{SVG}text")}
    assert said not in {text.text for text in drawn({2: 90}).iter(f"{SVG}text")}


@given(some_sizes)
def test_axes_are_labelled(sizes: dict[int, int]) -> None:
    labels = {text.text for text in drawn(sizes).iter(f"{SVG}text")}
    assert {"pages in the cluster", "clusters", "some pages", "Clusters of crawl.winnow by size"} <= labels
    assert len({label for label in labels if label and label[0].isdigit()}) >= 2


@given(st.sampled_from([1, 2]), st.integers(1, 10**12))
def test_ticks_reach_over_all(low: int, high: int) -> None:
    found = ticks(low, high)
    assert found[0] == low
    assert found[-1] >= high
    assert all(str(tick).rstrip("0") in ("1", "2", "5") for tick in found)
    assert found == sorted(set(found))
    assert len(found) == 2 or found[-2] < high


def test_without_clusters_it_says_so() -> None:
    plot = drawn({})
    assert "No cluster has two pages or more." in {text.text for text in plot.iter(f"{SVG}text")}
    assert plot.findall(f"{SVG}g") == []


def test_nothing_is_loaded_and_names_do_nothing() -> None:
    text = "".join(size_plot({2: 1}, {2: 1}, name="<script>&\x1b\u202e", subtitle="a < b"))
    plot = ElementTree.fromstring(text)
    assert plot.findtext(f"{SVG}title") == "Clusters of <script>&␛\ufffd by size"
    assert {each.tag.removeprefix(SVG) for each in plot.iter()} == {
        "svg", "title", "desc", "style", "rect", "text", "path", "circle", "g"
    }  # fmt: skip
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in text
    assert "@import" not in text
