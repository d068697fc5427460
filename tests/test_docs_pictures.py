"""The pictures of docs/how-it-works.md are what the library computes. `make docs` draws them anew."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.docs_pictures import DRAWN, PICTURES

DOCS = PICTURES.parent


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_what_would_be_drawn_now(name: str) -> None:
    kept = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    assert kept == DRAWN[name]().svg(), "draw it anew: make docs"


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_says_what_it_shows_and_takes_nothing_from_outside(path: Path) -> None:
    tree = ElementTree.parse(path).getroot()
    said = {element.tag.rpartition("}")[2]: element.text for element in tree if element.text}
    assert said["title"]
    assert said["desc"]
    text = path.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"<script|href=|url\(|@import", text)


def test_every_picture_is_shown_somewhere_with_words_for_it() -> None:
    pages = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
    shown = {
        Path(target).name: words
        for page in pages
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert {path.name for path in PICTURES.iterdir()} == shown.keys()
    assert all(shown.values())
