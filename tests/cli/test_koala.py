"""Stores of the preset koala at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Winnow
from tests.meaningless_text import sentences


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    (tmp_path / "pages").mkdir()
    for number in (1, 2):
        (tmp_path / "pages" / f"{number}.txt").write_text(sentences(60, number))
    return tmp_path / "pages"


def made(winnow: Winnow, pages: Path, *options: str) -> Path:
    store = pages.with_suffix(".winnow")
    assert winnow("index", pages, *options, "--store", store, "--quiet").exit_code == 0
    return store


def test_koala_promises_nothing(winnow: Winnow, pages: Path) -> None:
    store = made(winnow, pages, "--preset", "koala")
    done = winnow("similar", "--text", sentences(60, 3), "--min-containment", "0", "--store", store)
    assert (done.exit_code, "shares a fingerprint with it" in done.stderr, "always" in done.stderr) == (1, True, False)
    done = winnow("watch", "add", "text", "--text", sentences(60, 1), "--store", store)
    assert "Copies may be missed: the selection koala" in done.stderr


def test_rotate(winnow: Winnow, pages: Path) -> None:
    store = made(winnow, pages, "--preset", "koala")
    done = winnow("rotate", "--store", store)
    assert (done.exit_code, done.stdout) == (0, "Rotated 2 pages to epoch 1.\n")
    (pages / "3.txt").write_text(sentences(60, 3))
    made(winnow, pages)
    answer = winnow.json("rotate", "--store", store)
    assert answer == {"epoch": 2, "rotated": 3, "unchanged": 0, "without_text": 0, "finished": True}
    assert winnow("similar", "--file", pages / "3.txt", "--store", store).exit_code == 0


def test_rotate_without_texts(winnow: Winnow, pages: Path) -> None:
    done = winnow("rotate", "--store", made(winnow, pages, "--preset", "koala", "--no-text"))
    assert (done.exit_code, done.stdout) == (0, "Rotated 0 pages to epoch 1.\n")
    assert "Not rotated: 2 pages without a stored text." in done.stderr


def test_rotate_a_store_of_another_selection(winnow: Winnow, pages: Path) -> None:
    store = made(winnow, pages)
    assert f"{store} has the selection winnow" in winnow.refused("rotate", "--store", store)
