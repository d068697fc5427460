"""The page screen in a browser: forms and calendar, by keyboard and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser_fixture import NewPage
from tests.web.known_crawl_fixture import CONTAINS, EARLIER, IDS, MILL, MILL_TEXT, MOVED, SHOUTED, TEXTS
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]


def test_two_captures_are_chosen_and_compared(page: Page, served: Served) -> None:
    page.goto(served.url(f"/page/{IDS[MILL]}"))
    page.get_by_role("link", name="History").click()
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
    page.get_by_role("link", name="Contains this").click()
    expect(page.locator("h1")).to_have_text("5 pages contain at least 50 % of it, 2 of them exact copies")
    page.get_by_role("slider").fill("0.95")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("h1")).to_have_text("3 pages contain at least 95 % of it, 2 of them exact copies")
    page.get_by_role("link", name="See what changed").click()
    expect(page.locator(".tabs [aria-current]")).to_have_text("History")
    page.get_by_role("button", name="Compare A and B").click()
    expect(page).to_have_url(served_file.url(f"/compare/{EARLIER[2]}/{IDS[MILL]}"))


def test_calendar_and_timeline_show_gaps_and_lead_to_changes(page: Page, served_file: Served) -> None:
    history = served_file.url(f"/page/{IDS[MILL]}/history")
    page.goto(history)
    cells = page.locator(".calendar tbody tr").locator("td")
    shown = [text.partition("on ")[0].strip() for text in cells.all_inner_texts()]
    assert shown == ["•", "100", "75", "", "", "78", "", "", "", "", "", ""]
    degrees = [cells.nth(month).get_attribute("class") for month in (0, 1, 2, 3, 5)]
    assert degrees == ["unknown", "same", "partly", None, "partly"]
    cells.nth(2).get_by_role("link").click()
    change = served_file.url(f"/compare/{EARLIER[1]}/{EARLIER[2]}?view=differences")
    expect(page).to_have_url(change)
    page.goto(history)
    bars = page.locator(".timeline a")
    assert bars.evaluate_all("bars => bars.map(bar => bar.getAttribute('aria-label'))") == [
        "2024-01-01 12:00: first capture",
        "2024-02-01 12:00: unchanged",
        "2024-03-01 12:00: 25 % changed",
        "2024-06-01 12:00: 22 % changed",
    ]
    bars.nth(2).click()
    expect(page).to_have_url(change)


def test_the_list_of_captures_says_what_changed(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[MILL]}/history"))
    rows = page.locator(".captures tbody tr")
    assert [rows.nth(at).locator(".what").inner_text() for at in (0, 1)] == ["First capture shown", "Unchanged"]
    added, removed = (rows.nth(3).locator(tag).inner_text().strip("…") for tag in ("ins", "del"))
    assert added.split()[-1].strip(".") in TEXTS[MILL]
    assert "mill draft" not in added
    assert added in " ".join(TEXTS[MILL].split())
    assert removed not in " ".join(TEXTS[MILL].split())
    for tag, line in (("ins", "underline"), ("del", "line-through")):
        decoration = "each => getComputedStyle(each).textDecorationLine"
        assert rows.nth(3).locator(tag).first.evaluate(decoration) == line
    rows.nth(3).get_by_role("link", name="See changes of").click()
    expect(page).to_have_url(served_file.url(f"/compare/{EARLIER[2]}/{IDS[MILL]}?view=differences"))


def test_the_text_is_coloured_by_the_pages_of_the_tab(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[CONTAINS]}"))
    expect(page.locator("#text")).not_to_contain_text("only here")
    page.get_by_role("link", name="Look for shared passages").click()
    expect(page.locator(".shares")).to_have_text("60 % of this page is only here; 40 % is also on 7 other pages.")
    shared = "".join(page.locator(".page-text mark").all_text_contents())
    assert all(text.rstrip(".") in shared for text in MILL_TEXT)
    assert "archive" not in shared
    expect(page.locator(".source-strip rect")).to_have_count(1)
    page.keyboard.press("n")
    expect(page.locator("[role=status]", has_text="Segment")).to_have_text("Segment 1 of 1")
    expect(page.locator("mark.on").first).to_be_in_viewport()
    expect(page.locator("#s1.on")).to_be_visible()


def test_by_keys_alone(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[MILL]}"))
    copy = page.locator(f".copies a[href='/page/{IDS[SHOUTED]}']")
    expect(copy).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator(".on")).to_contain_text("THE MILL")
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.locator(".on")).to_contain_text("told otherwise")
    page.get_by_text("2 exact copies (same words in the same order)").click()
    expect(copy).to_be_hidden()
    page.keyboard.press("c")
    expect(page).to_have_url(served_file.url(f"/compare/{IDS[MILL]}/{IDS[MOVED]}"))
