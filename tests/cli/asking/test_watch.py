"""winnow watch: add, list, check and remove."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from click.testing import Result

from opensearch_winnow import Index, Page
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.stores.captures import captures
from tests.cli.conftest import MILL
from tests.meaningless_text import sentences

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]
Process = Callable[..., CompletedProcess[bytes]]
FIRST, SECOND = sentences(60, 0), sentences(60, 1)  # paragraphs of the mill
NEW = "http://new.example/quote"


def quote(store: Path, url: str = NEW, text: str = f"{FIRST} {sentences(20, 50)}") -> str:
    """Add another page, and return the id of its capture."""
    with Index.open(store) as index:
        index.add([Page(url, text=text, title="A quotation", fetched_at=datetime(2024, 5, 1, tzinfo=UTC))])
        return captures(index.store, url)[0].id


def checked(winnow: Winnow, store: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code, and the reports by name."""
    done = winnow("watch", "check", *arguments, "--store", store, "--json")
    return done.exit_code, {each["name"]: each for each in json.loads(done.stdout)["watches"]}


def test_new_matches_are_shown_once(winnow: Winnow, crawl: Path) -> None:
    added = winnow("watch", "add", "mill", MILL, "--min-containment", "0.2", "--store", crawl)
    assert (added.exit_code, added.stdout) == (0, "")
    assert added.stderr == f"Added mill: pages with ≥ 20 % of {MILL}\n"
    winnow("watch", "add", "second", "--text", SECOND, "--store", crawl)
    nothing = winnow("watch", "check", "--store", crawl)
    assert (nothing.exit_code, nothing.stderr) == (1, "No new pages for 2 watches\n")
    assert len(nothing.stdout.splitlines()) == 1
    new = quote(crawl)
    kept = winnow("watch", "check", "--keep", "--store", crawl)
    (row,) = csv.DictReader(io.StringIO(kept.stdout), delimiter="\t")
    assert (row["watch"], row["new"], row["id"], row["url"], row["title"]) == ("mill", "true", new, NEW, "A quotation")
    assert row["fetched_at"] == "2024-05-01T00:00:00Z"
    assert (kept.exit_code, kept.stderr) == (0, "")
    code, reports = checked(winnow, crawl)
    assert code == 0
    assert (reports["mill"]["new"], reports["second"]["new"]) == ([new], [])
    first, *others = reports["mill"]["matches"]
    assert (first["id"], f"{first['containment']:.6g}", len(others) + 1) == (
        new,
        row["containment"],
        reports["mill"]["total"],
    )
    assert checked(winnow, crawl)[0] == 1


def test_watches_can_be_checked_by_name(winnow: Winnow, crawl: Path) -> None:
    for name in ("a", "b", "c"):
        assert winnow("watch", "add", name, "--text", FIRST, "--store", crawl).exit_code == 0
    quote(crawl)
    assert {name: len(each["new"]) for name, each in checked(winnow, crawl, "b", "a", "b")[1].items()} == {
        "a": 1,
        "b": 1,
    }
    assert {name: len(each["new"]) for name, each in checked(winnow, crawl)[1].items()} == {"a": 0, "b": 0, "c": 1}
    unknown = winnow("watch", "check", "d", "--store", crawl)
    assert (unknown.exit_code, unknown.stderr) == (2, f"Error: {crawl} has no watch d; there is a, b, c\n")


def test_a_page_that_is_gone_does_not_stop_the_others(winnow: Winnow, crawl: Path) -> None:
    winnow("watch", "add", "a page", MILL, "--store", crawl)
    winnow("watch", "add", "text", "--text", FIRST, "--store", crawl)
    new = quote(crawl)
    with Index.open(crawl) as index:
        index.store.delete([card.id for card in captures(index.store, MILL)])
    done = winnow("watch", "check", "--keep", "--store", crawl)
    assert (done.exit_code, done.stderr) == (2, f"a page: {crawl} has no page {MILL}\n")
    assert new in done.stdout.splitlines()[1].split("\t")
    code, reports = checked(winnow, crawl)
    assert (code, reports["a page"]["error"], reports["text"]["error"]) == (2, f"{crawl} has no page {MILL}", None)
    assert (reports["a page"]["matches"], reports["text"]["new"]) == ([], [new])


@pytest.mark.check
def test_on_a_terminal(winnow: Winnow, on_terminal: OnTerminal, crawl: Path) -> None:
    winnow("watch", "add", "mill", MILL, "--min-containment", "0.2", "--store", crawl)
    winnow(
        "watch", "add", "\x1b[2J" + "n" * 60, "--text", f"\x1b[2J{FIRST}", "--min-containment", "0", "--store", crawl
    )
    quote(crawl)
    code, shown = on_terminal("winnow", "watch", "list", "--store", crawl, NO_COLOR="1", COLUMNS="80")
    head, *rows, step = shown.splitlines()
    assert (code, head.split()) == (0, ["name", "added", "threshold", "page", "or", "text"])
    assert rows[1].split()[::3] == ["mill", "%"]
    assert rows[1].endswith(MILL)
    assert all(width(row) <= 80 for row in rows)
    assert step.startswith("→ winnow watch check --store")
    code, shown = on_terminal("winnow", "watch", "check", "--store", crawl, NO_COLOR="1")
    assert code == 0
    assert "\x1b" not in shown
    tables = shown.split("\n\n")
    assert len(tables) == 2
    assert "1 new of 6 pages with a passage of the text" in tables[0]
    title, head, row, step = tables[1].splitlines()
    assert title == f"mill: 1 new of 5 pages with ≥ 20 % of {MILL}"
    assert head.split()[:4] == ["A", "in", "B", "resemblance"]
    assert NEW in row
    assert step.startswith("→ winnow similar ")
    code, shown = on_terminal("winnow", "watch", "check", "--store", crawl, NO_COLOR="1")
    assert (code, shown) == (1, "No new pages for 2 watches\n")


def test_watches_of_files_pages_and_stdin(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "release.html").write_text(f"<title>x</title><p>{FIRST}<script>y</script>")
    as_json = winnow("watch", "add", "file", "--file", tmp_path / "release.html", "--store", crawl, "--json")
    kept = json.loads(as_json.stdout)
    assert (kept["name"], kept["url"], kept["text"].strip(), kept["min_containment"]) == ("file", None, FIRST, 0.3)
    assert winnow("watch", "add", "piped", "--file", "-", "--store", crawl, stdin=SECOND).exit_code == 0
    assert winnow("watch", "add", "mill", MILL, "--unseen", "--store", crawl).exit_code == 0
    listed = json.loads(winnow("watch", "list", "--store", crawl, "--json").stdout)["watches"]
    assert [each["name"] for each in listed] == ["file", "mill", "piped"]
    assert listed[0] == kept
    rows = [line.split("\t") for line in winnow("watch", "list", "--store", crawl).stdout.splitlines()]
    assert rows[0] == ["name", "at", "min_containment", "url", "text"]
    assert rows[2] == ["mill", listed[1]["at"], "0.3", MILL, ""]
    assert len(checked(winnow, crawl, "mill")[1]["mill"]["new"]) == 3
    removed = winnow("watch", "remove", "mill", "--store", crawl)
    assert (removed.exit_code, removed.stderr) == (0, "Removed mill\n")
    assert json.loads(winnow("watch", "remove", "file", "--store", crawl, "--json").stdout) == kept
    assert [
        each["name"] for each in json.loads(winnow("watch", "list", "--store", crawl, "--json").stdout)["watches"]
    ] == ["piped"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["add", "x"], "give exactly one thing to watch: the URL of a page in the store, --file, or --text"),
        (["add", "x", MILL, "--text", FIRST], "give exactly one thing to watch"),
        (["add", "x", "--text", "too short"], "needs at least 50"),
        (["add", "x", "http://gone.example/"], "has no page http://gone.example/"),
        (["add", "there", "--text", FIRST], "there is already a watch 'there': use --replace, or choose another name"),
        (["remove", "x"], "has no watch x; there is there"),
    ],
)
def test_errors_are_reported(winnow: Winnow, crawl: Path, arguments: list[str], reason: str) -> None:
    winnow("watch", "add", "there", "--text", FIRST, "--store", crawl)
    done = winnow("watch", *arguments, "--store", crawl)
    assert (done.exit_code, done.stdout) == (2, "")
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    replaced = winnow("watch", "add", "there", "--text", SECOND, "--replace", "--store", crawl)
    assert replaced.stderr == "Replaced there: pages with ≥ 30 % of the text\n"


def test_a_store_without_watches(winnow: Winnow, crawl: Path) -> None:
    for verb in ("list", "check"):
        done = winnow("watch", verb, "--store", crawl)
        assert (done.exit_code, done.stderr) == (1, f"No watches in {crawl}; add one with: winnow watch add NAME\n")
    assert json.loads(winnow("watch", "list", "--store", crawl, "--json").stdout) == {"watches": []}
    assert json.loads(winnow("watch", "check", "--store", crawl, "--json").stdout) == {"total": 0, "watches": []}


def test_names_are_completed(process: Process, crawl: Path, winnow: Winnow) -> None:
    winnow("watch", "add", "press", "--text", FIRST, "--store", crawl)
    settings = {"_WINNOW_COMPLETE": "bash_complete", "COMP_WORDS": "winnow watch check pr", "COMP_CWORD": "3"}
    assert process(**settings, WINNOW_STORE=str(crawl)).stdout.decode().splitlines() == ["plain,press"]
    assert process(**settings, WINNOW_STORE="gone.winnow").stdout.strip() == b""
