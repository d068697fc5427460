"""The report of a set of documents in a browser: jumps, threshold, order, print, and what is left without a script."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from opensearch_winnow.web.class_report.report import write_report
from tests.web.browser_fixture import NewPage, Witness, accessibility_faults, scrolls_sideways
from tests.web.class_fixture import class_of_five

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
PHONE = {"width": 320, "height": 640}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    pairs = class_of_five()
    write_report(pairs, folder / "class.html", title="Task 4")
    write_report(pairs, folder / "class", title="Task 4")
    return folder


@pytest.fixture
def uri(folder: Path, witness: Witness) -> str:
    witness.allowed.append(f"request to elsewhere: {folder.as_uri()}/")
    return f"{folder.as_uri()}/class.html"


def expect_both_sides(page: Page, rank: int, number: int) -> None:
    """Check that both sides of a passage are outlined, in view, and beside each other."""
    view = page.locator(f"#pair-{rank}")
    expect(view.locator("[role=status]")).to_have_text(f"Passage {number} of {view.locator('.chip').count()}")
    boxes = []
    for side in "ab":
        anchor = page.locator(f"#x{rank}{side}{number}")
        expect(anchor).to_be_in_viewport()
        box = anchor.bounding_box()
        assert box
        boxes.append(box["y"])
    assert boxes[0] == pytest.approx(boxes[1], abs=2)
    assert view.locator(".pane").nth(0).locator("mark.on").count()
    assert view.locator(".pane").nth(1).locator("mark.on").count()


@pytest.mark.parametrize("address", ["class.html#pair-1", "class/pair-0001.html"])
def test_a_pair_opens_at_its_first_passage_and_jumps(page: Page, uri: str, address: str) -> None:
    page.goto(uri.replace("class.html", address))
    expect_both_sides(page, 1, 1)
    page.locator("#x1b1").click()
    expect_both_sides(page, 1, 1)
    page.locator("#pair-1 .chip").last.click()
    last = page.locator("#pair-1 .chip").count()
    expect_both_sides(page, 1, last)
    page.keyboard.press("n")
    expect_both_sides(page, 1, 1)
    page.keyboard.press("p")
    expect_both_sides(page, 1, last)


def test_a_link_to_a_passage_opens_its_pair(page: Page, uri: str) -> None:
    page.goto(f"{uri}#x2b1")
    expect_both_sides(page, 2, 1)
    expect(page.locator(".overview")).to_be_hidden()
    expect(page.locator("#pair-1")).to_be_hidden()
    page.get_by_role("link", name="All pairs").click()
    expect(page.locator(".overview")).to_be_visible()
    page.get_by_role("link", name="Compare pair 1").click()
    expect_both_sides(page, 1, 1)
    page.get_by_role("link", name="Next pair").click()
    expect_both_sides(page, 2, 1)


def test_the_threshold_moves_everything(page: Page, uri: str) -> None:
    page.goto(uri)
    rows = page.locator(".pair-list tbody tr:visible")
    expect(page.locator("[data-status]")).to_have_text("2 pairs; 4 documents in 2 groups")
    values = sorted(float(each.get_attribute("data-value") or "") for each in rows.all())
    assert values[0] < 0.99
    bars = page.locator(".chart .found").count()
    page.locator("[data-slider]").fill(str(int(100 * values[0]) + 1))
    expect(page.locator("[data-status]")).to_have_text("1 pair; 2 documents in 1 group")
    expect(rows).to_have_count(1)
    assert page.locator(".chart .found").count() < bars
    expect(page.locator(".group:visible")).to_have_count(1)
    page.get_by_role("button", name="Show all").click()
    expect(rows).to_have_count(2)


def test_names_are_filtered_and_columns_sorted(page: Page, uri: str) -> None:
    page.goto(uri)
    rows = page.locator(".pair-list tbody tr:visible")
    page.get_by_label("Name").fill("MILLER")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("miller_ada")
    page.get_by_label("Name").fill("")
    first = rows.first.get_attribute("id")
    heading = page.get_by_role("button", name="Similarity")
    heading.click()
    assert rows.first.get_attribute("id") == first
    heading.click()
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Similarity")
    assert rows.first.get_attribute("id") != first


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", ["class.html", "class.html#pair-1", "class/index.html", "class/pair-0002.html"])
def test_it_is_accessible(new_page: NewPage, uri: str, address: str, scheme: str) -> None:
    page = new_page(color_scheme=scheme, bypass_csp=True)  # axe is a script of its own
    page.goto(uri.replace("class.html", address))
    for closed in page.locator("details:visible").all():
        closed.evaluate("each => each.open = true")
    assert accessibility_faults(page) == []


@pytest.mark.parametrize("address", ["class.html", "class.html#pair-1", "class/pair-0002.html"])
def test_nothing_scrolls_sideways_and_links_of_pairs_are_in_view(page: Page, uri: str, address: str) -> None:
    page.goto(uri.replace("class.html", address))
    for width in (320, 768, 1024):
        page.set_viewport_size({"width": width, "height": 800})
        assert not scrolls_sideways(page)
        if address == "class.html":
            box = page.locator(".pair-list a").first.bounding_box()
            assert box
            assert box["x"] + box["width"] <= width


def test_without_a_script_pairs_open_and_jump(new_page: NewPage, uri: str) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(uri)
    expect(page.locator("[data-slider]")).to_be_hidden()
    expect(page.locator(".pair-list tbody tr")).to_have_count(2)
    page.get_by_role("link", name="Compare pair 2").click()
    expect(page.locator("#pair-2 h1")).to_be_visible()
    expect(page.locator(".overview")).to_be_hidden()
    page.locator("#x2a1").click()
    expect(page.locator("#x2b1")).to_be_in_viewport()
    expect(page.locator("#pair-2")).to_be_visible()


def test_on_a_phone_a_number_leads_to_the_other_text(new_page: NewPage, uri: str) -> None:
    page = new_page(viewport=PHONE)
    page.goto(f"{uri}#pair-1")
    expect(page.locator("#pair-1 h1")).to_be_in_viewport()
    page.locator("#x1a1").click()
    expect(page.locator("#x1b1")).to_be_in_viewport()
    page.locator("#x1b1").click()
    expect(page.locator("#x1a1")).to_be_in_viewport()


def test_a_pair_is_printed_in_full_and_copied_without_line_numbers(page: Page, uri: str) -> None:
    page.goto(f"{uri}#pair-1")
    page.locator("#pair-1 .code").first.evaluate("each => getSelection().selectAllChildren(each)")
    copied = page.evaluate("getSelection().toString()")
    assert "for (int i = 0; i < values.length; i++) {" in copied or "while (at < text.length()" in copied
    assert not any(line.strip().isdigit() for line in copied.splitlines())
    page.emulate_media(media="print")
    for pane in page.locator("#pair-1 .pane").all():
        assert pane.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    expect(page.locator("#pair-1 .turn")).to_be_hidden()
    expect(page.locator(".overview")).to_be_hidden()
