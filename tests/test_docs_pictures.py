"""The pictures of docs/how-it-works.md show what the library computes. `make docs` draws them again."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.refused import refused
from tools import rooms_picture
from tools.docs_pictures import DRAWINGS, PICTURES

DOCS = PICTURES.parent


@pytest.mark.parametrize("name", DRAWINGS)
def test_picture_is_up_to_date(name: str) -> None:
    kept = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    assert kept == DRAWINGS[name]().svg(), "run make docs to draw it again"


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_picture_has_a_description_and_loads_nothing(path: Path) -> None:
    tree = ElementTree.parse(path).getroot()
    described = {element.tag.rpartition("}")[2]: element.text for element in tree if element.text}
    assert described["title"]
    assert described["desc"]
    text = path.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"<script|href=|url\(|@import", text)


def test_every_picture_is_shown_with_alternative_text() -> None:
    pages = [*DOCS.glob("*.md"), *DOCS.parent.glob("*.md")]
    shown = {
        Path(target).name: words
        for page in pages
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert {path.name for path in PICTURES.iterdir()} == shown.keys()
    assert all(shown.values())


@pytest.mark.parametrize(
    ("start", "end", "complaint"),
    [
        ("cli.asking.similar:command", "ingest.nowhere:read", "cli.asking.similar does not reach ingest.nowhere"),
        ("queries.compare:scores", "stores.store:Store", "queries.compare does not reach stores.store"),
        ("cli.asking.similar:command", "stores.store:Shop", "stores.store has no Shop"),
    ],
)
def test_a_flow_that_is_not_in_the_code_is_not_drawn(start: str, end: str, complaint: str) -> None:
    refused(SystemExit, complaint, rooms_picture.steps, ((start, ""), (end, "")))
