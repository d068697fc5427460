"""The clusters screens in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.browser_fixture import NewPage
from tests.web.conftest import Serve
from tests.web.known_crawl_fixture import EARLIER, IDS, NEAR
from tests.web.served_fixture import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]


def test_from_the_list_to_a_comparison(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/clusters"))
    page.get_by_role("link", name="Cluster of 7 pages").click()
    expect(page.locator("h1")).to_have_text("7 pages on 4 sites · lowest pair 60 %")
    page.locator(f'.heatmap a[href="/compare/{EARLIER[0]}/{IDS[NEAR]}"]').click()
    expect(page).to_have_url(served_file.url(f"/compare/{EARLIER[0]}/{IDS[NEAR]}"))


def test_the_slider_counts_pairs_and_changes_the_address(page: Page, served_file: Served) -> None:
    page.goto(served_file.url(f"/cluster/{EARLIER[0]}"))
    slider = page.get_by_role("slider")
    expect(page.locator("label.slider")).to_contain_text("Of 21 pairs, 0 are below")
    slider.fill("80")
    expect(page).to_have_url(served_file.url(f"/cluster/{EARLIER[0]}?t=80"))
    below = served_file.json(f"/cluster/{EARLIER[0]}.json?t=80")["below"]
    assert below
    expect(page.locator("label.slider")).to_contain_text(f"Of 21 pairs, {below} are below")
    page.go_back()
    expect(page.locator("label.slider")).to_contain_text("0 are below")


def test_a_store_is_clustered_without_scripts(own_file: Path, serve: Serve, new_page: NewPage) -> None:
    served = serve(own_file, "--write")
    page = new_page(java_script_enabled=False)
    page.goto(served.url("/clusters"))
    page.get_by_text("Cluster again").click()
    page.get_by_label("Minimum resemblance").fill("95")
    page.get_by_role("button", name="Find clusters again").click()
    expect(page.get_by_text("resembles its representative by 95 % or more")).to_be_visible(timeout=60_000)
    expect(page.locator("progress")).to_have_count(0)
