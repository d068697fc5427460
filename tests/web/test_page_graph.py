"""The graph of a cluster: alike pages are near each other, inside the picture, and cover no other."""

from __future__ import annotations

from itertools import combinations
from math import hypot
from statistics import mean
from time import process_time
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.web.charts.page_graph import (
    COLOURED_SITES,
    HEIGHT,
    MAX_LINKED_LINES,
    RADIUS,
    WIDTH,
    Node,
    layout,
    page_graph,
    site_colours,
)


def shares(pages: int, family: int = 0) -> list[list[float]]:
    """Return the resemblances of pages of which the first `family` are alike, and so are the others."""
    return [[0.9 if (row < family) == (column < family) else 0.55 for column in range(row)] for row in range(pages)]


MATRICES = st.integers(1, 12).flatmap(
    lambda pages: st.tuples(*(st.lists(st.floats(0, 1), min_size=row, max_size=row) for row in range(pages)))
)


@given(MATRICES)
def test_pages_are_apart_and_inside(matrix: tuple[list[float], ...]) -> None:
    points = layout(matrix)
    assert points == layout(matrix)
    assert len(points) == len(matrix)
    for x, y in points:
        assert RADIUS <= x <= WIDTH - RADIUS
        assert RADIUS <= y <= HEIGHT - RADIUS
    for (x1, y1), (x2, y2) in combinations(points, 2):
        assert hypot(x1 - x2, y1 - y2) > 1.5 * RADIUS  # neither hides the number of the other


@pytest.mark.parametrize("pages", [5, 12, 40])
def test_two_families_lie_apart(pages: int) -> None:
    family = pages // 2
    points = layout(shares(pages, family))

    within: list[float] = []
    between: list[float] = []
    for one, other in combinations(range(pages), 2):
        distance = hypot(points[one][0] - points[other][0], points[one][1] - points[other][1])
        (within if (one < family) == (other < family) else between).append(distance)
    assert mean(between) > 1.5 * mean(within)


def test_forty_pages_are_placed_quickly() -> None:
    matrix = [[0.5 + (row * column % 7) / 14 for column in range(row)] for row in range(40)]
    taken = []
    for _ in range(5):
        start = process_time()
        layout(matrix)
        taken.append(process_time() - start)
    assert min(taken) < 0.06  # half of it on an idle machine


@pytest.mark.parametrize("pages", [3, 24, 25, 40])
def test_the_drawing(pages: int) -> None:
    nodes = [Node(f"{place:02}", 2 * place + 1, f'<page "{place}">', place % 3) for place in range(pages)]
    drawn = "".join(page_graph(nodes, shares(pages), 0.5))
    picture = ElementTree.fromstring(drawn)
    links = [each.attrib["href"] for each in picture.iter("a")]
    compared = {f"/compare/{a:02}/{b:02}" for b in range(pages) for a in range(b)}
    assert len(list(picture.iter("path"))) == len(compared)
    assert set(links) == {f"/page/{place:02}" for place in range(pages)} | (
        compared if len(compared) <= MAX_LINKED_LINES else set()
    )
    assert [text.text for text in picture.iter("text")] == [str(2 * place + 1) for place in range(pages)]
    titles = [title.text for title in picture.iter("title")]
    assert '<page "0">' in titles
    assert len(titles) == len(links)
    assert drawn.count('class="ring"') == 1
    left, top, width, height = map(float, picture.attrib["viewBox"].split())
    for circle in picture.iter("circle"):
        radius = float(circle.attrib["r"])
        assert left <= float(circle.attrib["cx"]) - radius
        assert float(circle.attrib["cx"]) + radius <= left + width
        assert top <= float(circle.attrib["cy"]) - radius
        assert float(circle.attrib["cy"]) + radius <= top + height


def test_stronger_lines_are_wider_and_weak_ones_are_left_out() -> None:
    nodes = [Node(str(place), place + 1, "", 0) for place in range(3)]
    lines = list(ElementTree.fromstring("".join(page_graph(nodes, [[], [0.6], [0.9, 0.4]], 0.5))).iter("path"))
    assert len(lines) == 2
    assert float(lines[0].attrib["stroke-width"]) < float(lines[1].attrib["stroke-width"])
    assert float(lines[0].attrib["stroke-opacity"]) < float(lines[1].attrib["stroke-opacity"])


def test_colours_of_sites() -> None:
    assert site_colours(["a", "a"]) == {"a": 0}
    assert site_colours(["b", "a", "b"]) == {"b": 1, "a": 2}
    many = site_colours([str(number) for number in range(12)])
    assert list(many.values()) == [*range(1, COLOURED_SITES + 1), 0, 0, 0, 0]
