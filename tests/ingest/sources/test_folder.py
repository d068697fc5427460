from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.sources.folder import LINK, LINK_TO_OTHER_FILE, Folder
from tests.ingest.sources.archives import write_files

names = st.lists(st.sampled_from(["a", "b", "ab.html", "[x]", ".a"]), min_size=1, max_size=3)
patterns = st.lists(st.sampled_from(["*", "**", "a", "?", "a*", "[ab]", "*.html", "b"]), min_size=1, max_size=4)


@given(st.lists(names, max_size=8), patterns)
def test_patterns_match_what_a_regular_expression_matches(
    tmp_path_factory: pytest.TempPathFactory, tree: list[list[str]], pattern: list[str]
) -> None:
    parts = [*pattern[:-1], "*" if pattern[-1] in "ab" else pattern[-1]]  # without a *, it would not be a pattern
    middle = "".join("(?:[^/]+/)*" if part == "**" else f"{_expression(part)}/" for part in parts[:-1])
    last = ".+" if parts[-1] == "**" else _expression(parts[-1])
    with tempfile.TemporaryDirectory(dir=tmp_path_factory.getbasetemp()) as top:
        for path in tree:
            above = Path(top, *path[:-1])
            if not any(parent.is_file() for parent in (above, *above.parents)):
                above.mkdir(parents=True, exist_ok=True)
                if not (above / path[-1]).exists():
                    (above / path[-1]).touch()
        files = [str(path.relative_to(top)) for path in Path(top).rglob("*") if path.is_file()]
        seen = [file for file in files if not re.search(r"(?:^|/)\.", file)]
        expected = [f"{top}/{file}" for file in seen if re.fullmatch(f"{middle}{last}(?:/.*)?", file)]
        folder = Folder.of_pattern("/".join([top, *parts]))
        assert folder
        found = [file.path for file in folder.files() if file.path != folder.path]  # which need not exist
        assert sorted(found) == sorted(expected)
        assert {f"{top}/{file}" for file in files if folder.has(f"{top}/{file}")} == {*expected}


def _expression(part: str) -> str:
    return part.replace(".", r"\.").replace("*", "[^/]*").replace("?", "[^/]")


def test_links_to_folders_that_are_read_anyway_are_not_followed(tmp_path: Path) -> None:
    """Each of eight folders links to all of them: following the links would take 8! steps."""
    folders = [tmp_path / name for name in "abcdefgh"]
    for folder in folders:
        folder.mkdir()
        (folder / "page.html").touch()
        for other in folders:
            (folder / f"to-{other.name}").symlink_to(other)
    for pattern, follow in (((), False), (("**",), False), ((), True)):
        found = list(Folder(str(tmp_path), pattern, follow).files())
        assert len(found) == 8 * 9
        assert [file.path for file in found if not file.skipped] == [str(folder / "page.html") for folder in folders]


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A folder with links to files and folders, within it and outside."""
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    write_files(folder, {"a.html": b"", ".hidden/h.html": b""})
    write_files(outside, {"b.html": b"", "sub/c.html": b""})
    links = {"same.html": "a.html", "hidden.html": ".hidden/h.html", "outside": "../outside", "sub": "../outside/sub"}
    links |= dict.fromkeys(("file.html", "file-again.html"), "../outside/b.html")
    for name, target in {**links, "up": "..", "here": ".", "loop": "loop", "gone": "nowhere"}.items():
        (folder / name).symlink_to(target)
    return folder


def test_links_are_not_followed(linked: Path) -> None:
    found = {file.path.removeprefix(f"{linked}/"): file.skipped for file in Folder(str(linked)).files()}
    assert found.pop("a.html") == ""
    assert found == dict.fromkeys([path.name for path in linked.iterdir() if path.is_symlink()], LINK)


def test_links_that_are_followed_lead_to_each_file_once(linked: Path) -> None:
    found = list(Folder(str(linked), follow_links=True).files())
    read = [file.path.removeprefix(f"{linked}/") for file in found if not file.skipped]
    real = [Path(linked, path).resolve() for path in read if path not in ("loop", "gone")]
    names = ["folder/.hidden/h.html", "folder/a.html", "outside/b.html", "outside/sub/c.html"]
    assert sorted(str(path.relative_to(linked.parent)) for path in real) == names
    assert {"a.html", "loop", "gone"} <= set(read)  # the last two fail when they are read
    assert {file.skipped for file in found} == {"", LINK_TO_OTHER_FILE}


@pytest.mark.check
def test_deeply_nested_folders_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders are nested deeper than Python nests calls. The test removes them, since other tools cannot."""
    monkeypatch.chdir(tmp_path)
    depth = 1_100
    for _ in range(depth):
        Path("d").mkdir()
        os.chdir("d")
    Path("a.html").touch()
    found = [list(Folder(str(tmp_path), pattern).files()) for pattern in ((), ("**", "d", "*.html"))]
    Path("a.html").unlink()
    for _ in range(depth):
        os.chdir("..")
        Path("d").rmdir()
    assert found == [[(f"{tmp_path}/{'d/' * depth}a.html", "")]] * 2


def test_files_come_before_folders_and_both_in_order(tmp_path: Path) -> None:
    write_files(tmp_path, dict.fromkeys(("b/2.html", "b/1.html", "a/c/3.html", "a/4.html", "z.html"), b""))
    found = [file.path.removeprefix(f"{tmp_path}/") for file in Folder(str(tmp_path)).files()]
    assert found == ["z.html", "a/4.html", "a/c/3.html", "b/1.html", "b/2.html"]
