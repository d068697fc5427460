"""The clusters screens in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser_fixture import NewPage
from tests.web.conftest import Serve
from tests.web.known_crawl_fixture import EARLIER, IDS, NEAR
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]


def test_from_the_list_to_a_comparison(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/clusters"))
    page.get_by_role("link", name="The mill").click()
    expect(page.locator("h1")).to_have_text("4 pages on 4 sites, at least 60 % alike")
    page.get_by_text("Show as a matrix").click()
    page.locator(f'.matrix a[href="/compare/{EARLIER[0]}/{IDS[NEAR]}"]').click()
    expect(page).to_have_url(served_file.url(f"/compare/{EARLIER[0]}/{IDS[NEAR]}"))


def test_the_slider_counts_pairs_and_changes_the_address(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/cluster/{EARLIER[0]}"))
    expect(page.get_by_text("0 of 6 pairs are below")).to_be_visible()
    page.get_by_role("slider").fill("0.8")
    expect(page.locator("output")).to_have_text("80 %")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(served_file.url(f"/cluster/{EARLIER[0]}?threshold=0.8"))
    below = served_file.json(f"/cluster/{EARLIER[0]}.json?threshold=0.8")["below"]
    expect(page.get_by_text(f"{below} of 6 pairs are below")).to_be_visible()
    page.locator(f'.graph a[href="/page/{IDS[NEAR]}"] circle').click()
    expect(page).to_have_url(served_file.url(f"/page/{IDS[NEAR]}"))


def test_the_list_is_sorted_and_filtered_from_the_form(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/clusters"))
    page.get_by_label("Sort by").select_option("least alike")
    page.get_by_role("textbox", name="Site").fill("sea.example")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(r"order=lowest.*site=sea\.example"))
    expect(page.locator("h1")).to_have_text("1 cluster with a page on sea.example")


@pytest.mark.parametrize("width", [360, 390, 768, 1100, 1440])
def test_bars_start_at_one_edge(new_page: NewPage, served_file: Served, width: int) -> None:
    page = new_page(viewport={"width": width, "height": 900})
    for address in ("/clusters", f"/cluster/{EARLIER[0]}"):
        page.goto(served_file.url(address))
        if width >= 768:
            edges = page.locator(".listing .bar").evaluate_all("all => all.map(e => e.getBoundingClientRect().left)")
            assert len({round(edge) for edge in edges}) == 1
        elif address == "/clusters":
            label, captures = page.locator(".clusters td:has(small)").first.evaluate(
                "cell => [getComputedStyle(cell, '::after'), getComputedStyle(cell.querySelector('small'))]"
                ".map(style => Number(style.order))"
            )
            assert label < captures  # "4 pages (7 captures)"


def test_a_store_is_clustered_without_scripts(own_file: Path, serve: Serve, new_page: NewPage) -> None:
    served = serve(own_file, "--write")
    page = new_page(java_script_enabled=False)
    page.goto(served.url("/clusters"))
    page.get_by_text("Cluster again").click()
    page.get_by_label("Minimum resemblance").fill("0.95")
    page.get_by_role("button", name="Find clusters again").click()
    expect(page.get_by_text("resembles its representative by 95 % or more")).to_be_visible(timeout=60_000)
    expect(page.locator("progress")).to_have_count(0)
