"""The search box on every screen: words, a URL, a paragraph, and pages that are suggested while typing."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Page, expect

from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from tests.web.addresses_fixture import FIRST
from tests.web.browser_fixture import NewPage, accessibility_faults
from tests.web.known_crawl_fixture import HARBOUR, IDS, MILL, MIRROR, QUOTE, QUOTES, TEXTS
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
PARAGRAPH = " ".join(TEXTS[MILL].split()[:60])


@pytest.mark.parametrize(
    "typed", [MILL, f"  {MILL} ", MILL.removeprefix("https://"), MILL.replace("https://", "http://"), f"{MILL}#part"]
)
def test_a_url_opens_its_page(served: Served, typed: str) -> None:
    reply = served.get(f"/search?{urlencode({'words': typed})}")
    assert (reply.status, reply.headers["location"]) == (303, f"/page/{IDS[MILL]}")


def test_a_url_that_is_not_stored_is_said_to_be_missing(served: Served) -> None:
    reply = served.get("/search?words=https%3A%2F%2Fnowhere.example%2Fmill.html")
    assert reply.status == 200
    assert "has the address" in reply.text


@pytest.mark.parametrize("typed", ["node.js", "3.14", "mill", f'"{PARAGRAPH}"'])
def test_words_with_a_dot_and_a_long_phrase_in_quotes_are_searched_for(served_file: Served, typed: str) -> None:
    reply = served_file.get(f"/search?{urlencode({'words': typed})}")
    assert reply.status == 200
    assert "has the address" not in reply.text


def test_a_program_always_searches_for_words(served_file: Served) -> None:
    for words, found in ((PARAGRAPH, True), (MILL, False)):
        assert bool(served_file.json(f"/api/v1/search?{urlencode({'words': words})}")["total"]) == found


@pytest.mark.parametrize("scripts", [True, False])
def test_a_paragraph_shows_who_quotes_it(new_page: NewPage, served: Served, scripts: bool) -> None:
    page = new_page(java_script_enabled=scripts)
    page.goto(served.url("/clusters"))
    page.locator("#words").fill(QUOTE)
    page.locator("#words").press("Enter")
    page.wait_for_url("**/paste/pasted-*")
    expect(page.locator(f"a[href='/page/{IDS[QUOTES]}']").first).to_be_visible()


def test_a_text_too_long_for_an_address_is_sent_as_a_form(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/"))
    page.locator("#words").fill(f"{TEXTS[MILL]} " * 40)
    page.locator("#words").press("Enter")
    page.wait_for_url("**/paste/pasted-*")
    page.go_back()
    page.locator("#words").fill("mill")
    page.locator("#words").press("Enter")
    page.wait_for_url("**/search?words=mill")


@pytest.mark.parametrize(
    ("typed", "heading"),
    [
        ("-mill", "“-mill” only excludes pages"),
        ("!!!", "“!!!” has no letters or digits"),
        ("", "What are you looking for?"),
    ],
)
def test_what_cannot_be_searched_for_is_explained(page: Page, served_file: Served, typed: str, heading: str) -> None:
    page.goto(served_file.url("/search?words=mill"))
    page.locator("#words").fill(typed)
    page.locator("#words").press("Enter")
    expect(page.locator("h1")).to_have_text(heading)
    expect(page.locator("#words")).to_have_value(typed)


@pytest.mark.parametrize("address", FIRST.values(), ids=FIRST.keys())
def test_the_box_and_the_name_of_the_store_are_on_every_screen(served_file: Served, address: str) -> None:
    shown = served_file.get(address).text
    assert shown.count("data-box") == 1
    assert 'title="Store">known.winnow<' in shown


def suggested(served: Served, typed: str, limit: int = 8) -> list[str]:
    found = served.json(f"/api/v1/suggest?words={quote(typed)}&limit={limit}")["suggestions"]
    return [each["url"] for each in found]


def test_every_page_is_suggested_by_the_beginning_of_its_url(served: Served) -> None:
    with Index.open(served.store, create=False) as index:
        urls = {card.url for card in index.store.scan(Card)}
    for url in urls:
        assert url in suggested(served, url[:-1], limit=50), url
    everything = suggested(served, "https://", limit=50)
    assert everything == sorted(url for url in urls if url.startswith("https://"))


def test_where_nothing_is_found_pages_with_such_an_address_are_shown(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/search?words={MIRROR[10:-2]}"))
    page.get_by_role("link", name=MIRROR).click()
    page.wait_for_url(f"**/page/{IDS[MIRROR]}")


def test_pages_are_suggested_by_a_part_of_their_url_and_words_of_their_title(served: Served) -> None:
    assert MILL in suggested(served, MILL[10:], limit=50)
    assert HARBOUR in suggested(served, "The harbou", limit=50)
    assert suggested(served, "zeppelin") == suggested(served, "!") == suggested(served, "m") == []


def test_a_suggestion_is_chosen_by_keyboard(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/statistics"))
    page.keyboard.press("/")
    box = page.get_by_role("combobox")
    expect(box).to_be_focused()
    box.press_sequentially(MILL[:-1])
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    assert accessibility_faults(page) == []
    box.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", "suggestion-0")
    box.press("ArrowUp")  # back to what was typed, and from there to the last one
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(0)
    box.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    box.press("Escape")
    expect(options.first).to_be_hidden()
    box.press_sequentially(MILL[-1])
    expect(options.first).to_be_visible()
    box.press("ArrowDown")
    box.press("Enter")
    page.wait_for_url(f"**/page/{IDS[MILL]}")


def test_a_suggestion_is_chosen_by_mouse(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/"))
    page.get_by_role("combobox").press_sequentially(MILL[:-1])
    page.get_by_role("option").filter(has_text=MILL).click()
    page.wait_for_url(f"**/page/{IDS[MILL]}")
