"""The watches screen, over HTTP and in a browser."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import pytest
from lxml import html
from playwright.sync_api import expect

from opensearch_winnow import Index, Page
from tests.web.browser_fixture import NewPage, accessibility_faults, scrolls_sideways
from tests.web.conftest import Serve
from tests.web.known_crawl_fixture import HARBOUR, IDS, MILL, MOVED, QUOTE, SHORT, TEXTS, at
from tests.web.served_fixture import Reply, Served

if TYPE_CHECKING:
    from playwright.sync_api import Page as BrowserPage

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
HOSTILE = '"><script>alert(1)</script>&name=x\u202e'


def sent(served: Served, path: str, **fields: str) -> Reply:
    body = urlencode(fields).encode()
    return served.send(path, body, content_type="application/x-www-form-urlencoded")


def add_page(store: Path, url: str, text: str) -> None:
    with Index.open(store) as index:
        assert index.add([Page(url, text=text, fetched_at=at(12), title="New")]).indexed == 1


def test_a_watch_is_added_answered_seen_and_removed(own_file: Path, serve: Serve) -> None:
    served = serve(own_file, "--write")
    assert ">No watches yet</h1>" in served.get("/watches").text
    added = sent(served, "/watches/add", name="the mill", url=MILL, min_containment="0.3")
    assert (added.status, added.headers["location"]) == (303, "/watches?watch=the%20mill")
    assert ">1 watch, no new pages</h1>" in served.get("/watches").text
    add_page(own_file, "https://new.example/", TEXTS[MILL])
    (watch,) = served.json("/api/v1/watches")["watches"]
    assert (watch["name"], watch["url"], watch["min_containment"], watch["total"]) == ("the mill", MILL, 0.3, 6)
    assert [watch["matches"][0]["id"]] == watch["new"]  # the new ones first
    assert watch["matches"][0]["url"] == "https://new.example/"
    shown = served.get("/watches").text
    assert ">1 watch, 1 new page</h1>" in shown
    assert "6 pages, 1 of them new" in shown
    assert f'href="/compare/{IDS[MILL]}/{IDS[MOVED]}"' in shown
    rows = list(csv.DictReader(io.StringIO(served.get("/watches.csv").text)))
    assert [(row["id"], row["new"]) for row in rows] == [
        (each["id"], "true" if each["id"] in watch["new"] else "false") for each in watch["matches"]
    ]
    assert sent(served, "/watches/seen", name="the mill", ids=" ".join(watch["new"])).status == 303
    assert served.json("/api/v1/watches")["watches"][0]["new"] == []
    assert sent(served, "/watches/remove", name="the mill").headers["location"] == "/watches"
    assert served.json("/api/v1/watches") == {"total": 0, "watches": []}


def test_findings_are_listed(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        index.add_watch("the mill", url=MILL)
        index.add_watch(HOSTILE, text=TEXTS[MILL])
    served = serve(own_file)
    assert "No watch has found anything yet" in served.get("/watches/log").text
    assert "Found while indexing" not in served.get("/watches").text
    assert served.json("/api/v1/watches/log") == {"total": 0, "findings": []}
    for number in range(4):
        add_page(own_file, f"https://new.example/{number}", TEXTS[MILL])
    log = served.json("/api/v1/watches/log?limit=3")
    assert (log["total"], len(log["findings"])) == (8, 3)
    of_one = served.json("/watches/log.json?watch=the+mill")
    assert [each["url"] for each in of_one["findings"]] == [f"https://new.example/{number}" for number in (3, 2, 1, 0)]
    first = of_one["findings"][0]
    assert (first["watch"], first["containment"], first["title"]) == ("the mill", 1.0, "New")
    shown = served.get("/watches/log")
    assert "8 findings of all watches" in shown.text
    assert shown.text.count("<script>alert") == 0
    assert f'href="/compare/{IDS[MILL]}/{first["id"]}"' in shown.text
    assert f"?watch={quote(HOSTILE)}" in shown.text
    assert "Next" in served.get("/watches/log?limit=3").text
    assert "Previous" in served.get("/watches/log?limit=3&page=3").text
    rows = list(csv.DictReader(io.StringIO(served.get("/watches/log.csv?watch=the+mill").text)))
    assert [row["id"] for row in rows] == [each["id"] for each in of_one["findings"]]
    page = served.get("/watches").text
    assert "Found while indexing" in page
    assert "Show all findings" in page
    with Index.open(own_file) as index:
        index.remove_watch("the mill")
    removed = served.get("/watches/log?watch=the+mill").text
    assert "(removed)" in removed
    assert f"/compare/{IDS[MILL]}" not in removed


def test_what_cannot_be_watched_is_said(own_file: Path, serve: Serve) -> None:
    served = serve(own_file, "--write")
    for fields, words in (
        ({"name": "a", "text": "too short"}, "needs at least 50"),
        ({"name": " ", "url": MILL}, "a name of 1 to 100 characters"),
        ({"name": "a"}, "Give the URL of a page, or a text"),
        ({"name": "a", "url": MILL, "text": QUOTE}, "Give the URL of a page, or a text"),
        ({"name": "a", "url": MILL, "min_containment": "x"}, "The minimum share is a share from 0 to 1"),
        ({"name": "a", "url": MILL, "min_containment": ""}, "The minimum share is a share from 0 to 1"),
        ({"name": "a", "url": "https://gone.example/"}, f"{own_file.name} has no page https://gone.example/"),
    ):
        fields = {"min_containment": "0.3", "replace": "on", **fields}
        refused = sent(served, "/watches/add", **fields)
        assert refused.status == 400
        assert str(own_file) not in refused.text
        page = html.document_fromstring(refused.body)
        (fault,) = page.xpath("//*[@role='alert']")
        assert words in fault.text_content()
        assert page.xpath("//*[@aria-invalid]/@aria-describedby") == [fault.get("id")]
        form = next(each for each in page.forms if each.action == "/watches/add")
        assert {name: value or "" for name, value in form.fields.items()} == {"url": "", "text": "", **fields}
    assert sent(served, "/watches/add", name="a", pasted="pasted-gone", min_containment="0.3").status == 404
    for path in ("remove", "seen", "text"):
        assert sent(served, f"/watches/{path}", name="none").status == 404
    assert served.get("/watches?watch=none").status == 404
    assert served.json("/api/v1/watches")["total"] == 0
    assert sent(served, "/watches/add", name="a", url=MILL, min_containment="0.3").status == 303
    taken = sent(served, "/watches/add", name="a", url=HARBOUR, min_containment="0.3")
    assert (taken.status, "has a watch a already" in taken.text) == (400, True)
    assert sent(served, "/watches/add", name="a", url=HARBOUR, min_containment="0", replace="on").status == 303
    assert served.json("/api/v1/watches")["watches"][0]["url"] == HARBOUR


def test_who_may_only_read_is_told_how_to_write(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        index.add_watch("quote", text=QUOTE, min_containment=0)
    served = serve(own_file)
    shown = served.get("/watches").text
    assert "winnow serve --write" in shown
    assert "/watches/add" not in shown
    assert "/watches/remove" not in shown
    assert "/watches/add" not in served.get(f"/page/{IDS[MILL]}").text
    for path in ("add", "remove", "seen"):
        assert sent(served, f"/watches/{path}", name="quote").status == 403
    assert served.json("/api/v1/watches")["total"] == 1
    looked = sent(served, "/watches/text", name="quote")  # which only reads
    assert looked.status == 303
    assert looked.headers["location"].startswith("/paste/pasted-")


def test_a_page_that_is_gone_is_said_and_the_others_are_answered(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        index.add_watch("a", url=MILL)
        index.add_watch("b", url=HARBOUR)
        index.store.delete([IDS[HARBOUR]])
    served = serve(own_file)
    answered, gone = served.json("/api/v1/watches")["watches"]
    assert (answered["error"], answered["total"]) == (None, 5)
    assert f"has no page {HARBOUR}" in gone["error"]
    assert "This watch cannot be checked" in served.get("/watches").text


def test_many_watches_are_asked_a_few_at_a_time(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        for number in range(12):
            index.add_watch(f"{number:02}", text=TEXTS[MILL], min_containment=0.0)
    served = serve(own_file)
    assert "12 watches, no new pages for the 10 listed" in served.get("/watches").text
    second = served.json("/watches.json?page=2&limit=2")
    assert [each["name"] for each in second["watches"]] == ["10", "11"]
    assert [len(each["matches"]) for each in second["watches"]] == [2, 2]
    assert "Showing 2 of" in served.get("/watches?page=2&limit=2").text
    assert [each["name"] for each in served.json("/watches.json?watch=03")["watches"]] == ["03"]


@pytest.mark.check
def test_a_name_and_a_text_full_of_markup_are_text(own_file: Path, serve: Serve, page: BrowserPage) -> None:
    with Index.open(own_file) as index:
        index.add_watch(HOSTILE, text=f"<img src=x onerror=alert(1)> {TEXTS[MILL]}")
    served = serve(own_file, "--write")
    page.goto(served.url(f"/watches?watch={quote(HOSTILE)}"))
    expect(page.locator("h2 a").first).to_contain_text('"><script>alert(1)</script>&name=x')
    expect(page.locator("blockquote")).to_contain_text("<img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("h1")).to_have_text("No watches yet")


@pytest.mark.check
def test_in_a_browser_from_a_page_to_what_is_new(
    own_file: Path, serve: Serve, page: BrowserPage, new_page: NewPage
) -> None:
    served = serve(own_file, "--write")
    page.goto(served.url(f"/page/{IDS[MILL]}"))
    page.get_by_text("Watch this page").click()
    page.get_by_label("Name").fill("my mill")
    page.get_by_role("button", name="Watch", exact=True).click()
    expect(page.locator("h1")).to_have_text("1 watch, no new pages")
    add_page(own_file, "https://new.example/", TEXTS[MILL])
    page.reload()
    expect(page.locator("h1")).to_have_text("1 watch, 1 new page")
    expect(page.locator("tbody tr").first).to_contain_text("new")
    assert accessibility_faults(page) == []
    phone = new_page(viewport={"width": 320, "height": 640}, color_scheme="dark", java_script_enabled=False)
    phone.goto(served.url("/watches"))
    assert not scrolls_sideways(phone)
    phone.get_by_role("button", name="Mark as seen").click()
    expect(phone.locator("h1")).to_have_text("1 watch, no new pages")


def test_a_page_that_is_too_short_offers_no_watch(own_file: Path, serve: Serve) -> None:
    served = serve(own_file, "--write")
    assert "/watches/add" not in served.get(f"/page/{IDS[SHORT]}").text
    assert "/watches/add" in served.get(f"/page/{IDS[MILL]}").text


@pytest.mark.check
def test_a_text_that_was_pasted_is_watched(own_file: Path, serve: Serve, page: BrowserPage) -> None:
    served = serve(own_file, "--write")
    page.goto(served.url("/paste"))
    page.locator("textarea").fill(QUOTE)
    page.locator("textarea").press("Tab")
    page.locator("main form button[type=submit]").first.click()
    page.get_by_label("Name of the watch").fill("quote")
    page.get_by_role("button", name="Watch this text").click()
    expect(page.locator("h1")).to_have_text("1 watch, no new pages")
    expect(page.locator("blockquote")).to_have_text(QUOTE)
    page.get_by_role("button", name="Show passages").click()
    expect(page).to_have_url(re.compile("/paste/pasted-"))
    expect(page.locator("main")).to_contain_text(" ".join(QUOTE.split()[:5]))
