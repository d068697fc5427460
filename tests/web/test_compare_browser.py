"""The compare screen in a browser: jumps, shortcuts and permalinks, with and without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser_fixture import NewPage, scrolls_sideways
from tests.web.known_crawl_fixture import HARBOUR, HARBOURS, IDS, MILL, MOVED, TEXTS
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
SHUFFLED = f"/compare/{IDS[MILL]}/{IDS[MOVED]}"
PHONE = {"width": 320, "height": 640}


def count(page: Page) -> int:
    return page.locator(".pane a.n[id^=p]").count()


def expect_current(page: Page, number: int) -> None:
    expect(page.locator("[role=status]", has_text="Passage")).to_have_text(f"Passage {number} of {count(page)}")
    expect(page).to_have_url(re.compile(f"#p{number}$"))
    assert page.locator(".chip.on").count() == page.locator(".ribbons path.on").count() == 1
    tops = []
    for pane, side in zip(page.locator(".pane").all(), "pb", strict=True):
        expect(pane.locator("mark.on").first).to_be_visible()
        expect(page.locator(f"#{side}{number}")).to_be_in_viewport(ratio=0.9)
        tops.append(page.locator(f"#{side}{number}").evaluate("each => each.getBoundingClientRect().y"))
    one, other = tops
    assert one == pytest.approx(other, abs=40)  # a line: a mark may begin within one


@pytest.mark.parametrize("what", ["number", "other number", "chip", "ribbon"])
def test_a_click_brings_both_sides_into_view(page: Page, served_file: Served, what: str) -> None:
    page.goto(served_file.url(SHUFFLED))
    number = count(page)
    if what == "ribbon":  # they cross: it is clicked where it leaves A
        place = served_file.json(f"/api/v1{SHUFFLED}")["passages"][number - 1]
        box = page.locator(".ribbons").bounding_box()
        assert box
        middle = (place["start"] + place["end"]) / 2 / len(TEXTS[MILL])
        page.mouse.click(box["x"] + 8, box["y"] + middle * box["height"])
    else:
        where = {"number": f"#p{number}", "other number": f"#b{number}", "chip": f".chip.p{number}"}
        page.locator(where[what]).click()
    expect_current(page, number)
    for element in page.locator("mark.on").all():
        assert str(number) in (element.get_attribute("data-passages") or "").split()


def test_keys_step_and_wrap_around(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(SHUFFLED))
    passages = count(page)
    assert passages == 8
    for number in (*range(1, passages + 1), 1):
        page.keyboard.press("n")
        expect_current(page, number)
    page.keyboard.press("p")
    expect_current(page, passages)
    page.get_by_role("button", name="Next passage").click()
    expect_current(page, 1)


def test_a_permalink_is_restored(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"{SHUFFLED}#p3"))
    expect_current(page, 3)
    page.reload()
    expect_current(page, 3)
    page.goto(served_file.url(f"{SHUFFLED}#p5"))  # only the hash is another: nothing is loaded
    expect_current(page, 5)


def test_keys_swap_and_change_the_view(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"{SHUFFLED}?min_words=5"))
    page.keyboard.press("x")
    expect(page).to_have_url(served_file.url(f"/compare/{IDS[MOVED]}/{IDS[MILL]}?min_words=5"))
    page.keyboard.press("d")
    expect(page).to_have_url(re.compile("view=differences"))
    expect(page.locator(".differences")).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".chip.on").first).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator(".pane")).to_have_count(2)
    page.go_back()
    expect(page.locator(".differences")).to_be_visible()


def test_the_slider_hides_short_passages(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(SHUFFLED))
    slider = page.get_by_role("slider")
    slider.evaluate("each => (each.value = 99)")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile("min_words=99"))
    expect(page.locator("h1")).to_have_text("No shared passage of 99 words or more")
    expect(page.locator("mark")).to_have_count(0)
    page.get_by_role("link", name="Show all").click()
    expect(page.locator("h1")).to_have_text(re.compile("8 shared passages"))


def test_the_map_shows_what_is_in_view(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/compare/{IDS[HARBOUR]}/{IDS[HARBOURS[0]]}"))
    seen = page.locator(".ribbons .seen")
    expect(seen).to_have_count(2)
    before = float(seen.first.get_attribute("y") or "nan")
    page.locator(".pane").first.evaluate("pane => pane.scrollTo(0, 300)")
    page.wait_for_function("before => +document.querySelector('#seen-0').getAttribute('y') > before", arg=before)


def test_without_scripts_links_lead_to_the_partner(new_page: NewPage, served_file: Served) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(served_file.url(f"{SHUFFLED}#p7"))
    expect(page.locator("#p7")).to_be_in_viewport(ratio=0.9)
    page.locator("#p7").click()
    expect(page).to_have_url(re.compile("#b7$"))
    expect(page.locator("#b7")).to_be_in_viewport(ratio=0.9)
    outlined = "element => getComputedStyle(element).outlineWidth"
    for side in (0, 1):  # both sides of it
        assert page.locator(".pane").nth(side).locator("mark.p7").first.evaluate(outlined) == "2px"
        assert page.locator(".pane").nth(side).locator("mark.p1:not(.p7)").first.evaluate(outlined) == "0px"
    page.get_by_role("link", name="Differences").click()
    expect(page.locator(".differences")).to_be_visible()


def test_on_a_phone_one_text_is_below_the_other(new_page: NewPage, served_file: Served) -> None:
    page = new_page(viewport=PHONE)
    for view in ("differences", "passages"):
        page.goto(served_file.url(f"{SHUFFLED}?view={view}"))
        assert not scrolls_sideways(page)
    expect(page.locator(".ribbons")).to_be_hidden()


def test_whole_texts_are_printed(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/compare/{IDS[MILL]}/{IDS[HARBOUR]}"))
    folded = page.locator(".fold .block").first
    expect(folded).to_be_hidden()
    page.emulate_media(media="print")
    expect(folded).to_be_visible()
    expect(page.locator(".controls form")).to_be_hidden()
    for pane in page.locator(".pane").all():
        assert pane.evaluate("pane => getComputedStyle(pane).overflowY") == "visible"
