"""Stores of the preset koala at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from tests.meaningless_text import sentences

Winnow = Callable[..., Result]


def test_koala_promises_nothing(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(sentences(60, 1))
    (tmp_path / "other.txt").write_text(sentences(60, 2))
    store = tmp_path / "koala.winnow"
    assert winnow("index", tmp_path / "page.txt", "--preset", "koala", "--store", store, "--quiet").exit_code == 0
    done = winnow("similar", "--file", tmp_path / "other.txt", "--min-containment", "0", "--store", store)
    assert (done.exit_code, "shares a fingerprint with it" in done.stderr, "always" in done.stderr) == (1, True, False)
    done = winnow("watch", "add", "text", "--text", sentences(60, 1), "--store", store)
    assert "Copies may be missed: the selection koala does not promise to find any" in done.stderr


def test_rotate(winnow: Winnow, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.txt").write_text(sentences(60, number))
    store = tmp_path / "koala.winnow"
    winnow("index", tmp_path, "--preset", "koala", "--store", store, "--quiet")
    done = winnow("rotate", "--store", store)
    assert (done.exit_code, done.stdout) == (0, "Rotated 2 pages to epoch 1.\n")
    (tmp_path / "3.txt").write_text(sentences(60, 3))
    winnow("index", tmp_path, "--store", store, "--quiet")
    done = winnow("rotate", "--store", store, "--json")
    assert json.loads(done.stdout) == {"epoch": 2, "rotated": 3, "unchanged": 0, "without_text": 0, "finished": True}
    assert winnow("similar", "--file", tmp_path / "3.txt", "--store", store).exit_code == 0


def test_rotate_without_texts(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(sentences(60, 1))
    store = tmp_path / "koala.winnow"
    winnow("index", tmp_path / "page.txt", "--preset", "koala", "--no-text", "--store", store, "--quiet")
    done = winnow("rotate", "--store", store)
    assert (done.exit_code, done.stdout) == (0, "Rotated 0 pages to epoch 1.\n")
    assert "Not rotated: 1 page without a stored text. Index again, with texts" in done.stderr


def test_rotate_a_store_of_another_selection(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(sentences(60, 1))
    store = tmp_path / "crawl.winnow"
    winnow("index", tmp_path / "page.txt", "--store", store, "--quiet")
    done = winnow("rotate", "--store", store)
    assert done.exit_code == 2
    assert f"{store} has the selection winnow, which keeps every fingerprint that it selects" in done.stderr
