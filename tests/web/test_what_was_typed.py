"""Typed text and ticks stay, and long names neither hide a text nor end without a sign."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from opensearch_winnow import Index
from opensearch_winnow.ingest.page import Page as StoredPage
from opensearch_winnow.mappings.record import capture_id
from tests.web.conftest import Serve
from tests.web.known_crawl_fixture import IDS, MILL, MILL_TEXT, at, paragraphs
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
RESTORED = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"  # by the browser's memory of pages
IN_STEP = "Compare two ticked pages"


@pytest.mark.parametrize("path", ["/", "/search?words=mill"])
def test_what_is_typed_before_the_script_arrives_stays(page: Page, served_file: Served, path: str) -> None:
    waiting: list[Route] = []
    page.route("**/winnow.js*", lambda route: waiting.append(route))  # noqa: PLW0108 (Playwright needs a function)
    page.goto(served_file.url(path), wait_until="commit")
    page.locator("#words").fill("electric cars")
    expect(page.locator("[data-keys]")).to_be_hidden()
    waiting[0].continue_()
    expect(page.locator("[data-keys]")).to_be_visible()  # the script has run
    page.wait_for_load_state()
    expect(page.locator("#words")).to_have_value("electric cars")


def test_only_a_form_that_was_sent_shows_its_address_again(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/search?words=mill"))
    page.locator("#words").fill("not sent")
    page.locator(".hit h2 a").first.click()
    page.wait_for_url("**/page/*")
    page.go_back()
    assert page.locator("#words").input_value() in ("not sent", "mill")  # a browser may forget it, but not this page
    page.evaluate(RESTORED)
    page.locator("#words").fill("not sent")
    page.evaluate(RESTORED)
    expect(page.locator("#words")).to_have_value("not sent")
    page.locator("#words").fill("harbour")
    page.locator("#words").press("Enter")
    page.wait_for_url("**words=harbour")
    page.go_back()
    expect(page.locator("#words")).to_have_value("mill")


def test_ticks_and_their_bar_are_in_step_after_back(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/search?words=mill"))
    boxes, button = page.locator(".hit > .name .tick"), page.get_by_role("button", name=IN_STEP)
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.evaluate(RESTORED)
    assert boxes.evaluate_all("all => all.filter(each => each.checked).length") == 2
    expect(button).to_be_enabled()
    page.keyboard.press("c")  # the focus is in a check box, where nobody types
    page.wait_for_url("**/compare/*/*")
    page.go_back()
    expect(page.locator("h1")).to_contain_text("11 pages")
    ticked = boxes.evaluate_all("all => all.filter(each => each.checked).length")
    expect(button).to_be_enabled() if ticked == 2 else expect(button).to_be_disabled()
    assert page.locator("[data-pick] [role=status]").inner_text() != "Tick two pages to compare them." or not ticked


def test_chosen_captures_stay_chosen(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/page/{IDS[MILL]}/history"))
    first = page.get_by_role("radio").nth(0)
    first.check()
    page.evaluate("document.querySelector('form[action=\"/compare\"]').dispatchEvent(new Event('submit'))")
    page.evaluate(RESTORED)
    expect(first).to_be_checked()


TITLE, ADDRESS = "A title that goes on and on " * 40, f"https://long.example/{'segment-' * 120}"
WIDTHS = (1440, 1100, 1024, 768)
# Names of which a part is hidden without an ellipsis.
CUT = """(all) => all.filter((each) => {
  const hides = getComputedStyle(each).overflow === "hidden" && each.scrollHeight > each.clientHeight + 1;
  return hides && !(getComputedStyle(each).webkitLineClamp > 0);
}).map((each) => each.outerHTML)"""
LINES = """(cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell.firstChild);
  return new Set([...range.getClientRects()].map((box) => box.top)).size;
}"""


def test_long_names_end_in_an_ellipsis_hide_nothing_and_tear_no_word(page: Page, tmp_path: Path, serve: Serve) -> None:
    with Index.open(tmp_path / "long.winnow") as index:
        for number, parts in enumerate((MILL_TEXT, [*MILL_TEXT[:7], *paragraphs("other", 1)]), 1):
            long = StoredPage(f"{ADDRESS}{number}", text="\n\n".join(parts), title=TITLE, fetched_at=at(number))
            index.add([long], crawl=f"crawl {number}")
    served = serve(tmp_path / "long.winnow")
    one, other = (capture_id(f"{ADDRESS}{number}", at(number)) for number in (1, 2))
    for path in ("/search?words=mill", f"/page/{one}", f"/page/{one}/locate", f"/compare/{one}/{other}#p1"):
        page.goto(served.url(path))
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.locator("main bdi").count() > 1
            assert not page.locator("main bdi").evaluate_all(CUT)
    for pane in page.locator(".pane").all():
        head, whole = pane.evaluate("each => [each.querySelector('.head').offsetHeight, each.clientHeight]")
        assert head < whole / 2
    title = page.locator(".pane .head bdi").first
    height = title.evaluate("each => each.offsetHeight")
    title.hover()
    assert title.evaluate("each => each.offsetHeight") > height  # all of it

    page.goto(served.url("/changes"))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for cell in page.locator(".changes .change").all():
            assert cell.evaluate(LINES) == 1
            assert cell.evaluate("each => getComputedStyle(each).borderLeftWidth") == "0px"
        for row in page.locator(".changes tbody tr").all():
            assert row.evaluate("each => each.offsetHeight") < 300  # long names take some lines, not the screen
