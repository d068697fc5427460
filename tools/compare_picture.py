"""Takes the picture of the README: the compare screen with the two texts that the demo shows side by side.

    python -m tools.compare_picture

The demo uses pages of this machine, so a picture taken on another machine may show other texts.
"""

from __future__ import annotations

import json
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

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "compare.png"
SIZE: ViewportSize = {"width": 1400, "height": 900}
PASSAGE = 3  # the selected passage, highlighted on both sides


def demo(folder: Path, *options: str) -> dict[str, Any]:
    """Run `winnow demo` in `folder` and return its JSON summary."""
    command = [str(WINNOW), "demo", "--to", str(folder), "--json", "--quiet", *options]
    summary: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return summary


def compare_address(served: Asking, summary: dict[str, Any]) -> str:
    """Return the path of the demo's comparison in the browser interface."""
    sides = [served.get(f"/page?{urlencode({'url': summary['comparison'][side]['url']})}") for side in ("a", "b")]
    a, b = (side.headers["location"].rpartition("/")[2] for side in sides)
    return f"/compare/{a}/{b}"


def take_picture(page: Page, address: str, to: Path) -> None:
    page.set_viewport_size(SIZE)
    page.goto(f"{address}#p{PASSAGE}")
    page.locator(f".chip.p{PASSAGE}.on").wait_for()
    page.evaluate("scrollTo(0, 0)")  # show the head of the page
    page.screenshot(path=to)


def main() -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    # The picture shows the name of the store; inside its folder, the name has no path.
    with TemporaryDirectory() as folder, chdir(folder), sync_playwright() as playwright:
        summary = demo(Path())
        with serving(summary["store"]) as served:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            page = browser.new_page(reduced_motion="reduce")
            take_picture(page, served.url(compare_address(served, summary)), PICTURE)
            browser.close()


if __name__ == "__main__":
    main()
