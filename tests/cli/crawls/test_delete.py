"""winnow delete: what it deletes, asks and prints."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from tests.cli.conftest import MILL

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]
QUOTE = "http://example.net/quote"
NOT_COMPARED = (
    "Other addresses were searched for the same texts, but not for all near-copies: before you delete a page, winnow"
    " similar finds them"
)


def urls(store: Path) -> int:
    with Index.open(store, create=False) as index:
        return index.statistics().urls


def test_json(winnow: Winnow, crawl: Path) -> None:
    planned = json.loads(winnow("delete", MILL, "--store", crawl, "--dry-run", "--json").stdout)
    assert (planned["pages"], planned["captures"], planned["deleted"], planned["erased"]) == (1, 2, 0, False)
    assert [(each["url"], each["crawl"]) for each in planned["found"]] == [(MILL, "first"), (MILL, "second")]
    done = winnow("delete", MILL, "http://gone.example/", "--store", crawl, "--yes", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, done.stderr.splitlines()[0]) == (0, "Not in the store: http://gone.example/")
    assert (found["deleted"], found["missing"], found["erased"]) == (2, ["http://gone.example/"], True)
    assert found["blocked"] == []
    assert found["examples"] == planned["found"]
    assert urls(crawl) == 5
    again = winnow("delete", MILL, "--store", crawl, "--yes", "--json")
    assert (again.exit_code, json.loads(again.stdout)["captures"]) == (1, 0)


def test_rows_in_a_pipe(winnow: Winnow, crawl: Path) -> None:
    done = winnow("delete", "--crawl", "second", "--until", "2024-03-01", "--store", crawl, "--yes", "--no-erase")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == ["pages\t2", "captures\t2", "deleted\t2", "reclustered\t0", "copies\t2"]
    assert done.stderr.splitlines()[0] == "2 pages at other addresses still have these texts:"
    assert done.stderr.splitlines()[-1] == (
        "The files of the store still have bytes of deleted pages: winnow delete --erase erases them"
    )
    with Index.open(crawl) as index:
        assert [moment.card.crawl for moment in index.history(MILL)] == ["first"]
    erased = winnow("delete", "--erase", "--store", crawl, "--json")
    assert (erased.exit_code, json.loads(erased.stdout)["erased"]) == (0, True)


def test_a_list_of_urls(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    lines = f"# of 2024\n\n  {MILL} \n{QUOTE}\n"
    (tmp_path / "list.txt").write_text(lines)
    found = json.loads(
        winnow("delete", "--file", tmp_path / "list.txt", "--store", crawl, "--dry-run", "--json").stdout
    )
    assert (found["pages"], found["captures"]) == (2, 3)
    piped = winnow("delete", "--file", "-", "--store", crawl, "--dry-run", "--json", stdin=lines)
    assert json.loads(piped.stdout)["captures"] == 3
    (tmp_path / "list.txt").write_text("#\n")
    empty = winnow("delete", "--file", tmp_path / "list.txt", "--store", crawl, "--yes")
    assert (empty.exit_code, empty.stderr) == (2, f"Error: {tmp_path / 'list.txt'} has no URLs\n")


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
    planned = winnow("delete", *words, "--block", "--store", crawl, "--dry-run", "--json")
    assert (planned.exit_code, json.loads(planned.stdout)["blocked"]) == (code, [entry])
    assert f"Would be blocked: {entry}\n" in planned.stderr
    if code == 0:
        refused = winnow("delete", *words, "--block", "--store", crawl)
        assert f", and block {entry}: add --yes to do it" in refused.stderr
    with Index.open(crawl) as index:
        assert index.blocked() == []
    done = winnow("delete", *words, "--block", "--store", crawl, "--yes", "--no-erase", "--json")
    assert (done.exit_code, json.loads(done.stdout)["blocked"]) == (code, [entry])
    assert f"Blocked: {entry}\n" in done.stderr
    with Index.open(crawl) as index:
        assert index.blocked() == [entry]


@pytest.mark.check
def test_blocked_pages(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    assert winnow("delete", "--blocked", "--store", crawl).stdout == ""
    assert winnow("delete", MILL, "--block", "--store", crawl, "--yes").exit_code == 0
    assert winnow("delete", "--site", "Example.net", "--block", "--store", crawl, "--yes").exit_code == 0
    assert winnow("delete", "--blocked", "--store", crawl).stdout == f"{MILL}\nsite:example.net\n"
    (tmp_path / "again.jsonl").write_text(json.dumps({"url": MILL, "text": "The mill in the valley."}))
    again = json.loads(winnow("index", tmp_path / "again.jsonl", "--store", crawl, "--json").stdout)
    assert (again["indexed"], again["reasons"]["skipped"]) == (0, {"blocked": 1})
    left = winnow("delete", "--unblock", MILL, "--store", crawl, "--json")
    assert json.loads(left.stdout) == {"blocked": ["site:example.net"]}
    assert json.loads(winnow("index", tmp_path / "again.jsonl", "--store", crawl, "--json").stdout)["indexed"] == 1
    near = winnow("delete", "--unblock", "example.net", "--store", crawl)
    assert near.stderr == f"Error: {crawl} does not block example.net; there is site:example.net\n"
    unknown = winnow("delete", "--unblock", "x", "--store", crawl)
    assert (unknown.exit_code, unknown.stderr) == (2, f"Error: {crawl} does not block x\n")


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
    done = winnow("delete", *words, "--store", crawl)
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert urls(crawl) == 6


ANSWER = """
import pty, sys
answer = sys.argv[1].encode() + b"\\n"
def read(fd):
    import os
    data = os.read(fd, 1024)
    if b"[y/N]" in data:
        os.write(fd, answer)
    return data
sys.exit(__import__("os").waitstatus_to_exitcode(pty.spawn(sys.argv[2:], read)))
"""


@pytest.mark.parametrize(("answer", "left"), [("y", 5), ("n", 6)])
def test_it_asks_on_a_terminal(crawl: Path, answer: str, left: int) -> None:
    command = [Path(sys.executable).with_name("winnow"), "delete", MILL, "--store", crawl]
    done = subprocess.run(
        [sys.executable, "-c", ANSWER, answer, *map(str, command)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    shown = done.stdout.decode()
    assert f"  2023-05-06  {MILL}" in shown
    assert f"Delete 2 captures of 1 page from {crawl}? [y/N]" in shown
    assert urls(crawl) == left
    assert ("Deleted 2 captures of 1 page" in shown) == (answer == "y")
    assert done.returncode == (0 if answer == "y" else 1)


def test_a_dry_run_on_a_terminal(on_terminal: OnTerminal, crawl: Path) -> None:
    code, shown = on_terminal("winnow", "delete", "http://example.*", "--dry-run", "--store", crawl, NO_COLOR="1")
    lines = shown.splitlines()
    assert code == 0
    assert lines[0] == f"2023-05-06  {MILL}"
    assert lines[5:7] == [
        "5 captures of 4 pages would be deleted",
        "2 pages at other addresses would still have these texts:",
    ]
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
    rows = winnow(*command)
    assert (rows.exit_code, rows.stderr) == (0, f"25 captures of 24 pages would be deleted\n{NOT_COMPARED}\n")
    head, *lines = (line.split("\t") for line in rows.stdout.splitlines())
    assert head == ["fetched_at", "id", "crawl", "url"]
    assert len(lines) == 25
    assert lines[0][0::2] == ["2024-01-01T00:00:00Z", "spring"]
    assert sorted(line[3] for line in lines)[:3] == [f"http://www.example.org/{n}" for n in ("00", "00", "01")]
    document = json.loads(winnow(*command, "--json").stdout)
    assert [each["id"] for each in document["found"]] == [line[1] for line in lines]
    assert document["captures"] == 25
    _, shown = on_terminal("winnow", *command, NO_COLOR="1")
    assert shown.splitlines()[10:] == [
        "… and 15 more; in a pipe, such as | less, all are listed",
        "25 captures of 24 pages would be deleted",
        NOT_COMPARED,
    ]


@pytest.mark.parametrize(
    ("words", "notes"),
    [
        (("--site", "example.org"), ["{store} has no page of the site example.org; there is www.example.org"]),
        (("--crawl", "autumn"), ["{store} has no page of the crawl autumn; there is spring"]),
        (
            ("http://www.example.org/04/", "http://x.example/"),
            ["Not in the store: http://www.example.org/04/ (there is http://www.example.org/04), http://x.example/"],
        ),
        (
            ("https://example.org/05/#top",),
            ["Not in the store: https://example.org/05/#top (there is http://www.example.org/05)"],
        ),
        (
            ("HTTPS://Example.ORG/05",),
            ["Not in the store: HTTPS://Example.ORG/05 (there is http://www.example.org/05)"],
        ),
        (
            ("https://www.example.org/*",),
            ["Not in the store: https://www.example.org/* (there is http://www.example.org/*)"],
        ),
        (
            ("http://www.example.org/03", "--until", "2023"),
            ["Not in the store, or not chosen by the filters: http://www.example.org/03"],
        ),
        (
            ("--site", "example.org", "--block"),
            [
                "{store} has no page of the site example.org; there is www.example.org",
                "Blocked: site:example.org",
                "Only the spelling that you gave is blocked, not site:www.example.org",
            ],
        ),
        (
            ("https://www.example.org/03", "--block", "--dry-run"),
            [
                "0 captures of 0 pages would be deleted",
                "Not in the store: https://www.example.org/03 (there is http://www.example.org/03)",
                "Would be blocked: https://www.example.org/03",
                "Only the spelling that you gave would be blocked, not http://www.example.org/03",
            ],
        ),
        (
            ("https://www.example.org/03", "--block"),
            [
                "Not in the store: https://www.example.org/03 (there is http://www.example.org/03)",
                "Blocked: https://www.example.org/03",
                "Only the spelling that you gave is blocked, not http://www.example.org/03",
            ],
        ),
    ],
)
def test_what_is_not_there_may_have_another_spelling(
    winnow: Winnow, large: Path, words: tuple[str, ...], notes: list[str]
) -> None:
    done = winnow("delete", *words, "--store", large, "--yes")
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [note.format(store=large) for note in notes]
    assert urls(large) == 24


def test_copies_at_other_addresses(winnow: Winnow, on_terminal: OnTerminal, tmp_path: Path) -> None:
    text = "Nobody in the valley has ever seen the old miller weigh a single sack of flour on Sundays. " * 5
    urls = ["https://www.lib.example/abc.html", "http://lib.example/abc.html", "http://lib.example/abc.html?print=1"]
    store = tmp_path / "lib.winnow"
    with Index.open(store) as index:
        index.add([Page(url, text=text) for url in urls])
    named = ["2 pages at other addresses {} have the text:", *(f"  {url}" for url in urls[1:])]
    command = ("delete", urls[0], "--block", "--store", store)
    planned = winnow(*command, "--dry-run")
    assert planned.stderr.splitlines() == [
        "1 capture of 1 page would be deleted",
        f"Would be blocked: {urls[0]}",
        *lines(named, "would still"),
    ]
    refused = winnow(*command)
    assert refused.exit_code == 2
    assert json.loads(winnow(*command, "--dry-run", "--json").stdout)["copies"] == {
        "total": 2,
        "near": True,
        "listed": [{"url": url, "of": urls[0], "resemblance": 1.0} for url in urls[1:]],
    }
    _, shown = on_terminal("winnow", *command, "--yes", "--quiet", "--no-erase", NO_COLOR="1")
    assert shown.splitlines()[:5] == ["Deleted 1 capture of 1 page", f"Blocked: {urls[0]}", *lines(named, "still")]
    assert f"→ winnow delete {urls[1]} '{urls[2]}' --block --store {store}" in shown
    again = winnow("delete", urls[1], "--store", store, "--yes")
    assert again.stderr.splitlines() == ["1 page at another address still has the text:", f"  {urls[2]}"]
    assert again.stdout.splitlines()[-1] == "copies\t1"


def lines(named: list[str], verb: str) -> list[str]:
    return [line.format(verb) for line in named]


def test_copies_of_many_texts(winnow: Winnow, large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that is cut says so, and so does a search that was not made."""
    monkeypatch.setattr("opensearch_winnow.cli.crawls.delete.MAX_COPIES_LISTED", 3)
    with Index.open(large) as index:
        index.add([Page(f"http://mirror.example/{n}", text=f"Page http://www.example.org/{n:02}") for n in range(24)])
    done = winnow("delete", "--site", "www.example.org", "--store", large, "--yes", "--json")
    assert done.stderr.splitlines() == [
        "24 pages at other addresses still have these texts:",
        *(f"  http://mirror.example/{n}" for n in (0, 1, 10)),
        "  and 21 more, of which you are told when you delete these",
        NOT_COMPARED,
    ]
    copies = json.loads(done.stdout)["copies"]
    assert (copies["total"], len(copies["listed"]), copies["near"]) == (24, 24, False)
