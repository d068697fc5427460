"""Real pages in a browser: URLs fit, and jumps end at their passage, on phones and on desktops."""

from __future__ import annotations

import re
from itertools import product
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.web.browser_fixture import NewPage, scrolls_sideways
from tests.web.real_crawl_fixture import javadoc_comparison
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
LONG = "index/package-use"  # 71 passages in two releases of it
PHONE: ViewportSize = {"width": 360, "height": 740}
TABLET: ViewportSize = {"width": 768, "height": 900}
DESK: ViewportSize = {"width": 1440, "height": 900}
LOW: ViewportSize = {"width": 1024, "height": 500}  # what is above the texts leaves no room for them
SETTLED = 500  # milliseconds after a jump, in which nothing may move any more
Motion = Literal["no-preference", "reduce"]


ROWS_OF_MATCHES = """
    () => [...document.querySelectorAll(".matches tbody tr")].map(row => ({
        title: row.querySelector(".which").getBoundingClientRect().width,
        bar: row.querySelector(".bar").getBoundingClientRect().x,
    }))
"""


def test_titles_have_room_and_bars_are_in_line(page: Page, javadoc: Served) -> None:
    id_ = javadoc_comparison("index/IndexWriter").split("/")[2]
    page.goto(javadoc.url(f"/page/{id_}?min_containment=0"))
    for width in (1440, 1100, 1024, 1023, 900, 768, 767, 390, 360):
        page.set_viewport_size({"width": width, "height": 900})
        rows = page.evaluate(ROWS_OF_MATCHES)
        assert len(rows) > 3
        assert min(row["title"] for row in rows) > 190, width
        assert len({round(row["bar"]) for row in rows}) == 1, width
        assert not scrolls_sideways(page), width


HIDDEN = """
    (id) => {
        const target = document.getElementById(id), box = target.getBoundingClientRect();
        const pane = target.closest(".pane"), shown = pane.getBoundingClientRect();
        const head = pane.querySelector(".head"), sticks = getComputedStyle(head).position === "sticky";
        const top = Math.max(shown.top, 0, sticks ? head.getBoundingClientRect().bottom : 0);
        const bottom = Math.min(shown.bottom, innerHeight);
        return Math.max(top - box.top, box.bottom - bottom, 0);
    }
"""


def pixels_away(page: Page, name: str) -> int:
    """Return how many pixels the number of a passage is out of view, or 0 if it is visible."""
    return round(float(page.evaluate(HIDDEN, name)))


def expect_to_stay_in_view(page: Page, number: int, sides: str) -> None:
    expect(page.locator("[data-steps] [role=status]")).to_have_text(re.compile(f"^Passage {number} of "))
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    at_once = [pixels_away(page, f"{side}{number}") for side in sides]
    page.wait_for_timeout(SETTLED)
    then = [pixels_away(page, f"{side}{number}") for side in sides]
    assert at_once == then == [0] * len(sides), f"passage {number} is {at_once} pixels from view, then {then}"


@pytest.fixture(scope="module")
def last(javadoc: Served) -> int:
    number: int = javadoc.json(f"/api/v1{javadoc_comparison(LONG)}")["passages"][-1]["number"]
    assert number > 40
    return number


@pytest.mark.parametrize(
    ("size", "motion"),
    [*product((TABLET, DESK), ("no-preference", "reduce")), (LOW, "no-preference")],
    ids=["tablet", "tablet-reduced", "desk", "desk-reduced", "low"],
)
def test_a_jump_ends_at_both_sides_of_the_passage(
    new_page: NewPage, javadoc: Served, last: int, size: ViewportSize, motion: Motion
) -> None:
    page = new_page(viewport=size, reduced_motion=motion)
    page.goto(javadoc.url(javadoc_comparison(LONG)))
    page.keyboard.press("n")
    expect_to_stay_in_view(page, 1, "pb")
    page.keyboard.press("p")
    expect_to_stay_in_view(page, last, "pb")
    page.locator(f".ribbons .p{last // 2}").dispatch_event("click")
    expect_to_stay_in_view(page, last // 2, "pb")
    for number in (last // 2, 1, last):
        page.goto("about:blank")
        page.goto(javadoc.url(f"{javadoc_comparison(LONG)}#p{number}"))
        expect_to_stay_in_view(page, number, "pb")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_on_a_phone_a_jump_ends_at_the_passage_and_the_next_at_its_partner(
    new_page: NewPage, javadoc: Served, last: int, motion: Motion
) -> None:
    page = new_page(viewport=PHONE, reduced_motion=motion)
    page.goto(javadoc.url(javadoc_comparison(LONG)))
    page.keyboard.press("p")
    expect_to_stay_in_view(page, last, "p")
    page.keyboard.press("n")
    expect_to_stay_in_view(page, 1, "p")
    for number in (last // 2, 1, last):
        page.goto("about:blank")
        page.goto(javadoc.url(f"{javadoc_comparison(LONG)}#p{number}"))
        expect_to_stay_in_view(page, number, "p")
        page.locator(f"#p{number}").click()
        expect_to_stay_in_view(page, number, "b")


@pytest.mark.parametrize("size", [TABLET, DESK], ids=["tablet", "desk"])
def test_without_scripts_a_jump_ends_at_the_passage(
    new_page: NewPage, javadoc: Served, last: int, size: ViewportSize
) -> None:
    page = new_page(viewport=size, java_script_enabled=False)
    page.goto(javadoc.url(f"{javadoc_comparison(LONG)}#p{last}"))
    page.wait_for_timeout(SETTLED)
    assert pixels_away(page, f"p{last}") == 0
    page.locator(f"#p{last}").click()
    expect(page).to_have_url(re.compile(f"#b{last}$"))
    page.wait_for_timeout(SETTLED)
    assert pixels_away(page, f"b{last}") == 0


def test_keys_go_through_the_differences(new_page: NewPage, javadoc: Served, last: int) -> None:
    page = new_page(viewport=PHONE, reduced_motion="no-preference")
    page.goto(javadoc.url(f"{javadoc_comparison(LONG)}?view=differences"))
    for key, number in (("p", last), ("n", 1)):
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"#p{number}$"))
        page.wait_for_timeout(SETTLED)
        box = page.locator(f"#p{number}").bounding_box()
        assert box
        assert 0 <= box["y"] <= PHONE["height"] - box["height"]


def test_texts_are_beside_each_other_or_one_below_the_other(page: Page, javadoc: Served) -> None:
    """Panes must never both scroll by themselves and be as high as their texts."""
    page.goto(javadoc.url(javadoc_comparison(LONG)))
    panes = page.locator(".pane")
    for width in (768, 767):
        page.set_viewport_size({"width": width, "height": 900})
        one, other = (pane.bounding_box() for pane in panes.all())
        scroll = panes.evaluate_all("panes => panes.map(pane => getComputedStyle(pane).overflowY)")
        assert one
        assert other
        if width == 768:
            assert other["x"] >= one["x"] + one["width"]
            assert one["height"] == other["height"] <= 900
            assert scroll == ["auto", "auto"]
        else:
            assert other["y"] >= one["y"] + one["height"]
            assert scroll == ["visible", "visible"]


def test_powers_are_written_as_powers(page: Page, javadoc: Served) -> None:
    found: dict[str, Any] = javadoc.json("/api/v1/statistics")["power_law"]
    page.goto(javadoc.url("/statistics"))
    caption = page.locator("figcaption", has_text="Repeated fingerprints")
    powers = [f"−{abs(found[name]):.2f}" for name in ("exponent", "rank_slope")]
    assert caption.locator("sup").all_inner_texts() == powers
    assert "<" not in caption.inner_text()
