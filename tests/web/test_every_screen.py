"""Rules for every screen in each state: no external resources, no failing scripts, accessible to everybody."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from lxml import html
from playwright.sync_api import Page, ViewportSize, expect

from tests.web.addresses_fixture import ADDRESSES, FIRST, SHOWN, every_screen, every_state, screen_at
from tests.web.browser_fixture import NewPage, Witness, accessibility_faults, scrolls_sideways
from tests.web.served_fixture import Served

pytestmark = pytest.mark.xdist_group(__name__)
PHONE: ViewportSize = {"width": 320, "height": 640}
LINKS = 60  # of a page that are followed
ACCUSING = re.compile(r"violat|plagiar|offend|suspicious|stolen|cheat", re.IGNORECASE)
MARKUP = re.compile(r"</?[a-z]|&#?\w+;|\{[{%]")
TIMES = re.compile(r"\d[\d.,]* (?:m?s|min|seconds?)\b|\d\d:\d\d:\d\d UTC")  # that differ each time


def test_every_screen_has_an_address() -> None:
    assert {screen_at(address).name for address in ADDRESSES.values()} == {screen.name for screen in SHOWN}


@pytest.mark.check
def test_what_goes_wrong_in_a_page_is_seen(page: Page, served_file: Served, witness: Witness) -> None:
    page.goto(served_file.url("/search"))
    assert witness.faults == []
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://192.0.2.1/x.png'}))")
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('thrown') })")
    with page.expect_event("dialog"):
        page.evaluate("setTimeout(() => alert('shown'))")
    seen = "\n".join(witness.faults)
    for fault in ("inline style", "192.0.2.1", "thrown", "dialog: shown"):
        assert fault in seen
    witness.faults.clear()


@every_state
def test_it_is_clean_and_accessible(page: Page, served_file: Served, screenshots: Path, address: str) -> None:
    look_at(page, served_file.url(address))
    page.screenshot(path=screenshots / f"{_name(address)}-file.png", full_page=True)


@pytest.mark.check
@pytest.mark.parametrize("address", FIRST.values(), ids=FIRST.keys())
def test_it_is_so_on_an_engine(page: Page, served_engine: Served, screenshots: Path, address: str) -> None:
    """Check each screen in one state: the other states show the same answers."""
    look_at(page, served_engine.url(address))
    page.screenshot(path=screenshots / f"{_name(address)}-cluster.png", full_page=True)


def look_at(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("h1")).to_have_count(1)
    assert page.locator("h1").inner_text().strip()
    assert accessibility_faults(page) == []


@pytest.mark.check
@every_screen
def test_it_can_be_read_in_the_dark_and_on_a_phone(
    new_page: NewPage, served_file: Served, screenshots: Path, address: str
) -> None:
    page = new_page(color_scheme="dark")
    page.goto(served_file.url(address))
    assert accessibility_faults(page, rules=["color-contrast"]) == []
    page.screenshot(path=screenshots / f"{_name(address)}-dark.png")
    page.set_viewport_size(PHONE)
    assert not scrolls_sideways(page)
    page.screenshot(path=screenshots / f"{_name(address)}-phone.png")
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert not scrolls_sideways(page)


@pytest.mark.check
@pytest.mark.parametrize("address", FIRST.values(), ids=FIRST.keys())
def test_it_can_be_read_without_scripts(new_page: NewPage, page: Page, served_file: Served, address: str) -> None:
    """Scripts add no text. Only controls that need JavaScript are hidden without it."""
    plain = new_page(java_script_enabled=False)
    for each in (plain, page):
        each.goto(served_file.url(address))
        each.locator("noscript").evaluate_all("all => all.forEach(each => each.remove())")
    without, with_scripts = (TIMES.sub("", each.locator("main").text_content() or "") for each in (plain, page))
    assert without == with_scripts
    assert not ACCUSING.search(without)
    expect(plain.locator("main [hidden]:not(button, [role=status], :has(> button))")).to_have_count(0)


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES.keys())
def test_no_markup_is_shown_as_text(served_file: Served, address: str) -> None:
    """The pages of the known crawl contain no markup in their text."""
    page = html.document_fromstring(served_file.get(address).text)
    for each in page.xpath("//script | //style"):
        each.drop_tree()
    shown = [*page.itertext(), *page.xpath("//@title | //@aria-label | //@value | //@data-label")]
    assert [text for text in shown if MARKUP.search(text)] == []


@pytest.mark.check
@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES.keys())
def test_it_is_put_in_order(served_file: Served, address: str) -> None:
    """Links have targets, ids are unique, headings skip no level, and every table has a caption."""
    page = html.document_fromstring(served_file.get(address).text)
    names = page.xpath("//@id")
    assert len(set(names)) == len(names)
    levels = [int(heading.tag[1]) for heading in page.xpath("//h1 | //h2 | //h3 | //h4")]
    assert all(below <= above + 1 for above, below in pairwise(levels))
    assert page.xpath("//table[not(caption or @aria-label)]") == []
    links = page.xpath("//a/@href")
    inside = [urljoin(address, link) for link in dict.fromkeys(links) if not urlsplit(link).scheme]
    assert inside
    for link in inside[:LINKS]:
        path, _, place = link.partition("#")
        reply = served_file.get(path)
        assert reply.status in (200, 303, 307), f"{link}: {reply.text[:500]}"
        if place:
            assert f'id="{place}"' in reply.text


def _name(address: str) -> str:
    return next(name for name, each in ADDRESSES.items() if each == address)
