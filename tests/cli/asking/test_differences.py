"""winnow compare --differences: what only one of two texts has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Index
from opensearch_winnow.answers.display_text import width
from tests.cli.conftest import MILL
from tests.meaningless_text import sentences

Winnow = Callable[..., Result]
REMOVED, ADDED = "Nobody spoke about the money at all that day", "The clerk stayed until the very end of it"


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, only in zip(paths, (REMOVED, ADDED), strict=True):
        path.write_text(f"{sentences(40, 1)}\n\n{only}.\n\n{sentences(40, 2)}")
    return paths


def test_rows_and_json(winnow: Winnow, texts: list[Path]) -> None:
    done = winnow("compare", *texts, "--differences")
    head, *rows = (line.split("\t") for line in done.stdout.splitlines())
    assert (done.exit_code, head) == (0, ["only_in", "start", "end", "text"])
    assert [(row[0], row[3]) for row in rows] == [("A", REMOVED), ("B", ADDED)]
    for (_, start, end, text), path in zip(rows, texts, strict=True):
        assert path.read_text()[int(start) : int(end)] == text
    answer = json.loads(winnow("compare", *texts, "--differences", "--json").stdout)
    assert [[run["text"] for run in answer[key]] for key in ("removed", "added")] == [[REMOVED], [ADDED]]
    assert json.loads(winnow("compare", *texts, "--json").stdout)["removed"] is None


def test_pages_of_a_store(winnow: Winnow, crawl: Path) -> None:
    answer = json.loads(winnow("compare", MILL, "--differences", "--store", crawl, "--json").stdout)
    with Index.open(crawl) as index:
        before, after = (answer[side]["id"] for side in "ab")
        assert answer == index.compare(before, after, differences=True).to_dict()
        assert index.compare(before, after).removed is None


def test_table(on_terminal: Callable[..., tuple[int, str]], texts: list[Path]) -> None:
    code, shown = on_terminal("winnow", "compare", *texts, "--differences", NO_COLOR="1", COLUMNS="50")
    assert code == 0
    table = shown.replace("\r", "")
    assert "Only in A: 1 run\n− " in table
    assert "Only in B: 1 run\n+ " in table
    assert all(width(line) <= 50 for line in table.splitlines() if line.startswith(("−", "+")))


def test_equal_texts_have_none(winnow: Winnow, texts: list[Path]) -> None:
    done = winnow("compare", texts[0], texts[0], "--differences")
    assert (done.exit_code, done.stdout) == (0, "only_in\tstart\tend\ttext\n")
