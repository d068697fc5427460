"""winnow locate: the later pages with the text of a lost page, as a table, as rows and as JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Index, Page, compare
from opensearch_winnow.answers.display_text import width
from tests.cli.conftest import MILL
from tests.meaningless_text import sentences

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]

TEXT = sentences(200)
REVISED = f"{TEXT}\n\n{sentences(60, 1)}"
MOVED, MIRROR, BOOK = "http://example.org/valley/mill", "http://mirror.example/mill", "http://example.org/book"
UNDATED = "http://example.org/undated"


@pytest.fixture(scope="module")
def _crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("locate") / "moved.winnow"
    first, second = (datetime(year, 3, 1, tzinfo=UTC) for year in (2023, 2024))
    with Index.open(store) as index:
        index.add([Page(MILL, text=TEXT, fetched_at=first), Page(MIRROR, text=TEXT, fetched_at=first)], crawl="first")
        pages = [
            Page(MOVED, text=REVISED, title="\x1b]0;evil\x07 漢字の水車小屋", fetched_at=second),
            Page(MIRROR, text=TEXT, fetched_at=second),
            Page(BOOK, text=f"{TEXT}\n\n{sentences(900, 2)}", fetched_at=second),
            Page(UNDATED, text=sentences(100, 3)),
        ]
        index.add(pages, crawl="second")
    return store


@pytest.fixture
def moved(_crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(_crawled, tmp_path))


def test_json(winnow: Winnow, moved: Path) -> None:
    before = moved.read_bytes()
    done = winnow("locate", MILL, "--store", moved, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (answer["url"], answer["last_seen"], answer["total"]) == (MILL, "2023-03-01T00:00:00Z", 3)
    assert answer["reason"] is None
    expected = compare(TEXT, REVISED)
    assert [(each["url"], each["change"], each["fetched_at"]) for each in answer["found"]] == [
        (MIRROR, "copy", "2024-03-01T00:00:00Z"),
        (MOVED, "moved", "2024-03-01T00:00:00Z"),
        (BOOK, "merged", "2024-03-01T00:00:00Z"),
    ]
    scores = {name: answer["found"][1][name] for name in ("resemblance", "containment", "contained")}
    assert scores == {name: getattr(expected, name) for name in scores}
    assert [each["first_seen"][:4] for each in answer["found"]] == ["2023", "2024", "2024"]
    assert moved.read_bytes() == before


def test_rows_in_a_pipe(winnow: Winnow, moved: Path) -> None:
    found = json.loads(winnow("locate", MILL, "--store", moved, "--json").stdout)["found"]
    head, *rows = [line.split("\t") for line in winnow("locate", MILL, "--store", moved).stdout.splitlines()]
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
    assert summary.startswith("last seen on 2023-03-01, found on 3 later pages: 1 moved, 1 merged, 1 copy")
    with Index.open(moved) as index:
        assert step.startswith(f"→ winnow compare {index.page(MILL).id} {index.page(MIRROR).id}")
    assert "\x1b" not in shown


def test_limit_and_date(winnow: Winnow, moved: Path) -> None:
    done = winnow("locate", MILL, "--store", moved, "--limit", "1")
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == "showing 1 of 3 pages; --limit shows more\n"
    early = winnow("locate", MIRROR, "--at", "2023", "--store", moved, "--json")
    assert [each["change"] for each in json.loads(early.stdout)["found"]] == ["unchanged", "copy", "copy"]


@pytest.mark.parametrize(
    ("url", "code", "sentence"),
    [
        (MOVED, 1, "{url} is not lost: it is in the latest crawl of {store}, of 2024-03-01"),
        (
            "http://example.org/undated",
            1,
            "{store} does not know when {url} was captured, and so not which pages are later",
        ),
        (f"{MILL}/", 2, f"Error: {{store}} has no page {{url}}; there is {MILL}"),
    ],
)
def test_one_sentence_if_nothing_is_found(winnow: Winnow, moved: Path, url: str, code: int, sentence: str) -> None:
    before = moved.read_bytes()
    done = winnow("locate", url, "--store", moved)
    assert (done.exit_code, done.stderr) == (code, sentence.format(store=moved, url=url) + "\n")
    as_json = winnow("locate", url, "--store", moved, "--json")
    assert (as_json.exit_code, as_json.stderr) == (done.exit_code, done.stderr)
    if code == 1:
        answer = json.loads(as_json.stdout)
        assert (answer["found"], f"{answer['reason']}\n") == ([], done.stderr)
    assert moved.read_bytes() == before


def test_a_page_without_a_text_is_not_looked_for(winnow: Winnow, moved: Path) -> None:
    url = "http://example.org/revisited"
    with Index.open(moved) as index:
        index.add([Page(url, revisit_of=url, fetched_at=datetime(2023, 3, 1, tzinfo=UTC))], crawl="first")
    done = winnow("locate", url, "--store", moved, "--json")
    assert (done.exit_code, done.stderr) == (1, f"{url} has no text, so there is nothing to look for\n")
    assert json.loads(done.stdout)["reason"] == done.stderr.removesuffix("\n")
