"""A graph of the pages of a cluster: alike pages are near each other, and lines join pairs above a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from math import cos, hypot, pi, sin
from typing import NamedTuple

from opensearch_winnow.answers.formatting import compact_percent

WIDTH, HEIGHT = 460, 320  # at most
UNIT = 600  # pixels between two pages without anything in common, if there is room
RADIUS = 11  # of a page, in pixels
MARGIN = RADIUS + 5  # leaves room for the ring around the representative
GAP = 5  # between two pages
MAX_ROUNDS = 60
MAX_STEPS = 30_000  # pairs moved in all rounds: about 15 ms
MIN_DISTANCE = 0.08  # of identical pages, where pages without anything in common have 1
MAX_LINKED_LINES = 300  # more of them cannot be told apart anyway
COLOURED_SITES = 8  # with a colour each; further sites share one

Point = tuple[float, float]
Matrix = Sequence[Sequence[float]]  # resemblance of each page to those before it


class Node(NamedTuple):
    """A page in the graph."""

    id: str
    number: int  # in the list of members
    label: str
    colour: int  # of its site, from 1; 0: none


def page_graph(
    nodes: Sequence[Node],
    matrix: Matrix,
    threshold: float,
    *,
    page: Callable[[Node], str] = lambda node: f"/page/{node.id}",
    comparison: Callable[[Node, Node], str] = lambda a, b: f"/compare/{a.id}/{b.id}",
    representative: bool = True,
) -> Iterator[str]:
    """Draw the graph, with a line for each pair that resembles each other by `threshold` or more.

    The first node is the representative, unless there is none. Nodes link to their pages and lines to comparisons. The
    graph is hidden from screen readers: its caption and the matrix below it have the same information.
    """
    points = layout(matrix)
    left, top = (min(axis) - MARGIN for axis in zip(*points, strict=True))
    right, bottom = (max(axis) + MARGIN for axis in zip(*points, strict=True))
    size = f'width="{right - left:.0f}" height="{bottom - top:.0f}"'
    box = f"{left:.0f} {top:.0f} {right - left:.0f} {bottom - top:.0f}"
    yield f'<svg class="graph" viewBox="{box}" {size} aria-hidden="true">\n'
    # The strongest lines are drawn last, above the others.
    lines = sorted(
        (share, one, other)
        for one, shares in enumerate(matrix)
        for other, share in enumerate(shares)
        if share >= threshold
    )
    for share, one, other in lines:
        a, b = nodes[other], nodes[one]
        (x1, y1), (x2, y2) = points[other], points[one]
        strength = (share - threshold) / (1 - threshold) if threshold < 1 else 1.0
        look = f'stroke-width="{1 + 2.5 * strength:.1f}" stroke-opacity="{0.25 + 0.55 * strength:.2f}"'
        pair = f'data-pair="{a.number} {b.number}"'
        path = f'<path d="M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}" {look} {pair}/>'
        if len(lines) <= MAX_LINKED_LINES:
            title = f"<title>{a.number} and {b.number}: {escape(compact_percent(share))}</title>"
            path = f'<a href="{escape(comparison(a, b))}" tabindex="-1">{title}{path}</a>'
        yield f"{path}\n"
    for i, (node, (x, y)) in enumerate(zip(nodes, points, strict=True)):
        title = f"<title>{escape(node.label)}</title>"
        ring = f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS + 3}"/>' if representative and i == 0 else ""
        circle = f'<circle class="site{node.colour}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}"/>'
        number = f'<text x="{x:.1f}" y="{y + 4:.1f}">{node.number}</text>'
        link = f'href="{escape(page(node))}" data-number="{node.number}"'
        yield f'<a {link} tabindex="-1">{title}{ring}{circle}{number}</a>\n'
    yield "</svg>\n"


def site_colours(sites: Sequence[str]) -> dict[str, int]:
    """Return a colour for each site, in the order of first appearance: 0 if there is only one, or no colour is left."""
    different = list(dict.fromkeys(sites))
    if len(different) == 1:
        return {different[0]: 0}
    return {site: i if i <= COLOURED_SITES else 0 for i, site in enumerate(different, 1)}


def layout(matrix: Matrix) -> list[Point]:
    """Lay out the pages so that their distances come as near as possible to 1 - resemblance.

    Starting from a circle on which alike pages are neighbours, each round moves every page to the mean of the
    positions that the others want for it (stress majorization, with weights 1 / distance²).
    """
    pages = len(matrix)
    if pages == 1:
        return [(WIDTH / 2, HEIGHT / 2)]
    wanted = [
        [MIN_DISTANCE + (1 - MIN_DISTANCE) * (1 - _share(matrix, one, other)) for other in range(pages)]
        for one in range(pages)
    ]
    points: list[Point] = [(0.0, 0.0)] * pages
    for i, page in enumerate(_round_table(matrix)):
        points[page] = 0.5 * cos(2 * pi * i / pages), 0.5 * sin(2 * pi * i / pages)
    for _ in range(min(MAX_ROUNDS, MAX_STEPS // (pages * pages))):
        points = [_moved(page, points, wanted[page]) for page in range(pages)]
    return _apart(_fitted(points))


def _share(matrix: Matrix, one: int, other: int) -> float:
    return 1.0 if one == other else matrix[max(one, other)][min(one, other)]


def _round_table(matrix: Matrix) -> list[int]:
    """Order the pages greedily: each is followed by the most similar remaining one."""
    order, left = [0], list(range(1, len(matrix)))
    while left:
        following = max(left, key=lambda page: _share(matrix, order[-1], page))
        left.remove(following)
        order.append(following)
    return order


def _moved(page: int, points: Sequence[Point], wanted: Sequence[float]) -> Point:
    x, y = points[page]
    sum_x = sum_y = weights = 0.0
    for other, ((x2, y2), distance) in enumerate(zip(points, wanted, strict=True)):
        if other != page:
            weight = 1 / (distance * distance)
            stretch = distance / (hypot(x - x2, y - y2) or 1.0)
            sum_x += weight * (x2 + stretch * (x - x2))
            sum_y += weight * (y2 + stretch * (y - y2))
            weights += weight
    return sum_x / weights, sum_y / weights


def _fitted(points: Sequence[Point]) -> list[Point]:
    """Return the points in pixels, within the picture, and turned so that they are wider than high."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    if max(ys) - min(ys) > max(xs) - min(xs):
        points, xs, ys = [(y, x) for x, y in points], ys, xs
    width, height = max(xs) - min(xs), max(ys) - min(ys)
    room_x, room_y = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    side = 1.3 * (2 * RADIUS + GAP) * len(points) ** 0.5  # of a square with room for all of them
    scale = min(room_x / (width or 1e-9), room_y / (height or 1e-9), max(UNIT, side / (width or 1e-9)))
    middle_x, middle_y = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    return [(WIDTH / 2 + scale * (x - middle_x), HEIGHT / 2 + scale * (y - middle_y)) for x, y in points]


def _apart(points: list[Point]) -> list[Point]:
    """Push pages apart that would cover each other, within the picture."""
    least = 2 * RADIUS + GAP
    for _ in range(20):
        covered = False
        for one, (x1, y1) in enumerate(points):
            for other in range(one):
                x2, y2 = points[other]
                distance = hypot(x1 - x2, y1 - y2)
                if distance < least - 0.01:
                    covered = True
                    angle_x, angle_y = ((x1 - x2) / distance, (y1 - y2) / distance) if distance > 0.01 else (1.0, 0.0)
                    push = (least - distance) / 2
                    x1, y1 = _inside(x1 + push * angle_x, y1 + push * angle_y)
                    points[one], points[other] = (x1, y1), _inside(x2 - push * angle_x, y2 - push * angle_y)
        if not covered:
            break
    return points


def _inside(x: float, y: float) -> Point:
    return min(max(x, MARGIN), WIDTH - MARGIN), min(max(y, MARGIN), HEIGHT - MARGIN)
