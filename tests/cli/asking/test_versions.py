"""winnow versions: the versions of a page or text, as a table, as rows and as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page, compare
from opensearch_winnow.answers.display_text import width
from tests.cli.conftest import OnTerminal, Winnow
from tests.meaningless_text import sentences

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


def test_json_and_rows(winnow: Winnow, store: Path) -> None:
    done = winnow("versions", TERMS, "--store", store, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    with Index.open(store) as index:
        assert answer == index.versions(TERMS).to_dict() | {"seconds": answer["seconds"]}
    assert answer["stale_count"] == 7
    head, *rows = winnow.rows("versions", TERMS, "--store", store)
    assert head == ["version", "stale", "url", "id", "first_seen", "last_seen", "resemblance"]
    assert [row[:3] for row in rows] == [
        ["1", "false", TERMS],
        *(["1", "true", url] for url in COPIES),
        ["2", "false", TERMS],
    ]


def test_the_versions_of_a_file(winnow: Winnow, store: Path, tmp_path: Path) -> None:
    by_url = winnow.json("versions", TERMS, "--store", store)["versions"]
    for name, content in ("terms.txt", NEW), ("terms.html", f"<p>{NEW}</p>"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        assert winnow.json("versions", "--file", tmp_path / name, "--store", store)["versions"] == by_url
    assert winnow.json("versions", "--file", "-", "--store", store, stdin=NEW)["versions"] == by_url
    nothing = winnow("versions", "--file", "-", "--store", store, "--json", stdin=sentences(200, 5))
    assert (nothing.exit_code, json.loads(nothing.stdout)["versions"]) == (1, [])
    assert nothing.stderr.startswith("No page has a resemblance of at least 50 %")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_table_on_a_terminal(on_terminal: OnTerminal, store: Path, columns: int) -> None:
    code, shown = on_terminal("winnow", "versions", TERMS, "--store", store, NO_COLOR="1", COLUMNS=str(columns))
    *table, summary, step = shown.splitlines()
    assert (code, len(table)) == (0, 9)
    assert table[0].split() == ["first", "seen", "resemblance", "pages", "first", "page"]
    assert table[1].split() == ["2024-01-01", "–", "8", TERMS if columns > 60 else TERMS.removeprefix("http://")]
    assert table[7].split() == ["stale:", "2", "more"]
    assert table[8].split()[:2] == ["2024-03-01", f"{compare(OLD, NEW).resemblance:.0%}"[:-1]]
    assert all(width(line) <= columns for line in table)
    assert summary.startswith("2 versions on 8 pages; 7 pages are stale")
    assert step.startswith(f"→ winnow history {TERMS}")


def test_limits_and_refusals(winnow: Winnow, store: Path) -> None:
    done = winnow("versions", TERMS, "--store", store, "--limit", "1", "--min-resemblance", "0.1")
    assert [row.split("\t")[2] for row in done.stdout.splitlines()[1:]] == [TERMS]
    assert done.stderr == "showing the latest 1 of 2 versions; --limit shows more\n"
    of_old = winnow("versions", COPIES[0], "--min-resemblance", "1", "--store", store, "--limit", "3")
    assert (len(of_old.stdout.splitlines()), "showing 3 pages of each version" in of_old.stderr) == (4, True)
    for arguments in ([], [TERMS, "--file", "x"], ["--file", "x", "--at", "2024"], [TERMS, "--min-resemblance", "0"]):
        winnow.refused("versions", *arguments, "--store", store)
