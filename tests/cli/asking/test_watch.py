"""winnow watch: add, list, check and remove; and watches while indexing: the log, the command and the webhook."""

from __future__ import annotations

import json
import re
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.stores.captures import captures
from tests.cli.conftest import MILL, OnTerminal, Process, Winnow, json_lines
from tests.meaningless_text import sentences
from tests.operations.asking.test_notifier import receiving

FIRST, SECOND = sentences(60, 0), sentences(60, 1)  # paragraphs of the mill
NEW = "http://new.example/quote"


def quote(store: Path) -> str:
    """Add a page that quotes the first paragraph, and return the id of its capture."""
    time = datetime(2024, 5, 1, tzinfo=UTC)
    with Index.open(store) as index:
        index.add([Page(NEW, text=f"{FIRST} {sentences(20, 50)}", title="A quotation", fetched_at=time)])
        return captures(index.store, NEW)[0].id


def checked(winnow: Winnow, store: Path, *names: str, code: int = 0) -> dict[str, Any]:
    """Check watches, and return their reports by name."""
    answer = winnow.json("watch", "check", *names, "--store", store, code=code)
    return {each["name"]: each for each in answer["watches"]}


def test_new_matches_are_shown_once(winnow: Winnow, crawl: Path) -> None:
    added = winnow("watch", "add", "mill", MILL, "--min-containment", "0.2", "--store", crawl)
    assert (added.exit_code, added.stdout, added.stderr) == (0, "", f"Added mill: pages with ≥ 20 % of {MILL}\n")
    winnow("watch", "add", "second", "--text", SECOND, "--store", crawl)
    nothing = winnow("watch", "check", "--store", crawl)
    assert (nothing.exit_code, nothing.stderr) == (1, "No new pages for 2 watches\n")
    assert len(nothing.stdout.splitlines()) == 1
    new = quote(crawl)
    head, row = winnow.rows("watch", "check", "--keep", "--store", crawl)
    shown = dict(zip(head, row, strict=True))
    assert [shown[name] for name in ("watch", "new", "id", "url", "title")] == ["mill", "true", new, NEW, "A quotation"]
    assert shown["fetched_at"] == "2024-05-01T00:00:00Z"
    reports = checked(winnow, crawl)
    assert (reports["mill"]["new"], reports["second"]["new"]) == ([new], [])
    first = reports["mill"]["matches"][0]
    assert (first["id"], f"{first['containment']:.6g}") == (new, shown["containment"])
    assert len(reports["mill"]["matches"]) == reports["mill"]["total"]
    checked(winnow, crawl, code=1)


def test_watches_can_be_checked_by_name(winnow: Winnow, crawl: Path) -> None:
    for name in ("a", "b", "c"):
        assert winnow("watch", "add", name, "--text", FIRST, "--store", crawl).exit_code == 0
    quote(crawl)
    assert {name: len(each["new"]) for name, each in checked(winnow, crawl, "b", "a", "b").items()} == {"a": 1, "b": 1}
    assert {name: len(each["new"]) for name, each in checked(winnow, crawl).items()} == {"a": 0, "b": 0, "c": 1}
    assert "has no watch d; there is a, b, c" in winnow.refused("watch", "check", "d", "--store", crawl)
    assert "has no watch d; there is a, b, c" in winnow.refused("watch", "log", "d", "--store", crawl)


def test_a_page_that_is_gone_does_not_stop_the_others(winnow: Winnow, crawl: Path) -> None:
    winnow("watch", "add", "a page", MILL, "--store", crawl)
    winnow("watch", "add", "text", "--text", FIRST, "--store", crawl)
    new = quote(crawl)
    with Index.open(crawl) as index:
        index.store.delete([card.id for card in captures(index.store, MILL)])
    done = winnow("watch", "check", "--keep", "--store", crawl)
    assert (done.exit_code, done.stderr) == (2, f"a page: {crawl} has no page {MILL}\n")
    assert new in done.stdout.splitlines()[1].split("\t")
    gone, text = checked(winnow, crawl, code=2).values()
    assert (gone["error"], gone["matches"]) == (f"{crawl} has no page {MILL}", [])
    assert (text["error"], text["new"]) == (None, [new])


@pytest.mark.check
def test_on_a_terminal(winnow: Winnow, on_terminal: OnTerminal, crawl: Path) -> None:
    winnow("watch", "add", "mill", MILL, "--min-containment", "0.2", "--store", crawl)
    text = ("--text", f"\x1b[2J{FIRST}", "--min-containment", "0")
    winnow("watch", "add", "\x1b[2J" + "n" * 60, *text, "--store", crawl)
    quote(crawl)
    code, shown = on_terminal("winnow", "watch", "list", "--store", crawl, NO_COLOR="1", COLUMNS="80")
    head, *rows, step = shown.splitlines()
    assert (code, head.split()) == (0, ["name", "added", "threshold", "page", "or", "text"])
    assert (rows[1].split()[::3], rows[1].endswith(MILL)) == (["mill", "%"], True)
    assert all(width(row) <= 80 for row in rows)
    assert step.startswith("→ winnow watch check --store")
    code, shown = on_terminal("winnow", "watch", "check", "--store", crawl, NO_COLOR="1")
    assert (code, "\x1b" in shown) == (0, False)
    of_text, of_page = shown.split("\n\n")
    assert "1 new of 6 pages with a passage of the text" in of_text
    title, head, row, step = of_page.splitlines()
    assert title == f"mill: 1 new of 5 pages with ≥ 20 % of {MILL}"
    assert (head.split()[:4], NEW in row) == (["A", "in", "B", "resemblance"], True)
    assert step.startswith("→ winnow similar ")
    assert on_terminal("winnow", "watch", "check", "--store", crawl)[0] == 1


def test_watches_of_files_pages_and_stdin(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    def names() -> list[str]:
        return [each["name"] for each in winnow.json("watch", "list", "--store", crawl)["watches"]]

    (tmp_path / "release.html").write_text(f"<title>x</title><p>{FIRST}<script>y</script>")
    kept = winnow.json("watch", "add", "file", "--file", tmp_path / "release.html", "--store", crawl)
    assert (kept["name"], kept["url"], kept["text"].strip(), kept["min_containment"]) == ("file", None, FIRST, 0.3)
    assert winnow("watch", "add", "piped", "--file", "-", "--store", crawl, stdin=SECOND).exit_code == 0
    assert winnow("watch", "add", "mill", MILL, "--unseen", "--store", crawl).exit_code == 0
    assert names() == ["file", "mill", "piped"]
    listed = winnow.json("watch", "list", "--store", crawl)["watches"]
    assert listed[0] == kept
    head, _, row, _ = winnow.rows("watch", "list", "--store", crawl)
    assert head == ["name", "at", "min_containment", "url", "text"]
    assert row == ["mill", listed[1]["at"], "0.3", MILL, ""]
    assert len(checked(winnow, crawl, "mill")["mill"]["new"]) == 3
    removed = winnow("watch", "remove", "mill", "--store", crawl)
    assert (removed.exit_code, removed.stderr) == (0, "Removed mill\n")
    assert winnow.json("watch", "remove", "file", "--store", crawl) == kept
    assert names() == ["piped"]


def test_errors_are_reported(winnow: Winnow, crawl: Path) -> None:
    winnow("watch", "add", "there", "--text", FIRST, "--store", crawl)
    complaints: list[tuple[list[str], str]] = [
        (["add", "x"], "give exactly one thing to watch"),
        (["add", "x", MILL, "--text", FIRST], "give exactly one thing to watch"),
        (["add", "x", "--text", "too short"], "needs at least 50"),
        (["add", "there", "--text", FIRST], "there is already a watch 'there': use --replace"),
        (["remove", "x"], "has no watch x; there is there"),
        (["add", "--text", FIRST], "give the watch a name"),
        (["add", "--from", "gone.jsonl"], "gone.jsonl cannot be read: No such file"),
    ]
    for arguments, reason in complaints:
        assert reason in winnow.refused("watch", *arguments, "--store", crawl)
    replaced = winnow("watch", "add", "there", "--text", SECOND, "--replace", "--store", crawl)
    assert replaced.stderr == "Replaced there: pages with ≥ 30 % of the text\n"


def test_a_store_without_watches(winnow: Winnow, crawl: Path) -> None:
    for verb, answer in (("list", {"watches": []}), ("check", {"total": 0, "watches": []})):
        done = winnow("watch", verb, "--store", crawl)
        assert (done.exit_code, f"No watches in {crawl}; add one" in done.stderr) == (1, True)
        assert winnow.json("watch", verb, "--store", crawl, code=1) == answer


def test_names_are_completed(process: Process, crawl: Path, winnow: Winnow) -> None:
    winnow("watch", "add", "press", "--text", FIRST, "--store", crawl)
    settings = {"_WINNOW_COMPLETE": "bash_complete", "COMP_WORDS": "winnow watch check pr", "COMP_CWORD": "3"}
    assert process(**settings, WINNOW_STORE=str(crawl)).stdout.decode().splitlines() == ["plain,press"]
    assert process(**settings, WINNOW_STORE="gone.winnow").stdout.strip() == b""


@pytest.fixture
def news(tmp_path: Path) -> Path:
    """A file with two new pages, of which one quotes the mill."""
    return json_lines(
        tmp_path / "news.jsonl",
        {"url": NEW, "text": f"{FIRST} {sentences(20, 50)}", "title": "\x1b[2JA quotation"},
        {"url": "http://new.example/else", "text": sentences(90, 51)},
    )


def test_findings_are_summed_up_and_logged(winnow: Winnow, crawl: Path, news: Path) -> None:
    winnow("watch", "add", "mill", MILL, "--min-containment", "0.2", "--store", crawl)
    winnow("watch", "add", "first", "--text", FIRST, "--store", crawl)
    winnow("watch", "add", "second", "--text", SECOND, "--store", crawl)
    none = winnow("watch", "log", "--store", crawl)
    assert (none.exit_code, none.stderr) == (1, f"No findings in {crawl}\n")
    done = winnow("index", news, "--store", crawl, "--workers", "1")
    assert (done.exit_code, done.stderr) == (0, "2 findings for 2 watches: winnow watch log\n")
    head, *rows = winnow.rows("watch", "log", "--store", crawl)
    assert head == ["at", "watch", "containment", "longest", "fetched_at", "url", "title", "id"]
    assert {(row[1], row[5]) for row in rows} == {("mill", NEW), ("first", NEW)}
    (finding,) = winnow.json("watch", "log", "first", "--store", crawl)["findings"]
    assert (finding["watch"], finding["containment"], finding["title"]) == ("first", 1.0, "\x1b[2JA quotation")
    assert len(FIRST) - 10 < finding["longest"] <= len(FIRST)
    for nothing in (["second"], ["--since", "2999"]):
        assert winnow("watch", "log", *nothing, "--store", crawl).exit_code == 1
    assert len(winnow.rows("watch", "log", "--limit", "1", "--store", crawl)) == 2
    # The log is a log: a check lists the same page as new. Indexing it again finds nothing.
    assert winnow("watch", "check", "first", "--keep", "--store", crawl).exit_code == 0
    again = winnow.json("index", news, "--store", crawl, "--workers", "1")
    assert (again["unchanged"], again["findings"]) == (2, 0)


def test_the_log_on_a_terminal(winnow: Winnow, on_terminal: OnTerminal, crawl: Path, news: Path) -> None:
    winnow("watch", "add", "n" * 60, "--text", FIRST, "--store", crawl)
    winnow("index", news, "--store", crawl, "--workers", "1")
    code, shown = on_terminal("winnow", "watch", "log", "--store", crawl, NO_COLOR="1", COLUMNS="80")
    head, row, url, step = shown.splitlines()
    assert (code, head.split()) == (0, ["found", "watch", "in", "page", "longest", "passage"])
    assert "100 %" in row
    assert url.strip().startswith("http")
    assert max(map(width, (head, row, url))) <= 80
    assert step.startswith("→ winnow watch check n")


def test_a_watched_page_that_is_gone(winnow: Winnow, crawl: Path, news: Path) -> None:
    winnow("watch", "add", "gone", MILL, "--store", crawl)
    with Index.open(crawl) as index:
        index.store.delete([card.id for card in captures(index.store, MILL)])
    done = winnow("index", news, "--store", crawl, "--workers", "1")
    assert (done.exit_code, done.stderr) == (0, f"Watch gone was not checked: {crawl} has no page {MILL}\n")


def test_the_operator_is_told(process: Process, crawl: Path, news: Path, tmp_path: Path, winnow: Winnow) -> None:
    winnow("watch", "add", "first", "--text", FIRST, "--store", crawl)
    command = shlex.join([sys.executable, "-c", "import sys; open('told', 'w').write(sys.stdin.read())"])
    with receiving() as server:
        options = ("index", news, "--store", crawl, "--workers", "1", "--json")
        done = process(*options, WINNOW_ON_FINDING=command, WINNOW_WEBHOOK=server.url, WINNOW_WEBHOOK_PRIVATE="1")
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, 1)
    told = json.loads((tmp_path / "told").read_text())
    assert (told["watch"], told["url"]) == ("first", NEW)
    assert [body["findings"] for _, _, body in server.posted] == [[told]]


def test_a_webhook_that_is_refused_stops_nothing(winnow: Winnow, crawl: Path, news: Path) -> None:
    winnow("watch", "add", "first", "--text", FIRST, "--store", crawl)
    options = ("index", news, "--store", crawl, "--workers", "1")
    with receiving() as server:
        done = winnow(*options, "--webhook", f"{server.url}/secret", "--on-finding", "no-such-command")
    found, command, webhook = done.stderr.splitlines()
    assert (done.exit_code, server.posted, found) == (0, [], "1 finding for 1 watch: winnow watch log")
    assert command.startswith("1 finding not sent: no-such-command cannot be run: ")
    assert webhook.startswith("1 finding not sent: 127.0.0.1 is ")
    assert "--webhook-private" in webhook
    assert "the address of a webhook begins with" in winnow.refused(*options, "--webhook", "ftp://hook.example/")


def test_watches_are_added_from_a_file(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    file = json_lines(
        tmp_path / "watches.jsonl",
        {"name": "a", "text": FIRST, "min_containment": 0},
        {"name": "b", "url": MILL},
        {"name": "c", "text": FIRST},
    )
    added = winnow("watch", "add", "--from", file, "--min-containment", "0.9", "--store", crawl)
    assert (added.exit_code, added.stderr) == (0, "Added 3 watches\n")
    with Index.open(crawl) as index:
        assert [(each.name, each.min_containment) for each in index.watches()] == [("a", 0), ("b", 0.9), ("c", 0.9)]
    assert winnow("watch", "check", "--store", crawl).exit_code == 1
    piped = ("watch", "add", "--from", "-", "--store", crawl)
    assert winnow.json(*piped, "--unseen", "--replace", stdin=file.read_text()) == {"added": 3}
    assert winnow("watch", "check", "--store", crawl).exit_code == 0
    assert "give nothing else" in winnow.refused("watch", "add", "name", "--from", "-", "--store", crawl, stdin="")
    assert "line 1: not JSON" in winnow.refused(*piped, stdin="x")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([{"name": "a", "text": FIRST}, "x"], "line 2: a watch is a JSON object with a name"),
        ([{"text": FIRST}], "line 1: a watch is a JSON object with a name"),
        ([{"name": "a"}], "line 1: give watch a a text or a url, one of them"),
        ([{"name": "a", "text": FIRST, "min_containment": "x"}], "the min_containment of a watch cannot be"),
        ([{"name": "a", "text": FIRST, "min_containment": 2}], "watch a: min_containment is a share from 0 to 1"),
        ([{"name": "a", "text": "short"}], "watch a: the text is too short"),
        ([{"name": "a", "url": "http://gone.example/"}], "watch a: .* has no page http://gone.example/"),
        ([{"name": "a", "text": FIRST}] * 2, "there are two watches a"),
    ],
)
@pytest.mark.parametrize("unseen", [["--unseen"], []], ids=["unseen", "seen"])
def test_all_watches_of_a_file_are_added_or_none(
    winnow: Winnow, crawl: Path, lines: list[object], reason: str, unseen: list[str]
) -> None:
    stdin = "\n".join(map(json.dumps, lines))
    assert re.search(reason, winnow.refused("watch", "add", "--from", "-", *unseen, "--store", crawl, stdin=stdin))
    assert winnow("watch", "list", "--store", crawl).exit_code == 1
