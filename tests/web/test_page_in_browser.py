"""The page screen in a browser: forms and calendar, by keyboard and without JavaScript."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.browser_fixture import NewPage
from tests.web.known_crawl_fixture import EARLIER, IDS, MILL, MOVED, SHOUTED
from tests.web.served_fixture import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]


def test_two_captures_are_chosen_and_compared(page: Page, served: Served) -> None:
    page.goto(served.url(f"/page/{IDS[MILL]}#history"))
    chosen = [page.locator(f"input[name={side}]:checked").get_attribute("value") for side in "ab"]
    assert chosen == [EARLIER[2], IDS[MILL]]  # this one, and the one before it
    page.get_by_label("A: 2024-01-01 12:00").check()
    page.get_by_label("B: 2024-03-01 12:00").check()
    page.get_by_role("button", name="Compare A and B").click()
    expect(page).to_have_url(served.url(f"/compare/{EARLIER[0]}/{EARLIER[2]}"))


def test_it_works_without_scripts(new_page: NewPage, served_file: Served) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(served_file.url(f"/page/{EARLIER[0]}"))
    page.get_by_role("link", name="show latest").click()
    page.get_by_role("link", name="Pages that contain it").click()
    expect(page.locator("h1")).to_have_text("5 pages contain at least 50 % of it, 2 of them exact copies")
    page.get_by_role("slider").fill("95")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("h1")).to_have_text("3 pages contain at least 95 % of it, 2 of them exact copies")
    page.get_by_role("button", name="Compare A and B").click()
    expect(page).to_have_url(served_file.url(f"/compare/{EARLIER[2]}/{IDS[MILL]}"))


def test_the_slider_changes_the_answer_and_the_address_and_back_restores(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[MILL]}"))
    slider = page.get_by_role("slider")
    slider.fill("75")
    expect(page).to_have_url(re.compile("t=75"))
    expect(page.locator("h1")).to_have_text("3 near-duplicates, 2 of them exact copies")
    page.go_back()
    expect(page.locator("h1")).to_have_text("4 near-duplicates, 2 of them exact copies")
    expect(slider).to_have_value("50")


def test_the_calendar_shows_gaps_and_leads_to_captures(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[MILL]}"))
    cells = page.locator(".calendar tbody tr").locator("td")
    shown = [text.partition("on ")[0].strip() for text in cells.all_inner_texts()]
    assert shown == ["•", "100", "75", "", "", "78", "", "", "", "", "", ""]
    degrees = [cells.nth(month).get_attribute("class") for month in (0, 1, 2, 3, 5)]
    assert degrees == ["unknown", "same", "partly", None, "partly"]
    cells.nth(2).get_by_role("link").click()
    expect(page.locator(f"#capture-{EARLIER[2]}")).to_be_in_viewport()
    page.locator(f"#capture-{EARLIER[2]}").get_by_role("link").click()
    expect(page).to_have_url(served_file.url(f"/page/{EARLIER[2]}"))


def test_by_keys_alone(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[MILL]}"))
    page.keyboard.press("j")
    expect(page.locator(".on")).to_contain_text("THE MILL")
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.locator(".on")).to_contain_text("told otherwise")
    page.keyboard.press("c")
    expect(page).to_have_url(served_file.url(f"/compare/{IDS[MILL]}/{IDS[MOVED]}"))


def test_copies_fold_away(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[MILL]}"))
    copy = page.locator(f".copies a[href='/page/{IDS[SHOUTED]}']")
    expect(copy).to_be_visible()
    page.get_by_text("2 exact copies (same words in the same order)").click()
    expect(copy).to_be_hidden()
