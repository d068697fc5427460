"""The watches screen, over HTTP and in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page as BrowserPage, expect

from opensearch_winnow import Index, Page
from tests.web.browser_fixture import NewPage, accessibility_faults, scrolls_sideways
from tests.web.conftest import Serve
from tests.web.known_crawl_fixture import HARBOUR, IDS, MILL, MOVED, QUOTE, SHORT, TEXTS, at

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
HOSTILE = '"><script>alert(1)</script>&name=x\u202e'


def add_page(store: Path, url: str, text: str) -> None:
    with Index.open(store) as index:
        assert index.add([Page(url, text=text, fetched_at=at(12), title="New")]).indexed == 1


def test_a_watch_is_added_answered_seen_and_removed(own_file: Path, serve: Serve) -> None:
    served = serve(own_file, "--write")
    assert served.get("/watches").heading == "No watches yet"
    added = served.form("/watches/add", name=HOSTILE, url=MILL, min_containment="0.3")
    assert (added.status, added.headers["location"]) == (303, f"/watches?watch={quote(HOSTILE)}")
    assert served.get("/watches").heading == "1 watch, no new pages"
    add_page(own_file, "https://new.example/", TEXTS[MILL])
    (watch,) = served.json("/api/v1/watches")["watches"]
    assert (watch["name"], watch["url"], watch["min_containment"], watch["total"]) == (HOSTILE, MILL, 0.3, 6)
    assert [watch["matches"][0]["id"]] == watch["new"]  # the new ones first
    assert watch["matches"][0]["url"] == "https://new.example/"
    shown = served.get("/watches")
    assert shown.heading == "1 watch, 1 new page"
    assert f'href="/compare/{IDS[MILL]}/{IDS[MOVED]}"' in shown.text
    rows = served.get("/watches.csv").rows
    assert [(row["id"], row["new"]) for row in rows] == [
        (each["id"], "true" if each["id"] in watch["new"] else "false") for each in watch["matches"]
    ]
    assert served.form("/watches/seen", name=HOSTILE, ids=" ".join(watch["new"])).status == 303
    assert served.json("/api/v1/watches")["watches"][0]["new"] == []
    assert served.form("/watches/remove", name=HOSTILE).headers["location"] == "/watches"
    assert served.json("/api/v1/watches") == {"total": 0, "watches": []}


def test_findings_are_listed(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        index.add_watch("the mill", url=MILL)
        index.add_watch(HOSTILE, text=TEXTS[MILL])
    served = serve(own_file)
    assert served.json("/api/v1/watches/log") == {"total": 0, "findings": []}
    for number in range(4):
        add_page(own_file, f"https://new.example/{number}", TEXTS[MILL])
    log = served.json("/api/v1/watches/log?limit=3")
    assert (log["total"], len(log["findings"])) == (8, 3)
    of_one = served.json("/watches/log.json?watch=the+mill")
    assert [each["url"] for each in of_one["findings"]] == [f"https://new.example/{number}" for number in (3, 2, 1, 0)]
    first = of_one["findings"][0]
    shown = served.get("/watches/log")
    assert "8 findings of all watches" in shown.text
    assert shown.text.count("<script>alert") == 0
    assert f'href="/compare/{IDS[MILL]}/{first["id"]}"' in shown.text
    assert f"?watch={quote(HOSTILE)}" in shown.text
    assert "Next" in served.get("/watches/log?limit=3").text
    assert "Previous" in served.get("/watches/log?limit=3&page=3").text
    rows = served.get("/watches/log.csv?watch=the+mill").rows
    assert [row["id"] for row in rows] == [each["id"] for each in of_one["findings"]]
    with Index.open(own_file) as index:
        index.remove_watch("the mill")
    removed = served.get("/watches/log?watch=the+mill").text
    assert "(removed)" in removed
    assert f"/compare/{IDS[MILL]}" not in removed


def test_what_cannot_be_watched_is_said(own_file: Path, serve: Serve) -> None:
    served = serve(own_file, "--write")
    assert "/watches/add" in served.get(f"/page/{IDS[MILL]}").text
    assert "/watches/add" not in served.get(f"/page/{IDS[SHORT]}").text  # it is too short
    for fields, words in (
        ({"name": "a", "text": "too short"}, "needs at least 50"),
        ({"name": " ", "url": MILL}, "a name of 1 to 100 characters"),
        ({"name": "a"}, "Give the URL"),
        ({"name": "a", "url": MILL, "text": QUOTE}, "Give the URL"),
        ({"name": "a", "url": MILL, "min_containment": "x"}, "The minimum share"),
        ({"name": "a", "url": MILL, "min_containment": ""}, "The minimum share"),
        ({"name": "a", "url": "https://gone.example/"}, f"{own_file.name} has no page https://gone.example/"),
    ):
        fields = {"min_containment": "0.3", "replace": "on", **fields}
        refused = served.form("/watches/add", **fields)
        assert refused.status == 400
        assert str(own_file) not in refused.text
        page = refused.tree
        (fault,) = page.xpath("//*[@role='alert']")
        assert words in fault.text_content()
        assert page.xpath("//*[@aria-invalid]/@aria-describedby") == [fault.get("id")]
        form = next(each for each in page.forms if each.action == "/watches/add")
        assert {name: value or "" for name, value in form.fields.items()} == {"url": "", "text": "", **fields}
    assert served.form("/watches/add", name="a", pasted="pasted-gone", min_containment="0.3").status == 404
    for path in ("remove", "seen", "text"):
        assert served.form(f"/watches/{path}", name="none").status == 404
    assert served.get("/watches?watch=none").status == 404
    assert served.json("/api/v1/watches")["total"] == 0
    assert served.form("/watches/add", name="a", url=MILL, min_containment="0.3").status == 303
    taken = served.form("/watches/add", name="a", url=HARBOUR, min_containment="0.3")
    assert (taken.status, "has a watch a already" in taken.text) == (400, True)
    assert served.form("/watches/add", name="a", url=HARBOUR, min_containment="0", replace="on").status == 303
    assert served.json("/api/v1/watches")["watches"][0]["url"] == HARBOUR


def test_who_may_only_read_is_told_how_to_write(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        index.add_watch("quote", text=QUOTE, min_containment=0)
    served = serve(own_file)
    assert "winnow serve --write" in served.get("/watches").text
    for path in ("/watches", f"/page/{IDS[MILL]}"):
        assert not re.search("/watches/(add|remove)", served.get(path).text)
    assert served.json("/api/v1/watches")["total"] == 1
    looked = served.form("/watches/text", name="quote")  # which only reads
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


def test_many_watches_are_asked_a_few_at_a_time(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        for number in range(12):
            index.add_watch(f"{number:02}", text=TEXTS[MILL], min_containment=0.0)
    served = serve(own_file)
    assert "12 watches, no new pages for the 10 listed" in served.get("/watches").text
    second = served.json("/watches.json?page=2&limit=2")
    assert [each["name"] for each in second["watches"]] == ["10", "11"]
    assert [len(each["matches"]) for each in second["watches"]] == [2, 2]
    assert [each["name"] for each in served.json("/watches.json?watch=03")["watches"]] == ["03"]


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
