"""Every screen can be used with the keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.addresses_fixture import every_screen
from tests.web.known_crawl_fixture import IDS, MILL
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.outerHTML"))


def item(page: Page) -> int | None:
    """Return the position of the selected item, from 0."""
    all_items = page.locator("[data-items] > *")
    chosen = all_items.evaluate_all("all => all.findIndex(each => each.classList.contains('on'))")
    return None if chosen < 0 else int(chosen)


def test_from_a_search_to_a_passage_and_back(page: Page, served: Served) -> None:
    """Use only the listed shortcuts: no mouse, no Tab."""
    page.goto(served.url("/"))
    page.keyboard.press("/")
    page.keyboard.type("mill")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(re.compile("^11 pages in 7 groups"))
    groups = page.locator("[data-items] > *").evaluate_all("all => all.map(each => !!each.querySelector('details'))")
    for _ in range(groups.index(True) + 1):
        page.keyboard.press("j")
    assert item(page) == groups.index(True)
    group = page.locator(".hit.on details")
    page.keyboard.press("o")
    expect(group).to_have_attribute("open", "")
    page.keyboard.press("o")
    expect(group).not_to_have_attribute("open", "")
    page.keyboard.press("c")
    page.wait_for_url("**/compare/**")
    expect(page.locator("h1")).to_have_count(1)
    page.keyboard.press("n")
    page.wait_for_url("**#p*")
    page.go_back()
    expect(page.locator("h1")).to_have_text(re.compile("^11 pages in 7 groups"))


def test_items_end_where_they_end(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/search?words=mill"))
    assert item(page) is None
    page.keyboard.press("k")
    assert item(page) == 6
    page.keyboard.press("j")
    assert item(page) == 6
    for _ in range(9):
        page.keyboard.press("k")
    assert item(page) == 0
    page.keyboard.press("Enter")  # the link of the item has the focus
    page.wait_for_url("**/page/*")


def test_what_is_typed_is_text_and_keys_of_the_browser_stay_its_own(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/search?words=mill"))
    for modifier in ("Control", "Alt", "Meta"):
        page.keyboard.press(f"{modifier}+k")
        assert item(page) is None
    page.keyboard.press("/")
    assert 'id="words"' in focused(page)
    page.keyboard.press("End")
    page.keyboard.type("jko?/")
    expect(page.get_by_label("Words, a URL or a paragraph")).to_have_value("milljko?/")
    assert item(page) is None
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_list_of_keys_and_its_switch(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/search?words=mill"))
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    listed = set(dialog.locator("kbd").all_inner_texts())
    assert {"/", "j", "k", "o", "c", "n", "p", "x", "d", "?"} <= listed
    dialog.get_by_role("checkbox").press("Space")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("j")
    assert item(page) is None
    page.reload()
    page.keyboard.press("j")
    assert item(page) is None
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_role("dialog").get_by_role("checkbox").check()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    assert item(page) == 0


def test_a_page_is_compared_with_its_first_near_duplicate(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[MILL]}"))
    first = page.locator("[data-compare]").first.get_attribute("href")
    page.keyboard.press("c")
    page.wait_for_url(f"**{first}")


@every_screen
def test_tab_reaches_everything_and_what_has_the_focus_is_seen(page: Page, served_file: Served, address: str) -> None:
    page.goto(served_file.url(address))
    reachable = page.evaluate(REACHABLE)
    if address == "/":  # the box has the focus there, and Tab would go on from it
        page.locator(".skip").focus()
    else:
        page.keyboard.press("Tab")
    assert "Skip to content" in focused(page)
    seen = [page.evaluate(FOCUSED)]
    while len(seen) < min(reachable, MAX_TAB_STOPS):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        assert at["outlined"], at["html"]
        assert at["html"] != "BODY", f"{len(seen)} of {reachable} are reached"
        seen.append(at)


MAX_TAB_STOPS = 50  # visited on a page
REACHABLE = """
    [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(
        each => each.checkVisibility() && each.tabIndex >= 0 && !each.matches(':disabled, [type=hidden], [type=radio]')
    ).length
"""
FOCUSED = """
    (() => {
        const at = document.activeElement;
        const style = getComputedStyle(at);
        return {
            html: at === document.body ? 'BODY' : at.outerHTML.slice(0, 200),
            outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
        };
    })()
"""
