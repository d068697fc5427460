"""The README's pictures show the screens on the real pages of the demo."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page, expect

from tests.web.served_fixture import Served, serving
from tools.screen_pictures import PICTURES, SIZE, demo, take_pictures

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


def test_the_pictures_of_the_readme(page: Page, shown: Demo, tmp_path: Path) -> None:
    take_pictures(page, *shown, tmp_path)
    expect(page.locator("h1")).to_contain_text("shared passage")  # one or more: the pages are those of this machine
    for name in ("home.png", "group.png", "compare.png"):
        assert size_of(tmp_path / name) == size_of(PICTURES / name) == (SIZE["width"], SIZE["height"])
