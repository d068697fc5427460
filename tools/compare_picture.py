"""The picture of the README: the compare screen, on the two texts that the demo shows side by side.

    python -m tools.compare_picture

The demo is made of what is on a machine, so the picture of another one may show other texts.
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
PASSAGE = 3  # that is chosen, so that one sees that both sides belong together


def demo(folder: Path, *options: str) -> dict[str, Any]:
    """What `winnow demo` says of itself."""
    command = [str(WINNOW), "demo", "--to", str(folder), "--json", "--quiet", *options]
    said: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return said


def compare_address(served: Asking, said: dict[str, Any]) -> str:
    """Where the comparison of the demo is, in the UI."""
    sides = [served.get(f"/page?{urlencode({'url': said['comparison'][side]['url']})}") for side in ("a", "b")]
    a, b = (side.headers["location"].rpartition("/")[2] for side in sides)
    return f"/compare/{a}/{b}"


def take_picture(page: Page, address: str, to: Path) -> None:
    page.set_viewport_size(SIZE)
    page.goto(f"{address}#p{PASSAGE}")
    page.locator(f".chip.p{PASSAGE}.on").wait_for()
    page.evaluate("scrollTo(0, 0)")  # with the head of the page in it
    page.screenshot(path=to)


def main() -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    # The name of the store is on the picture: there, it has no path.
    with TemporaryDirectory() as folder, chdir(folder), sync_playwright() as playwright:
        said = demo(Path())
        with serving(said["store"]) as served:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            page = browser.new_page(reduced_motion="reduce")
            take_picture(page, served.url(compare_address(served, said)), PICTURE)
            browser.close()


if __name__ == "__main__":
    main()
