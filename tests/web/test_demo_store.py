"""Each screen on the real pages of the demo. Their screenshots are kept; three such are in the README."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from playwright.sync_api import expect

from tests.web.browser_fixture import accessibility_faults
from tests.web.served_fixture import Served, serving
from tools.screen_pictures import PICTURES, SIZE, compare_address, demo, take_pictures

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]


class Demo(NamedTuple):
    served: Served
    said: dict[str, Any]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    said = demo(tmp_path_factory.mktemp("demo"), "--pages", "60")
    with serving(said["store"]) as served:
        yield Demo(served, said)


def size_of(picture: Path) -> tuple[int, int]:
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", head[16:])
    return width, height


def test_every_screen_shows_it(page: Page, shown: Demo, screenshots: Path) -> None:
    served, said = shown
    hit = served.json("/api/v1/search?words=licence+OR+license")["hits"][0]
    cluster = served.json("/api/v1/clusters")["clusters"][0]
    addresses = {
        "start": "/",
        "search": "/search?words=licence+OR+license",
        "page": f"/page/{hit['id']}",
        "history": f"/page/{hit['id']}/history",
        "compare": compare_address(served, said),
        "paste": "/paste",
        "clusters": "/clusters",
        "cluster": f"/cluster/{cluster['id']}",
        "statistics": "/statistics",
        "watches": "/watches",
        "api": "/api",
    }
    for name, address in addresses.items():
        page.goto(served.url(address))
        expect(page.locator("h1")).to_have_count(1)
        assert accessibility_faults(page) == [], name
        page.screenshot(path=screenshots / f"demo-{name}.png")


def test_the_pictures_of_the_readme(page: Page, shown: Demo, tmp_path: Path) -> None:
    take_pictures(page, *shown, tmp_path)
    passages = len(shown.said["comparison"]["passages"])
    expect(page.locator("h1")).to_contain_text(f"{passages} shared passage")
    for name in ("home.png", "group.png", "compare.png"):
        assert size_of(tmp_path / name) == size_of(PICTURES / name) == (SIZE["width"], SIZE["height"])
