"""Stores of the preset koala at the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from tests.cli.conftest import sentences

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
