"""The layout of every screen on real pages with long titles and addresses: nothing is torn, cut off or covered."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.web.browser_fixture import scrolls_sideways
from tests.web.real_crawl_fixture import RELEASES, javadoc_comparison
from tests.web.served_fixture import Served
from tests.web.test_home import counted

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
WIDTHS = (1440, 1100, 768, 767, 600, 390, 360)
LONG_TITLE = f"{RELEASES['9.12.0'].url}/org/apache/lucene/search/TopTermsRewrite.html"
MANY_VERSIONS = f"{RELEASES['9.12.0'].url}/org/apache/lucene/index/IndexWriter.html"


ADDRESSES = {
    "home": "/",
    "search": "/search?words=TopTerms*+rewrite&min_resemblance=0.4",
    "search-ungrouped": "/search?words=IndexWriter&group=off&limit=30",
    "search-nothing": f"/search?words={quote(LONG_TITLE + '/nothing', safe='')}",
    "page": "{page}",
    "history": "{page}/history",
    "versions": "{page}/versions",
    "locate": "{page}/locate",
    "compare": javadoc_comparison("index/package-use"),
    "differences": f"{javadoc_comparison('index/IndexWriter')}?view=differences",
    "cluster": "/cluster/{cluster}",
    **{name: f"/{name}" for name in ("clusters", "statistics", "watches", "paste")},
}

# Looks at what can be clicked. Numbers inside of texts, and links of charts, are as large as they have to be.
FAULTS = """
    () => {
        const LEFT_OUT = "svg, .text, .unseen, .skip, [hidden], .scroll, .facets, .chips, .steps"; // some float
        const widthOf = document.createElement("canvas").getContext("2d");
        const shown = [...document.querySelectorAll("a, button, summary, select, output")]
            .filter(each => !each.closest(LEFT_OUT) && each.checkVisibility());
        const boxOf = each => each.getBoundingClientRect();
        const name = each => `${each.tagName.toLowerCase()} ${each.textContent.trim().slice(0, 60)}`;
        const faults = [];
        for (const each of shown) {
            const box = boxOf(each), style = getComputedStyle(each);
            const line = parseFloat(style.lineHeight) || 1.5 * parseFloat(style.fontSize);
            const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
            widthOf.font = style.font;
            const room = each.closest("td, li, p, section, div, h2, nav, header, footer, form, main").clientWidth;
            const needed = Math.ceil(1.25 * widthOf.measureText(each.textContent.trim()).width / room);
            const lines = Math.round((box.height - padding) / line);
            if (lines > Math.max(2, needed) && !each.querySelector("p, ul, table"))
                faults.push(`torn into ${lines} lines (${needed} needed): ${name(each)}`);
            if (box.left < -1 || box.right > innerWidth + 1) faults.push(`outside of the window: ${name(each)}`);
        }
        for (const [at, one] of shown.entries()) {
            for (const other of shown.slice(at + 1, at + 12)) {
                if (one.contains(other) || other.contains(one)) continue;
                const [a, b] = [boxOf(one), boxOf(other)];
                const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (across > 2 && down > 4 && one.getClientRects().length === 1 && other.getClientRects().length === 1)
                    faults.push(`one covers the other: ${name(one)} | ${name(other)}`);
            }
        }
        return faults;
    }
"""


@pytest.mark.parametrize("name", ADDRESSES)
def test_nothing_is_torn_or_covered(page: Page, javadoc: Served, name: str) -> None:
    if name == "home":
        counted(javadoc)  # it loads again when its pages have been counted
    (cluster,) = javadoc.json("/api/v1/clusters?limit=1")["clusters"]
    path = javadoc.get(f"/page?url={quote(MANY_VERSIONS, safe='')}").headers["location"]
    page.goto(javadoc.url(ADDRESSES[name].format(page=path, cluster=cluster["id"])))
    expect_whole(page)


def expect_whole(page: Page) -> None:
    """Check the page at each width, as it is and with everything unfolded."""
    faults = {}
    for unfolded in (False, True):
        if unfolded:
            page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            found = page.evaluate(FAULTS)
            if scrolls_sideways(page):
                found.append("it scrolls sideways")
            if found:
                faults[width, unfolded] = found
    assert faults == {}


def test_the_results_of_a_long_text_are_whole(page: Page, javadoc: Served) -> None:
    """Paste a page with dozens of passages, which are shown in several parts."""
    text = javadoc.json(f"/api/v1/pages?url={quote(MANY_VERSIONS, safe='')}")["text"]
    page.goto(javadoc.url("/paste"))
    page.locator("textarea").fill(text)
    page.get_by_role("button", name="Find pages").click()
    page.wait_for_url("**/paste/pasted-*")
    expect_whole(page)
