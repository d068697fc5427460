"""The first screen: its numbers are true, its examples lead somewhere, and it says what is out of date."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from opensearch_winnow import Index, Page as WebPage
from opensearch_winnow.operations.upkeep.overview import Overview
from opensearch_winnow.web.app import make_app
from opensearch_winnow.web.served import ServedStore
from tests.web.conftest import Serve, Unclustered, made
from tests.web.known_crawl_fixture import MILL, PAGES
from tests.web.served_fixture import Served, serving_app

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]


def counted(served: Served) -> Any:
    """Return the answer when the pages have been counted."""
    end = monotonic() + 60
    while monotonic() < end:
        found = served.json("/api/v1/overview")
        if found["overview"] is not None:
            return found
        sleep(0.1)
    raise AssertionError("the pages are not counted")


def test_its_numbers_are_true(served: Served) -> None:
    found = counted(served)
    overview = found["overview"]
    numbers = [overview[name] for name in ("copies", "clusters", "pages", "captures")]
    assert numbers == [8, 2, len({page.url for page in PAGES}), len(PAGES)]
    assert found["captures"] == found["clustered"] == len(PAGES)
    assert [each["urls"] for each in overview["largest"]] == [4, 4]
    assert [(each["name"], each["captures"]) for each in overview["crawls"]] == [("known", len(PAGES))]
    assert served.get("/").heading == f"8 of {overview['pages']} pages are near-copies of another"


def test_a_page_captured_often_is_no_copy_of_itself(tmp_path: Path, serve: Serve) -> None:
    often = [page for page in PAGES if page.url == MILL]
    assert len(often) > 2
    served = serve(made(tmp_path / "often.winnow", often))
    overview = counted(served)["overview"]
    assert (overview["pages"], overview["captures"], overview["copies"]) == (1, len(often), 0)
    assert "No two of 1 page" not in served.get("/").text


def test_pages_without_a_site_are_on_none(tmp_path: Path, serve: Serve) -> None:
    """Their addresses may be paths, or the ids of documents in an attached index."""
    text = " ".join(f"word{number}" for number in range(300))
    pages = [*(WebPage(name, text=f"{text} {name}") for name in ("0", "1")), WebPage("2", revisit_of="3")]
    served = serve(made(tmp_path / "ids.winnow", pages))
    assert counted(served)["overview"]["sites"] == 0
    shown = served.get("/").text
    assert "2 of 3 pages are near-copies of another; 1 of them has no text" in shown
    assert " on <" not in shown
    assert "site" not in shown.partition("<main")[2].partition("</ol>")[0]


def test_its_examples_lead_to_what_they_promise(served: Served) -> None:
    overview = counted(served)["overview"]
    assert overview["queries"]
    for each in overview["queries"]:
        found = served.json(f"/api/v1/search?{urlencode({'words': each['query']})}")
        assert (found["total"], found["groups"]) == (each["pages"], each["groups"])
        assert found["groups"] < found["total"]
    pair = overview["comparison"]
    compared = served.json(f"/api/v1/compare/{pair['a']['id']}/{pair['b']['id']}")
    for name in ("resemblance", "containment", "contained"):
        assert compared[name] == pair[name]
    assert len(compared["passages"]) == len(pair["passages"])


def test_everything_on_it_can_be_opened(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/"))
    expect(page.get_by_role("combobox")).to_be_focused()
    for name in ("Largest clusters", "Two near-copies compared", "Recent crawls"):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    addresses = page.locator("main a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert len(addresses) > 5
    for address in addresses:
        assert served_file.get(address).status == 200, address


def test_who_may_not_write_is_shown_the_command(unclustered: Unclustered, serve: Serve) -> None:
    served = serve(unclustered(PAGES))
    text = served.get("/").text
    assert "have not been looked for yet" in text
    assert "<code>winnow cluster --store new.winnow</code>" in text
    assert "clusters/start" not in text
    assert counted(served)["overview"]["copies"] is None


def test_near_copies_are_found_from_here(unclustered: Unclustered, page: Page, serve: Serve) -> None:
    served = serve(unclustered(PAGES), "--write")
    page.goto(served.url("/"))
    page.get_by_role("button", name="Find near-copies").click()
    expect(page.locator("h1")).to_contain_text("cluster")
    page.goto(served.url("/"))
    expect(page.locator("h1")).to_contain_text("are near-copies of another")
    expect(page.get_by_role("button", name="Find near-copies")).to_have_count(0)


def test_what_was_added_since_is_said(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        index.add([WebPage("https://new.example/", text="A new page, of a few words only.")])
    served = serve(own_file)
    for path in ("/", "/statistics"):
        assert "1 capture has been added since" in served.get(path).text


def test_what_is_typed_while_the_pages_are_counted_is_kept(
    page: Page, known_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, overview = Event(), Index.overview

    def slow_overview(index: Index) -> Overview:
        assert told.wait(60)
        return overview(index)

    monkeypatch.setattr(Index, "overview", slow_overview)
    with serving_app(make_app(ServedStore.named(str(known_file)))) as served:
        try:
            page.goto(served.url("/"))
            expect(page.get_by_role("status").first).to_have_text("Counting the pages …")
            page.get_by_role("combobox").fill("harbour")
            page.wait_for_timeout(2_500)  # the screen has been updated at least once
            expect(page.get_by_role("combobox")).to_have_value("harbour")
        finally:
            told.set()
        expect(page.locator("h1")).to_contain_text("near-copies of another")
        expect(page.get_by_role("heading", name="Largest clusters")).to_be_visible()
        expect(page.get_by_role("combobox")).to_have_value("harbour")
        expect(page.get_by_role("combobox")).to_be_focused()
