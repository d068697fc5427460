"""Hostile content is shown as text: its scripts do not run, and unsafe links are not made."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.web.browser_fixture import scrolls_sideways
from tests.web.conftest import WORKER, Serve, made
from tests.web.hostile_crawl_fixture import BODY, EVIL, IDS, PAGES, TITLES, WIDE
from tests.web.served_fixture import Served, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
TYPED = "<script>alert('q')</script>\"><img src=x onerror=alert(1)> evil"
INERT = {
    "search": "/search?words=evil",
    "search-by-cluster": "/search?words=evil&by=cluster&all_captures=on",
    "search-typed": f"/search?words={quote(TYPED)}&site={quote(TYPED)}&crawl={quote(TYPED)}",
    "page": f"/page/{IDS[0]}",
    "page-of-data": f"/page/{IDS[2]}",
    "page-wide": f"/page/{WIDE}",
    "page-long-address": f"/page/{IDS[-1]}",
    "history": f"/page/{IDS[1]}/history",
    "versions": f"/page/{IDS[1]}/versions",
    "locate": f"/page/{IDS[1]}/locate",
    "compare": f"/compare/{IDS[0]}/{IDS[1]}",
    "compare-differences": f"/compare/{IDS[2]}/{IDS[3]}?view=differences",
    "compare-wide": f"/compare/{IDS[0]}/{WIDE}",
    "clusters": "/clusters",
    "cluster": f"/cluster/{IDS[0]}",
    "statistics": "/statistics",
}
# What our own pages are made of, and nothing else.
FOREIGN = "main :is(script, img, iframe, object, embed, base, link, meta, style), [onload], [onerror], [onmouseover]"
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture(scope="module", params=["file", pytest.param("cluster", marks=pytest.mark.check)])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if request.param == "file":
        store = str(tmp_path_factory.mktemp("hostile") / "<b>hostile.winnow")
    else:
        store = f"{request.getfixturevalue('engine').url}/hostile-{WORKER}"
    with serving(made(store, PAGES)) as found:
        yield found


@pytest.mark.parametrize("address", INERT.values(), ids=INERT.keys())
def test_it_is_shown_as_text(page: Page, hostile: Served, address: str) -> None:
    page.goto(hostile.url(address))
    expect(page.locator("h1")).to_have_count(1)
    expect(page.locator(FOREIGN)).to_have_count(0)
    for name in ("href", "action", "src", "formaction"):
        targets = page.locator(f"[{name}]").evaluate_all(f"all => all.map(each => each.getAttribute('{name}'))")
        assert all(re.match(r"/(?!/)|#|\?|https?://", target) for target in targets), targets
    outside = page.locator("a[href^=http]").evaluate_all("all => all.map(each => each.rel)")
    assert all({"noopener", "noreferrer", "nofollow"} <= set(rel.split()) for rel in outside)
    assert not UNSEEN.search(page.content())
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.set_viewport_size({"width": 320, "height": 640})
    assert not scrolls_sideways(page)


def test_titles_and_texts_can_be_read(page: Page, hostile: Served) -> None:
    page.goto(hostile.url("/search?words=evil&group=off&limit=20"))
    shown = page.locator("main").inner_text()
    assert TITLES[0] in shown
    assert TITLES[1] in shown
    page.goto(hostile.url(f"/compare/{IDS[0]}/{IDS[1]}"))
    assert "<script>alert('text')</script><img src=x onerror=alert(1)>" in page.locator(".pane").first.inner_text()


def test_what_is_typed_stays_in_its_field(page: Page, hostile: Served) -> None:
    page.goto(hostile.url(INERT["search-typed"]))
    expect(page.get_by_label("Words, a URL or a paragraph")).to_have_value(TYPED)
    expect(page.get_by_label("Site")).to_have_value(TYPED)


def test_a_spreadsheet_runs_nothing(hostile: Served) -> None:
    rows = csv.reader(io.StringIO(hostile.get("/search.csv?words=evil&group=off&limit=100").text, newline=""))
    cells = [cell for row in rows for cell in row]
    assert "'=1+1" in cells
    assert not [cell for cell in cells if re.match(r"[=+@\t\r-]", cell)]


def test_answers_for_programs_are_no_pages(hostile: Served) -> None:
    for path, kind in (
        ("/search.json?words=evil", "application/json"),
        ("/search.csv?words=evil", "text/csv; charset=utf-8"),
    ):
        reply = hostile.get(path)
        assert reply.headers["content-type"] == kind
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert TITLES[0] in {hit["title"] for hit in hostile.json("/search.json?words=evil&group=off&limit=100")["hits"]}


@pytest.mark.parametrize(
    "path", ["/<script>alert(1)</script>", "/search?min_resemblance=<script>alert(1)</script>", "/page/<img src=x>"]
)
def test_refusals_repeat_nothing_as_markup(hostile: Served, path: str) -> None:
    reply = hostile.get(quote(path, safe="/?="))
    assert reply.status in (400, 404)
    assert "<script>alert" not in reply.text
    assert "<img" not in reply.text


def test_a_pasted_page_is_text_too(page: Page, hostile: Served) -> None:
    page.goto(hostile.url("/paste"))
    page.locator("textarea").fill(f"{EVIL.encode('utf-8', 'replace').decode()}\n\n{BODY}".replace("\x00", ""))
    page.get_by_role("button", name="Find pages").click()
    page.wait_for_url("**/paste/*")
    expect(page.locator(FOREIGN)).to_have_count(0)
    assert BODY[:60] in page.locator("main").inner_text()


def test_names_of_watches_and_of_boilerplate(page: Page, tmp_path: Path, serve: Serve) -> None:
    """Names written by visitors are untrusted text as well."""
    from opensearch_winnow.index import Index  # noqa: PLC0415

    store = Path(made(tmp_path / "named.winnow", PAGES[:2]))
    with Index.open(store) as index:
        index.add_boilerplate(TITLES[0], BODY[:500])
        index.add_watch(TITLES[1], text=BODY, seen=False)
    served = serve(store, "--write")
    for path in ("/watches", f"/compare/{IDS[0]}/{IDS[1]}", f"/page/{IDS[0]}"):
        page.goto(served.url(path))
        expect(page.locator(FOREIGN)).to_have_count(0)
