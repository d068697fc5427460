"""winnow versions: the versions of a page or text, as a table, as rows and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Index, Page, compare
from opensearch_winnow.answers.display_text import width
from tests.meaningless_text import sentences

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]

OLD = sentences(200)
NEW = f"{OLD}\n\n{sentences(40, 1)}"
TERMS = "http://shop.example/terms"
COPIES = [f"http://copy-{number}.example/{'a-long-way/' * 6}terms" for number in range(7)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    name = tmp_path / "terms.winnow"
    with Index.open(name) as index:
        dates = [datetime(2024, month, 1, tzinfo=UTC) for month in (1, 2, 3)]
        index.add([Page(TERMS, text=OLD, fetched_at=dates[0]), Page(TERMS, text=NEW, fetched_at=dates[2])])
        index.add([Page(url, text=OLD.upper(), fetched_at=dates[1]) for url in COPIES])
        index.add([Page("http://example.org/", text=sentences(200, 9), fetched_at=dates[0])])
    return name


def test_json(winnow: Winnow, store: Path) -> None:
    done = winnow("versions", TERMS, "--store", store, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (answer["total"], answer["page_count"], answer["stale_count"]) == (2, 8, 7)
    old, new = answer["versions"]
    assert (old["first_seen"], old["stale"], old["pages"]) == ("2024-01-01T00:00:00Z", True, [TERMS, *COPIES])
    assert (old["stale_pages"], old["same"], old["resemblance"]) == (COPIES, False, None)
    assert (new["first_seen"], new["stale"], new["pages"]) == ("2024-03-01T00:00:00Z", False, [TERMS])
    assert (new["stale_pages"], new["same"], new["resemblance"]) == ([], True, compare(OLD, NEW).resemblance)


def test_the_versions_of_a_file(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    by_url = json.loads(winnow("versions", TERMS, "--store", store, "--json").stdout)
    for name, content in ("terms.txt", NEW), ("terms.html", f"<p>{NEW}</p>"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        done = winnow("versions", "--file", tmp_path / name, "--store", store, "--json")
        assert json.loads(done.stdout)["versions"] == by_url["versions"]
    piped = winnow("versions", "--file", "-", "--store", store, "--json", stdin=NEW)
    assert json.loads(piped.stdout)["versions"] == by_url["versions"]
    nothing = winnow("versions", "--file", "-", "--store", store, "--json", stdin=sentences(200, 5))
    assert (nothing.exit_code, json.loads(nothing.stdout)["versions"]) == (1, [])
    assert nothing.stderr == "No page has a resemblance of at least 50 % to this text\n"


def test_rows_in_a_pipe(winnow: Winnow, store: Path) -> None:
    head, *rows = [line.split("\t") for line in winnow("versions", TERMS, "--store", store).stdout.splitlines()]
    assert head == ["version", "stale", "url", "id", "first_seen", "last_seen", "resemblance"]
    assert [(row[0], row[1], row[2]) for row in rows] == [
        ("1", "false", TERMS),
        *(("1", "true", url) for url in COPIES),
        ("2", "false", TERMS),
    ]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_table_on_a_terminal(on_terminal: OnTerminal, store: Path, columns: int) -> None:
    code, shown = on_terminal("winnow", "versions", TERMS, "--store", store, NO_COLOR="1", COLUMNS=str(columns))
    *table, summary, step = shown.splitlines()
    assert code == 0
    assert table[0].split() == ["first", "seen", "resemblance", "pages", "first", "page"]
    assert table[1].split() == ["2024-01-01", "–", "8", TERMS if columns > 60 else TERMS.removeprefix("http://")]
    assert table[7].split() == ["stale:", "2", "more"]
    assert table[8].split()[:2] == ["2024-03-01", f"{compare(OLD, NEW).resemblance:.0%}"[:-1]]
    assert len(table) == 9
    assert all(width(line) <= columns for line in table)
    assert summary.startswith("2 versions on 8 pages; 7 pages are stale")
    assert step.startswith(f"→ winnow history {TERMS}")


def test_limits(winnow: Winnow, store: Path) -> None:
    done = winnow("versions", TERMS, "--store", store, "--limit", "1", "--min-resemblance", "0.1")
    assert [row.split("\t")[2] for row in done.stdout.splitlines()[1:]] == [TERMS]
    assert done.stderr == "showing the latest 1 of 2 versions; --limit shows more\n"
    of_old = winnow("versions", COPIES[0], "--min-resemblance", "1", "--store", store, "--limit", "3")
    assert len(of_old.stdout.splitlines()) == 4
    assert of_old.stderr == "showing 3 pages of each version at most; --limit shows more\n"


def test_what_is_refused(winnow: Winnow, store: Path) -> None:
    unknown = winnow("versions", f"{TERMS}/", "--store", store)
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert unknown.stderr == f"Error: {store} has no page {TERMS}/; there is {TERMS}\n"
    for arguments in ([], [TERMS, "--file", "x"], ["--file", "x", "--at", "2024"], [TERMS, "--min-resemblance", "0"]):
        assert winnow("versions", *arguments, "--store", store).exit_code == 2
