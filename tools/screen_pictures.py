"""Takes the README's pictures of the search UI on the store of the demo: the first screen, a group, a comparison;
and that of docs/class-report.md.

    python -m tools.screen_pictures

The demo uses pages of this machine, so pictures taken on another machine may show other texts.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.web.chromium import FLAGS, chromium
from tests.web.served_fixture import WINNOW, Asking, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
SIZE: ViewportSize = {"width": 1400, "height": 900}
PASSAGE = 1  # the selected passage, highlighted on both sides


def demo(folder: Path, *options: str) -> dict[str, Any]:
    """Run `winnow demo` in `folder` and return its JSON summary."""
    command = [str(WINNOW), "demo", "--to", str(folder), "--json", "--quiet", *options]
    summary: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return summary


def take_pictures(page: Page, served: Asking, summary: dict[str, Any], to: Path) -> None:
    """Save pictures of the three screens as `home.png`, `group.png` and `compare.png`."""
    page.set_viewport_size(SIZE)
    page.goto(served.url("/"))
    page.get_by_role("heading", name="Largest clusters").wait_for()
    page.screenshot(path=to / "home.png")
    query = served.json("/api/v1/overview")["overview"]["queries"][0]["query"]
    page.goto(served.url(f"/search?{urlencode({'words': query})}"))
    page.locator(".group summary").first.click()
    page.locator(".differs").first.wait_for()
    page.screenshot(path=to / "group.png")
    page.goto(f"{served.url(compare_address(served, summary))}#p{PASSAGE}")
    page.locator(f".chip.p{PASSAGE}.on").wait_for()
    page.evaluate("scrollTo(0, 0)")  # show the head of the page
    page.screenshot(path=to / "compare.png")


def take_report_picture(page: Page, folder: Path, to: Path) -> None:
    """Save a picture of the report of the class in docs/homework, at its first pair, as `class-report.png`."""
    docs = PICTURES.parent
    report = folder / "class.html"
    command = ["pairs", docs / "homework", "--base", docs / "homework-template", "--report", report, "--quiet"]
    subprocess.run([str(WINNOW), *map(str, command)], check=True, capture_output=True)
    page.set_viewport_size(SIZE)
    page.goto(f"{report.resolve().as_uri()}#pair-1")
    page.locator("#pair-1 .chip.on").wait_for()
    page.screenshot(path=to / "class-report.png")


def compare_address(served: Asking, summary: dict[str, Any]) -> str:
    """Return the path of the demo's comparison."""
    _, _, a, b, *_ = shlex.split(summary["next"][-1])
    return served.get(f"/compare?{urlencode({'a': a, 'b': b})}").headers["location"]


def main() -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with TemporaryDirectory() as folder, chdir(folder), sync_playwright() as playwright:
        summary = demo(Path())
        with serving(summary["store"]) as served:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            take_pictures(browser.new_page(reduced_motion="reduce"), served, summary, PICTURES)
            take_report_picture(browser.new_page(reduced_motion="reduce"), Path(), PICTURES)
            browser.close()


if __name__ == "__main__":
    main()
