"""A visitor goes from words, or from a text, to a shared passage, on both kinds of store."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.web.known_crawl_fixture import IDS, MOVED
from tests.web.served_fixture import Served

pytestmark = pytest.mark.xdist_group(__name__)


def letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).casefold()


def test_from_words_to_a_passage(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(served.url("/"))
    page.get_by_role("combobox").fill("mill")
    page.get_by_role("button", name="Search").click()
    group = page.locator(".hit details").first
    group.locator("summary").click()
    group.locator("li", has_text=MOVED).get_by_role("link", name="Compare").click()
    page.wait_for_url(f"**/compare/*/{IDS[MOVED]}")
    expect(page.locator("h1")).to_contain_text("8 shared passages")
    for number in (7, 2):
        page.locator(f".chip.p{number}").first.click()
        page.wait_for_url(f"**#p{number}")
        marks = [pane.locator(f"mark.p{number}") for pane in page.locator(".pane").all()]
        for mark in marks:
            expect(mark.first).to_be_in_viewport()
        ours, theirs = (letters("".join(mark.all_inner_texts())) for mark in marks)
        assert ours == theirs
        assert len(ours) > 300
