"""Real pages in a browser: their addresses fit, on a phone as on a desk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.web.browser_fixture import scrolls_sideways
from tests.web.served_fixture import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.xdist_group(__name__)


# --- search -----------------------------------------------------------------------------------------------------------
LINKS_OF_GROUPS = """
    () => {
        const widthOf = document.createElement("canvas").getContext("2d");
        return [...document.querySelectorAll(".hit:has(.group)")].flatMap(hit =>
            [...hit.querySelectorAll("a, button, summary")].map(link => {
                const outer = hit.getBoundingClientRect(), inner = link.getBoundingClientRect();
                const style = getComputedStyle(link);
                widthOf.font = style.font;
                return {
                    text: link.textContent,
                    lines: Math.round(inner.height / parseFloat(style.lineHeight)),
                    needed: Math.ceil(widthOf.measureText(link.textContent).width / (outer.width - INDENT)),
                    inside: inner.left >= outer.left && inner.right <= outer.right + 1,
                };
            })
        );
    }
""".replace("INDENT", "48")  # pixels that a row of a group has less than its hit


def test_links_of_an_opened_group_are_not_broken_into_pieces(page: Page, javadoc: Served) -> None:
    page.goto(javadoc.url("/search?q=TopTerms*+rewrite&t=40"))
    page.evaluate("for (const each of document.querySelectorAll('.group')) each.open = true")
    for width in (1440, 1100, 900, 768, 390, 360):
        page.set_viewport_size({"width": width, "height": 900})
        links = page.evaluate(LINKS_OF_GROUPS)
        assert len([link for link in links if link["text"] == "compare"]) > 10
        assert max(len(link["text"]) for link in links) > 100
        # An address that is longer than two lines of a phone has as many as it fills.
        assert [link for link in links if link["lines"] > max(2, link["needed"])] == [], width
        assert [link for link in links if not link["inside"]] == [], width
        assert not scrolls_sideways(page), width


# --- statistics -------------------------------------------------------------------------------------------------------
def test_powers_are_written_as_powers(page: Page, javadoc: Served) -> None:
    found: dict[str, Any] = javadoc.json("/api/v1/statistics")["power_law"]
    page.goto(javadoc.url("/statistics"))
    caption = page.locator("figcaption", has_text="How often fingerprints repeat")
    powers = [f"−{abs(found[name]):.2f}" for name in ("exponent", "rank_slope")]
    assert caption.locator("sup").all_inner_texts() == powers
    assert "<" not in caption.inner_text()
