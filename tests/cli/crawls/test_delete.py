"""winnow delete: what it deletes, asks and prints."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from tests.cli.conftest import MILL, WINNOW, OnTerminal, Winnow, json_lines

QUOTE = "http://example.net/quote"
NOT_COMPARED = "Other addresses were searched for the same texts, but not for all near-copies: "


def urls(store: Path) -> int:
    with Index.open(store, create=False) as index:
        return index.statistics().urls


def test_json(winnow: Winnow, crawl: Path) -> None:
    planned = winnow.json("delete", MILL, "--store", crawl, "--dry-run")
    assert (planned["pages"], planned["captures"], planned["deleted"], planned["erased"]) == (1, 2, 0, False)
    assert [(each["url"], each["crawl"]) for each in planned["found"]] == [(MILL, "first"), (MILL, "second")]
    done = winnow("delete", MILL, "http://gone.example/", "--store", crawl, "--yes", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, done.stderr.splitlines()[0]) == (0, "Not in the store: http://gone.example/")
    assert (found["deleted"], found["missing"], found["erased"]) == (2, ["http://gone.example/"], True)
    assert (found["blocked"], found["examples"]) == ([], planned["found"])
    assert urls(crawl) == 5
    assert winnow.json("delete", MILL, "--store", crawl, "--yes", code=1)["captures"] == 0


def test_rows_in_a_pipe(winnow: Winnow, crawl: Path) -> None:
    done = winnow("delete", "--crawl", "second", "--until", "2024-03-01", "--store", crawl, "--yes", "--no-erase")
    assert done.exit_code == 0
    assert done.stdout.split() == ["pages", "2", "captures", "2", "deleted", "2", "reclustered", "0", "copies", "2"]
    said = done.stderr.splitlines()
    assert said[0] == "2 pages at other addresses still have these texts:"
    assert said[-1].endswith("winnow delete --erase erases them")
    with Index.open(crawl) as index:
        assert [moment.card.crawl for moment in index.history(MILL)] == ["first"]
    assert winnow.json("delete", "--erase", "--store", crawl)["erased"] is True


def test_a_list_of_urls(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    file, lines = tmp_path / "list.txt", f"# of 2024\n\n  {MILL} \n{QUOTE}\n"
    file.write_text(lines)
    for name in (file, "-"):
        found = winnow.json("delete", "--file", name, "--store", crawl, "--dry-run", stdin=lines)
        assert (found["pages"], found["captures"]) == (2, 3)
    file.write_text("#\n")
    assert winnow.refused("delete", "--file", file, "--store", crawl, "--yes") == f"Error: {file} has no URLs"


@pytest.mark.parametrize(
    ("words", "entry", "code"),
    [
        ((MILL,), MILL, 0),
        (("http://example.net/*",), "http://example.net/*", 0),
        (("--site", "Example.net"), "site:example.net", 0),
        (("http://nowhere.example/x",), "http://nowhere.example/x", 1),
    ],
)
def test_what_is_blocked_is_said(winnow: Winnow, crawl: Path, words: tuple[str, ...], entry: str, code: int) -> None:
    block = ("delete", *words, "--block", "--store", crawl)
    planned = winnow(*block, "--dry-run", "--json")
    assert (planned.exit_code, json.loads(planned.stdout)["blocked"]) == (code, [entry])
    assert f"Would be blocked: {entry}\n" in planned.stderr
    if code == 0:
        assert f", and block {entry}: add --yes to do it" in winnow.refused(*block)
    with Index.open(crawl) as index:
        assert index.blocked() == []
    done = winnow(*block, "--yes", "--no-erase", "--json")
    assert (done.exit_code, json.loads(done.stdout)["blocked"]) == (code, [entry])
    assert f"Blocked: {entry}\n" in done.stderr
    with Index.open(crawl) as index:
        assert index.blocked() == [entry]


@pytest.mark.check
def test_blocked_pages(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    assert winnow("delete", "--blocked", "--store", crawl).stdout == ""
    for chosen in ((MILL,), ("--site", "Example.net")):
        assert winnow("delete", *chosen, "--block", "--store", crawl, "--yes").exit_code == 0
    assert winnow("delete", "--blocked", "--store", crawl).stdout == f"{MILL}\nsite:example.net\n"
    lines = json_lines(tmp_path / "again.jsonl", {"url": MILL, "text": "The mill in the valley."})
    again = winnow.json("index", lines, "--store", crawl, code=1)
    assert (again["indexed"], again["reasons"]["skipped"]) == (0, {"blocked": 1})
    assert winnow.json("delete", "--unblock", MILL, "--store", crawl) == {"blocked": ["site:example.net"]}
    assert winnow.json("index", lines, "--store", crawl)["indexed"] == 1
    near = winnow.refused("delete", "--unblock", "example.net", "--store", crawl)
    assert near == f"Error: {crawl} does not block example.net; there is site:example.net"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((MILL,), "this would delete 2 captures of 1 page: add --yes to do it, or --dry-run to list them"),
        (("--yes",), "say which pages to delete: give URLs, ids, words, or filters"),
        (("--yes", "--no-erase"), "say which pages to delete"),
        (("--words", "", "--yes"), "there are no words to find the pages to delete"),
        ((MILL, "--words", "mill", "--yes"), "give URLs and ids, or words, not both"),
    ],
)
def test_refused(winnow: Winnow, crawl: Path, words: tuple[str, ...], complaint: str) -> None:
    assert complaint in winnow.refused("delete", *words, "--store", crawl)
    assert urls(crawl) == 6


ANSWER = """
import os, pty, sys
def read(fd):
    data = os.read(fd, 1024)
    if b"[y/N]" in data:
        os.write(fd, sys.argv[1].encode() + b"\\n")
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[2:], read)))
"""


@pytest.mark.parametrize(("answer", "left", "code"), [("y", 5, 0), ("n", 6, 1)])
def test_it_asks_on_a_terminal(crawl: Path, answer: str, left: int, code: int) -> None:
    command: list[str | Path] = [sys.executable, "-c", ANSWER, answer, WINNOW, "delete", MILL, "--store", crawl]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    shown = done.stdout.decode()
    assert f"  2023-05-06  {MILL}" in shown
    assert f"Delete 2 captures of 1 page from {crawl}? [y/N]" in shown
    assert ("Deleted 2 captures of 1 page" in shown) == (answer == "y")
    assert (done.returncode, urls(crawl)) == (code, left)


def test_a_dry_run_on_a_terminal(on_terminal: OnTerminal, crawl: Path) -> None:
    code, shown = on_terminal("winnow", "delete", "http://example.*", "--dry-run", "--store", crawl, NO_COLOR="1")
    lines = shown.splitlines()
    assert (code, lines[0], lines[5]) == (0, f"2023-05-06  {MILL}", "5 captures of 4 pages would be deleted")
    assert lines[6].startswith("2 pages at other addresses would still have ")
    assert "\x1b" not in shown


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A store with 25 captures of 24 pages."""
    urls = [f"http://www.example.org/{number:02}" for number in range(24)]
    pages = [Page(url, text=f"Page {url}", fetched_at=datetime(2024, 1, 1, tzinfo=UTC)) for url in (*urls, urls[0])]
    pages[-1].fetched_at = None
    with Index.open(tmp_path / "large.winnow") as index:
        index.add(pages, crawl="spring")
    return tmp_path / "large.winnow"


def test_a_dry_run_lists_everything(
    winnow: Winnow, on_terminal: OnTerminal, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opensearch_winnow.stores.chosen_captures.IDS_PER_READ", 10)
    command = ("delete", "--site", "www.example.org", "--dry-run", "--store", large)
    summary, note = winnow(*command).stderr.splitlines()
    assert (summary, note.startswith(NOT_COMPARED)) == ("25 captures of 24 pages would be deleted", True)
    head, *lines = winnow.rows(*command)
    assert head == ["fetched_at", "id", "crawl", "url"]
    assert (len(lines), lines[0][0::2]) == (25, ["2024-01-01T00:00:00Z", "spring"])
    assert sorted(line[3] for line in lines)[:3] == [f"http://www.example.org/{n}" for n in ("00", "00", "01")]
    document = winnow.json(*command)
    assert ([each["id"] for each in document["found"]], document["captures"]) == ([line[1] for line in lines], 25)
    _, shown = on_terminal("winnow", *command, NO_COLOR="1")
    assert [line.split(";")[0] for line in shown.splitlines()[10:12]] == ["… and 15 more", summary]


THERE, OTHERWISE = "http://www.example.org/03", "https://www.example.org/03"


@pytest.mark.parametrize(
    ("words", "notes"),
    [
        ("--site example.org", ["{store} has no page of the site example.org; there is www.example.org"]),
        (
            f"{THERE}/ http://x.example/",
            [f"Not in the store: {THERE}/ (there is {THERE}), http://x.example/"],
        ),
        (f"{THERE} --until 2023", [f"Not in the store, or not chosen by the filters: {THERE}"]),
        (
            "--site example.org --block",
            [
                "{store} has no page of the site example.org; there is www.example.org",
                "Blocked: site:example.org",
                "Only the spelling that you gave is blocked, not site:www.example.org",
            ],
        ),
        (
            f"{OTHERWISE} --block --dry-run",
            [
                "0 captures of 0 pages would be deleted",
                f"Not in the store: {OTHERWISE} (there is {THERE})",
                f"Would be blocked: {OTHERWISE}",
                f"Only the spelling that you gave would be blocked, not {THERE}",
            ],
        ),
        (
            f"{OTHERWISE} --block",
            [
                f"Not in the store: {OTHERWISE} (there is {THERE})",
                f"Blocked: {OTHERWISE}",
                f"Only the spelling that you gave is blocked, not {THERE}",
            ],
        ),
    ],
)
def test_what_is_not_there_may_have_another_spelling(winnow: Winnow, large: Path, words: str, notes: list[str]) -> None:
    done = winnow("delete", *words.split(), "--store", large, "--yes")
    assert (done.exit_code, urls(large)) == (1, 24)
    assert done.stderr.splitlines() == [note.format(store=large) for note in notes]


def test_copies_at_other_addresses(winnow: Winnow, on_terminal: OnTerminal, tmp_path: Path) -> None:
    text = "Nobody in the valley has ever seen the old miller weigh a single sack of flour on Sundays. " * 5
    urls = ["https://www.lib.example/abc.html", "http://lib.example/abc.html", "http://lib.example/abc.html?print=1"]
    store = tmp_path / "lib.winnow"
    with Index.open(store) as index:
        index.add([Page(url, text=text) for url in urls])
    listed = [f"  {url}" for url in urls[1:]]
    command = ("delete", urls[0], "--block", "--store", store)
    assert winnow(*command, "--dry-run").stderr.splitlines() == [
        "1 capture of 1 page would be deleted",
        f"Would be blocked: {urls[0]}",
        "2 pages at other addresses would still have the text:",
        *listed,
    ]
    winnow.refused(*command)
    copies = winnow.json(*command, "--dry-run")["copies"]
    assert (copies["total"], copies["near"]) == (2, True)
    assert copies["listed"] == [{"url": url, "of": urls[0], "resemblance": 1.0} for url in urls[1:]]
    _, shown = on_terminal("winnow", *command, "--yes", "--quiet", "--no-erase", NO_COLOR="1")
    still = "2 pages at other addresses still have the text:"
    assert shown.splitlines()[:5] == ["Deleted 1 capture of 1 page", f"Blocked: {urls[0]}", still, *listed]
    assert f"→ winnow delete {urls[1]} '{urls[2]}' --block --store {store}" in shown
    again = winnow("delete", urls[1], "--store", store, "--yes")
    assert again.stderr.splitlines() == ["1 page at another address still has the text:", f"  {urls[2]}"]
    assert again.stdout.endswith("copies\t1\n")


def test_copies_of_many_texts(winnow: Winnow, large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that is cut says so, and so does a search that was not made."""
    monkeypatch.setattr("opensearch_winnow.cli.crawls.delete.MAX_COPIES_LISTED", 3)
    with Index.open(large) as index:
        index.add([Page(f"http://mirror.example/{n}", text=f"Page http://www.example.org/{n:02}") for n in range(24)])
    done = winnow("delete", "--site", "www.example.org", "--store", large, "--yes", "--json")
    *listed, more, note = done.stderr.splitlines()
    assert listed[1:] == [f"  http://mirror.example/{n}" for n in (0, 1, 10)]
    assert (more.split(",")[0], note.startswith(NOT_COMPARED)) == ("  and 21 more", True)
    copies = json.loads(done.stdout)["copies"]
    assert (copies["total"], len(copies["listed"]), copies["near"]) == (24, 24, False)
