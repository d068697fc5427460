"""Which preset a new store gets, by the files that are indexed first."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.foundation.scheme import PRESETS
from opensearch_winnow.operations.sets.preset_by_names import scheme_for_sources
from tests.ingest.sources.test_zip_file import packed

PAGE, CODE = b"<!doctype html><title>T</title><p>Hello", b"<?php echo 1;"


@pytest.mark.parametrize(
    ("files", "preset"),
    [
        ({"alice/a.py": b"1", "bob/b.py": b"1", "bob/README.md": b"x", "data.csv": b"1,2"}, "programs"),
        ({"a.py": b"1", "b.txt": b"x", "c.txt": b"x"}, "pages"),
        ({"alice.zip": packed({"a.java": b"1"}), "bob.zip": packed({"b.java": b"1"})}, "programs"),
        ({"alice.zip": packed({"a.txt": b"1"})}, "pages"),
        ({"2025.zip": packed({f"{n}.zip": packed({"a.py": b"1"}) for n in range(6)})}, "programs"),
        ({"2025.zip": packed({"c.zip": packed({f"{n}.zip": packed({"a.py": b"1"}) for n in range(6)})})}, "programs"),
        ({"2025.zip": packed({"a.zip": packed({"a.txt": b"1"}), "b.zip": b"PK\3\4 no", "b.py": b"1"})}, "programs"),
        ({"2025.zip": packed({"a.zip": packed({"a.txt": b"1", "b.md": b"1"}), "b.py": b"1"})}, "pages"),
        ({"index.html": PAGE, **{f"{n}.js": b"1" for n in range(5)}}, "pages"),  # a site with its scripts
        ({"index.html": PAGE, **{f"{n}.js": b"1" for n in range(20)}}, "programs"),  # a course with a page
        ({"index.php": PAGE, "view.php": PAGE}, "pages"),  # as wget saves them
        ({"index.php": CODE, "view.php": CODE}, "programs"),
        ({"crawl.warc": b"WARC/1.0\r\n", "tool.py": b"1"}, "pages"),
        ({"rows.jsonl": b'{"text": "x"}\n', "tool.py": b"1"}, "pages"),
        ({"a.txt": b"x", "photo.png": b"\x89PNG\r\n"}, "pages"),
        ({}, "pages"),
    ],
)
def test_the_files_decide(tmp_path: Path, files: dict[str, bytes], preset: str) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert scheme_for_sources([str(tmp_path)]) == PRESETS[preset]
    named = [str(path) for path in tmp_path.iterdir()]
    if "data.csv" not in files:  # named itself, it is refused
        assert scheme_for_sources(named) == PRESETS[preset]


def test_what_can_be_read_only_once_or_not_at_all_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    assert scheme_for_sources(["-", str(tmp_path)]) == PRESETS["pages"]
    assert scheme_for_sources([str(tmp_path / "missing"), str(tmp_path)]) == PRESETS["pages"]
