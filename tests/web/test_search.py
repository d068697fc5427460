"""The search screen in a browser, on both kinds of store, checked against the known crawl."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import replace
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from opensearch_winnow.index import Index
from opensearch_winnow.web.screen import ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.searching import search
from opensearch_winnow.web.serving.formats import encode_answer
from tests.web.browser_fixture import NewPage
from tests.web.known_crawl_fixture import (
    ALONE,
    CONTAINED,
    CONTAINS,
    IDS,
    MILL,
    MIRROR,
    MOVED,
    NEAR,
    SHOUTED,
    TEXTS,
)
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
FAMILY = {MILL, MIRROR, SHOUTED, NEAR, MOVED}
COMMON = TEXTS["https://harbour.example/"].split()[1]  # on all pages with the harbour
FOUND = FAMILY | {CONTAINS, CONTAINED, *ALONE}


def hit(page: Page) -> Locator:
    """Return the first hit that has a group."""
    return page.locator(".hit", has=page.locator("details")).first


def test_pages_and_groups(page: Page, served: Served) -> None:
    page.goto(served.url("/"))
    page.get_by_role("combobox").fill("mill")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("h1")).to_have_text("11 pages in 7 groups")
    expect(page).to_have_title("mill · 11 pages in 7 groups · winnow")
    expect(page.locator(".hit")).to_have_count(7)
    shares = [int(re.findall(r"\d+", text)[0]) for text in hit(page).locator(".share").all_text_contents()]
    assert min(shares) >= 50
    assert max(shares) == 100
    assert parse_qs(urlsplit(page.url).query)["words"] == ["mill"]
    document = served.json(f"/search.json?{urlsplit(page.url).query}")
    assert (document["total"], document["groups"], len(document["hits"])) == (11, 7, 7)
    (family,) = ({each["url"], *each["members"]} for each in document["hits"] if each["members"])
    assert family == FAMILY
    assert {url for each in document["hits"] for url in (each["url"], *each["members"])} == FOUND
    assert all([other["url"] for other in each["member_pages"]] == each["members"] for each in document["hits"])


def test_what_differs_is_said_in_a_few_words(page: Page, served: Served) -> None:
    page.goto(served.url("/search?words=mill"))
    group = hit(page).locator("details")
    expect(group.locator(".differs")).to_have_count(0)
    group.locator("summary").click()
    row = group.locator("li", has=page.locator(f"a[href='/page/{IDS[NEAR]}']"))
    expect(row.locator(".differs")).to_be_visible()
    expect(row.locator(".differs ins").first).to_be_visible()
    path = f"/api/v1/pages/{IDS[MILL]}/differences?others={IDS[MIRROR]},{IDS[NEAR]},{'0' * 32}"
    told = {each["id"]: (each["removed"], each["added"]) for each in served.json(path)["differences"]}
    assert told.keys() == {IDS[MIRROR], IDS[NEAR]}
    assert told[IDS[MIRROR]] == ("", "")  # an exact copy
    removed, added = (words.strip("… ").split(" … ") for words in told[IDS[NEAR]])
    assert all(words in TEXTS[MILL] for words in removed)
    assert all(words in TEXTS[NEAR] for words in added)
    assert removed + added


@pytest.mark.parametrize("scripts", [True, False])
def test_any_two_pages_are_ticked_and_compared(new_page: NewPage, served: Served, scripts: bool) -> None:
    page = new_page(java_script_enabled=scripts)
    page.goto(served.url("/search?words=mill"))
    hit(page).locator("summary").click()
    member = hit(page).locator("details input[type=checkbox]").first
    alone = page.locator(".hit", has_not=page.locator("details")).locator("input[type=checkbox]").first
    button = page.get_by_role("button", name="Compare two ticked pages")
    if scripts:
        expect(button).to_be_disabled()
        other = page.locator(".hit > .name input[type=checkbox]").first
        other.check()
        page.set_viewport_size({"width": 390, "height": 844})
        said = page.locator("[data-pick] [role=status]")
        expect(said).to_have_text(re.compile("^Tick one more, to compare it with "))
        assert said.evaluate("each => each.clientWidth") > 200  # enough for the first words
        member.check()
        expect(button).to_be_enabled()
        alone.check()  # of three, the first is given up
        expect(other).not_to_be_checked()
    else:
        member.check()
        alone.check()
    ids = {each.get_attribute("value") for each in (member, alone)}
    button.click()
    page.wait_for_url("**/compare/*/*")
    assert set(urlsplit(page.url).path.split("/")[2:]) == ids


def test_the_slider_changes_count_and_address_and_back_restores_both(page: Page, served: Served) -> None:
    page.goto(served.url("/search?words=mill"))
    slider = page.get_by_role("slider")
    expect(slider).to_have_value("0.5")
    address = page.url
    slider.press("End")
    slider.press("ArrowLeft")
    slider.press("ArrowRight")
    expect(page.locator("output")).to_have_text("100 %")
    expect(slider).to_be_focused()
    assert page.url == address
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**min_resemblance=1*")
    expect(page.locator("h1")).to_have_text("11 pages in 9 groups")
    expect(slider).to_have_value("1")
    page.go_back()
    expect(page.locator("h1")).to_have_text("11 pages in 7 groups")
    expect(slider).to_have_value("0.5")


def test_ungrouped(page: Page, served: Served) -> None:
    page.goto(served.url("/search?words=mill&limit=100"))
    page.get_by_label("Group duplicates").select_option("no")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**group=off*")
    expect(page.locator("h1")).to_have_text("11 pages")
    expect(page.locator(".hit")).to_have_count(10)
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hits")).to_have_attribute("start", "11")


def test_the_csv_is_whole(served: Served) -> None:
    page = served.get("/search?words=mill&group=off").text
    (link,) = re.findall(r'<a href="(/search\.csv[^"]+)">All 11 as CSV</a>', page)
    rows = served.get(html.unescape(link)).rows
    assert (len(rows), page.count('<li class="hit">')) == (11, 10)
    assert len(served.get("/search.csv?words=mill&group=off&limit=2").rows) == 2  # as many as were wanted
    assert len(served.get("/search.csv?words=mill&group=off&page=2").rows) == 1
    assert 'href="/search.csv?words=mill">All 11 as CSV' in served.get("/search?words=mill&limit=2&page=2").text


def test_a_csv_that_is_not_whole_says_so(served_file: Served) -> None:
    with Index.open(served_file.store, create=False) as index:
        document = index.search("mill", group=True, limit=3)
    whole = ScreenRequest("/search", {}, {}, {}, cast("Any", None), is_whole=True)
    reply = encode_answer(search.SCREEN, "csv", ScreenAnswer(document), whole, cast("Any", None))
    *rows, last = csv.reader(io.StringIO(bytes(reply.body).decode()))
    assert last == ["… 4 more groups, not in this file", *[""] * 10]
    assert len(rows[0]) == len(last)
    assert reply.headers["content-disposition"] == 'attachment; filename="winnow-search-part.csv"'
    part = replace(whole, is_whole=False)  # and says how much it wants
    short = encode_answer(search.SCREEN, "csv", ScreenAnswer(document), part, cast("Any", None))
    assert "not in this file" not in bytes(short.body).decode()


def test_rows_of_the_csv(served: Served) -> None:
    document = served.json("/search.json?words=mill")
    rows = served.get("/search.csv?words=mill").rows
    assert len(rows) == document["total"] == len(FOUND)
    assert {row["url"]: row["id"] for row in rows} == {url: IDS[url] for url in FOUND}
    assert {int(row["group"]) for row in rows} == set(range(1, 8))
    with Index.open(served.store, create=False) as index:
        assert {row["url"]: row["title"] for row in rows} == {url: index.page(url).title or "" for url in FOUND}


@pytest.mark.parametrize(
    ("query", "reason", "offer"),
    [
        ("mill+zeppelin", "No page has all these words", "Without zeppelin there are 11"),
        (f"harbour+-{COMMON}", f"No page has these words without {COMMON}", "4 pages have them if nothing is excluded"),
        ("mill&site=zeppelin.example", "No page has these words with site", "Without site, 11 pages have them"),
    ],
)
def test_where_nothing_is_found_something_is_offered(
    page: Page, served: Served, query: str, reason: str, offer: str
) -> None:
    page.goto(served.url(f"/search?words={query}"))
    expect(page.locator("h1")).to_have_text(reason)
    link = page.locator("main p a").first
    expect(link).to_have_text(re.compile(offer))
    promised = int(re.findall(r"\d+", link.inner_text())[0])
    link.click()
    expect(page.locator("h1")).to_have_text(re.compile(rf"^{promised} page"))


def test_facets_narrow_the_search(page: Page, served: Served) -> None:
    page.goto(served.url("/search?words=mill"))
    facet = page.locator(".facets li", has_text="farm.example")
    expect(facet.get_by_title("4 pages in 4 groups")).to_contain_text("4 pages")
    facet.get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("4 pages")
    page.get_by_role("link", name="All sites").click()
    expect(page.locator("h1")).to_have_text("11 pages in 7 groups")


def test_searching_works_without_scripts(new_page: NewPage, served: Served) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(served.url("/"))
    page.get_by_label("Words, a URL or a paragraph").fill("harbour")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("h1")).to_have_text("4 pages in 1 group")
    page.locator("summary", has_text="3 more like this").click()
    expect(page.locator(".group li")).to_have_count(3)
