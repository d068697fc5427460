from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import SourceError, Sources, read

HTML = b"<html><p>Hello"
LINE = b'{"url": "https://example.org/line", "text": "words"}\n'


def urls(*names: Path, follow_links: bool = False) -> list[str]:
    with Sources([str(name) for name in names], follow_links=follow_links) as sources:
        items = [item for split in sources.splits(10_000) for _, item in read(split, 10_000)]
    return [item.url for item in items if isinstance(item, Page)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with nothing but links, to a page and to a file of pages."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, content in (("passwd.html", HTML), ("lines.jsonl", LINE)):
        (tmp_path / name).write_bytes(content)
        (folder / name).symlink_to(tmp_path / name)
    return folder


def test_links_in_a_folder_are_not_followed(folder: Path) -> None:
    with pytest.raises(SourceError) as caught:
        urls(folder)
    said = str(caught.value)
    assert said.startswith(f"there is no page in {folder} (2 × symbolic link): pages are read from")
    assert said.endswith("; --follow-symlinks follows the links")
    with pytest.raises(SourceError, match=r" \(1 × symbolic link\): "):
        urls(folder / "*.html")


def test_links_are_followed_when_asked_for_or_named(folder: Path) -> None:
    link = folder / "passwd.html"
    assert urls(link) == [link.as_uri()]
    assert urls(folder, follow_links=True) == ["https://example.org/line", link.as_uri()]
