"""A visitor goes from words, or from a text, to a shared passage, on both kinds of store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.browser_fixture import NewPage
from tests.web.known_crawl_fixture import CONTAINS, IDS, MILL, MOVED, QUOTE, QUOTES, paragraph
from tests.web.served_fixture import Served

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.xdist_group(__name__)


def is_seen(pane: Locator, mark: Locator) -> bool:
    """Return whether part of the mark is in the visible part of the pane."""
    outer, inner = pane.bounding_box(), mark.bounding_box()
    assert outer
    assert inner
    return inner["y"] < outer["y"] + outer["height"] and inner["y"] + inner["height"] > outer["y"]


def letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).casefold()


def test_from_words_to_a_passage(page: Page, served: Served, new_page: NewPage) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(served.url("/"))
    page.get_by_role("combobox").fill("mill")
    page.get_by_role("button", name="Search").click()
    group = page.locator(".hit details").first
    group.locator("summary").click()
    group.locator("li", has_text=MOVED).get_by_role("link", name="Compare").click()
    page.wait_for_url(f"**/compare/*/{IDS[MOVED]}")
    expect(page.locator("h1")).to_contain_text("8 shared passages")
    panes = page.locator(".pane")
    for number in (7, 2):
        page.locator(f".chip.p{number}").first.click()
        page.wait_for_url(f"**#p{number}")
        marks = [pane.locator(f"mark.p{number}") for pane in panes.all()]
        for pane, mark in zip(panes.all(), marks, strict=True):
            assert is_seen(pane, mark.first)
        ours, theirs = (letters("".join(mark.all_inner_texts())) for mark in marks)
        assert ours == theirs
        assert len(ours) > 300
    again = new_page(viewport={"width": 1280, "height": 500})
    again.goto(page.url)
    expect(again.locator("[data-steps] [role=status]")).to_have_text("Passage 2 of 8")
    for pane in again.locator(".pane").all():
        assert is_seen(pane, pane.locator("mark.p2").first)


@pytest.mark.check
def test_from_a_text_to_who_quotes_it(page: Page, served: Served) -> None:
    page.goto(served.url("/"))
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Check a text").click()
    page.locator("textarea").fill(f"{paragraph('other words', 30)} {QUOTE} {paragraph('more words', 30)}")
    page.get_by_role("button", name="Find pages").click()
    page.wait_for_url("**/paste/pasted-*")
    found = served.json(page.url.removeprefix(served.address) + ".json?limit=100")
    urls = {match["url"] for match in found["matches"]}
    assert {QUOTES, MILL, MOVED, CONTAINS} <= urls
    heading = page.locator("h1").inner_text()
    assert heading == f"{100 * found['original']:.0f} % of your text is original"
    expect(page.locator(".lead")).to_contain_text(f"1 source, {len(urls)} pages")
    page.reload()
    expect(page.locator("h1")).to_have_text(heading)
    for fold in page.locator(".more-pages summary").all():
        fold.click()
    page.locator(f"a[href$='/{IDS[QUOTES]}'][href^='/compare/']").first.click()
    page.wait_for_url(f"**/compare/pasted-*/{IDS[QUOTES]}*")
    for pane in page.locator(".pane").all():
        assert letters(QUOTE) in letters("".join(pane.locator("mark.p1").all_inner_texts()))
