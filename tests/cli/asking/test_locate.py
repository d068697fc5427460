"""winnow locate: the later pages with the text of a lost page, as a table, as rows and as JSON."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.answers.display_text import width
from tests.cli.conftest import MILL, OnTerminal, Winnow
from tests.meaningless_text import sentences

TEXT = sentences(200)
MOVED, MIRROR, BOOK = "http://example.org/valley/mill", "http://mirror.example/mill", "http://example.org/book"
UNDATED, REVISITED = "http://example.org/undated", "http://example.org/revisited"


@pytest.fixture(scope="module")
def _crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("locate") / "moved.winnow"
    first, second = (datetime(year, 3, 1, tzinfo=UTC) for year in (2023, 2024))
    with Index.open(store) as index:
        revisit = Page(REVISITED, revisit_of=REVISITED, fetched_at=first)
        index.add([*(Page(url, text=TEXT, fetched_at=first) for url in (MILL, MIRROR)), revisit], crawl="first")
        title = "\x1b]0;evil\x07 漢字の水車小屋"
        pages = [
            Page(MOVED, text=f"{TEXT}\n\n{sentences(60, 1)}", title=title, fetched_at=second),
            Page(MIRROR, text=TEXT, fetched_at=second),
            Page(BOOK, text=f"{TEXT}\n\n{sentences(900, 2)}", fetched_at=second),
            Page(UNDATED, text=sentences(100, 3)),
        ]
        index.add(pages, crawl="second")
    return store


@pytest.fixture
def moved(_crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(_crawled, tmp_path))


def test_json_and_rows_are_the_answer_of_the_library(winnow: Winnow, moved: Path) -> None:
    before = moved.read_bytes()
    done = winnow("locate", MILL, "--store", moved, "--json")
    head, *rows = winnow.rows("locate", MILL, "--store", moved)
    assert moved.read_bytes() == before
    assert (done.exit_code, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    with Index.open(moved) as index:
        assert answer == index.locate(MILL).to_dict() | {"seconds": answer["seconds"]}
    found = answer["found"]
    assert [(each["url"], each["change"]) for each in found] == [(MIRROR, "copy"), (MOVED, "moved"), (BOOK, "merged")]
    assert [dict(zip(head, row, strict=True))["url"] for row in rows] == [each["url"] for each in found]
    assert rows[1][:4] == ["moved", *(f"{found[1][name]:.6g}" for name in ("resemblance", "containment", "contained"))]
    assert "\x1b" not in "".join(rows[1])


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_table_on_a_terminal(on_terminal: OnTerminal, moved: Path, columns: int) -> None:
    code, shown = on_terminal("winnow", "locate", MILL, "--store", moved, NO_COLOR="1", COLUMNS=str(columns))
    *table, summary, step = shown.splitlines()
    assert code == 0
    assert table[0].split()[:7] == ["change", "resemblance", "A", "in", "B", "B", "in"]
    assert [line.split()[0] for line in table[1:] if line[0] != " "] == ["copy", "moved", "merged"]
    assert all(url.removeprefix("http://") in shown for url in (MIRROR, MOVED, BOOK))
    assert all(width(line) <= columns for line in table)
    assert summary.startswith("last seen on 2023-03-01, found on 3 later pages")
    with Index.open(moved) as index:
        assert step.startswith(f"→ winnow compare {index.page(MILL).id} {index.page(MIRROR).id}")
    assert "\x1b" not in shown


def test_limit_and_date(winnow: Winnow, moved: Path) -> None:
    done = winnow("locate", MILL, "--store", moved, "--limit", "1")
    assert (len(done.stdout.splitlines()), "showing 1 of 3 pages" in done.stderr) == (2, True)
    early = winnow.json("locate", MIRROR, "--at", "2023", "--store", moved)
    assert [each["change"] for each in early["found"]] == ["unchanged", "copy", "copy"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (MOVED, "{url} is not lost: it is in the latest crawl of {store}, of 2024-03-01"),
        (UNDATED, "{store} does not know when {url} was captured, and so not which pages are later"),
        (REVISITED, "{url} has no text, so there is nothing to look for"),
    ],
)
def test_one_sentence_if_nothing_is_found(winnow: Winnow, moved: Path, url: str, reason: str) -> None:
    before = moved.read_bytes()
    reason = reason.format(store=moved, url=url)
    done = winnow("locate", url, "--store", moved)
    assert (done.exit_code, done.stderr) == (1, f"{reason}\n")
    as_json = winnow("locate", url, "--store", moved, "--json")
    answer = json.loads(as_json.stdout)
    assert (as_json.exit_code, as_json.stderr, answer["found"], answer["reason"]) == (1, done.stderr, [], reason)
    assert moved.read_bytes() == before
