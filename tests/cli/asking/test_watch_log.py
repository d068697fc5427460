"""Watches while indexing, at the command line: the summary, the log, the command and the webhook."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from click.testing import Result

from opensearch_winnow import Index
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.stores.captures import captures
from tests.cli.conftest import MILL
from tests.meaningless_text import sentences
from tests.operations.asking.test_notifier import receiving

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]
Process = Callable[..., CompletedProcess[bytes]]
FIRST, SECOND = sentences(60, 0), sentences(60, 1)  # paragraphs of the mill
REFUSED = (
    "127.0.0.1 is an address of this machine or of a private network; if you mean it, allow it with --webhook-private"
)
NEW = "http://new.example/quote"


@pytest.fixture
def news(tmp_path: Path) -> Path:
    """A file with two new pages, of which one quotes the mill."""
    file = tmp_path / "news.jsonl"
    pages = [
        {"url": NEW, "text": f"{FIRST} {sentences(20, 50)}", "title": "\x1b[2JA quotation"},
        {"url": "http://new.example/else", "text": sentences(90, 51)},
    ]
    file.write_text("".join(f"{json.dumps(page)}\n" for page in pages))
    return file


def test_findings_are_summed_up_and_logged(winnow: Winnow, crawl: Path, news: Path) -> None:
    winnow("watch", "add", "mill", MILL, "--min-containment", "0.2", "--store", crawl)
    winnow("watch", "add", "first", "--text", FIRST, "--store", crawl)
    winnow("watch", "add", "second", "--text", SECOND, "--store", crawl)
    none = winnow("watch", "log", "--store", crawl)
    assert (none.exit_code, none.stderr) == (1, f"No findings in {crawl}\n")
    done = winnow("index", news, "--store", crawl, "--workers", "1")
    assert (done.exit_code, done.stderr) == (0, "2 findings for 2 watches: winnow watch log\n")
    logged = winnow("watch", "log", "--store", crawl)
    head, *rows = (line.split("\t") for line in logged.stdout.splitlines())
    assert head == ["at", "watch", "containment", "longest", "fetched_at", "url", "title", "id"]
    assert (logged.exit_code, {(row[1], row[5]) for row in rows}) == (0, {("mill", NEW), ("first", NEW)})
    (finding,) = json.loads(winnow("watch", "log", "first", "--store", crawl, "--json").stdout)["findings"]
    assert (finding["watch"], finding["containment"], finding["title"]) == ("first", 1.0, "\x1b[2JA quotation")
    assert len(FIRST) - 10 < finding["longest"] <= len(FIRST)
    assert winnow("watch", "log", "second", "--store", crawl).exit_code == 1
    assert winnow("watch", "log", "--since", "2999", "--store", crawl).exit_code == 1
    assert len(winnow("watch", "log", "--limit", "1", "--store", crawl).stdout.splitlines()) == 2
    # The log is a log: a check lists the same page as new. Indexing it again finds nothing.
    assert winnow("watch", "check", "first", "--keep", "--store", crawl).exit_code == 0
    again = json.loads(winnow("index", news, "--store", crawl, "--workers", "1", "--json").stdout)
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


def test_a_log_of_a_watch_that_is_not_there(winnow: Winnow, crawl: Path) -> None:
    winnow("watch", "add", "ginny", "--text", FIRST, "--store", crawl)
    done = winnow("watch", "log", "ginnie", "--store", crawl)
    assert (done.exit_code, done.stderr) == (2, f"Error: {crawl} has no watch ginnie; there is ginny\n")


def test_a_watched_page_that_is_gone(winnow: Winnow, crawl: Path, news: Path) -> None:
    winnow("watch", "add", "gone", MILL, "--store", crawl)
    with Index.open(crawl) as index:
        index.store.delete([card.id for card in captures(index.store, MILL)])
        kept = index.store.settings.with_prefix("watch:")
    done = winnow("index", news, "--store", crawl, "--workers", "1")
    assert (done.exit_code, done.stderr) == (0, f"Watch gone was not checked: {crawl} has no page {MILL}\n")
    with Index.open(crawl) as index:
        assert index.store.settings.with_prefix("watch:") == kept


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
    with receiving() as server:
        options = ("index", news, "--store", crawl, "--workers", "1")
        done = winnow(*options, "--webhook", f"{server.url}/secret", "--on-finding", "no-such-command")
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        "1 finding for 1 watch: winnow watch log",
        "1 finding not sent: no-such-command cannot be run: No such file or directory",
        f"1 finding not sent: {REFUSED}",
    ]
    assert server.posted == []
    wrong = winnow(*options, "--webhook", "ftp://hook.example/")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "the address of a webhook begins with https:// or http:// and a host" in wrong.stderr


def test_watches_are_added_from_a_file(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    file = tmp_path / "watches.jsonl"
    lines = [
        {"name": "a", "text": FIRST, "min_containment": 0},
        {"name": "b", "url": MILL},
        {"name": "c", "text": FIRST},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    added = winnow("watch", "add", "--from", file, "--min-containment", "0.9", "--store", crawl)
    assert (added.exit_code, added.stderr) == (0, "Added 3 watches\n")
    with Index.open(crawl) as index:
        assert [(each.name, each.min_containment) for each in index.watches()] == [("a", 0), ("b", 0.9), ("c", 0.9)]
    assert winnow("watch", "check", "--store", crawl).exit_code == 1
    unseen = winnow(
        "watch", "add", "--from", "-", "--unseen", "--replace", "--store", crawl, "--json", stdin=file.read_text()
    )
    assert json.loads(unseen.stdout) == {"added": 3}
    assert winnow("watch", "check", "--store", crawl).exit_code == 0


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
    done = winnow("watch", "add", "--from", "-", *unseen, "--store", crawl, stdin=stdin)
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.search(reason, done.stderr)
    assert winnow("watch", "list", "--store", crawl).exit_code == 1


def test_a_file_says_everything(winnow: Winnow, crawl: Path) -> None:
    done = winnow("watch", "add", "name", "--from", "-", "--store", crawl, stdin="")
    assert "--from FILE names the watches and what they watch: give nothing else" in done.stderr
    assert "line 1: not JSON" in winnow("watch", "add", "--from", "-", "--store", crawl, stdin="x").stderr
    nameless = winnow("watch", "add", "--text", FIRST, "--store", crawl)
    assert (nameless.exit_code, "give the watch a name: winnow watch add NAME" in nameless.stderr) == (2, True)
    missing = winnow("watch", "add", "--from", "gone.jsonl", "--store", crawl)
    assert (missing.exit_code, missing.stderr) == (2, "Error: gone.jsonl cannot be read: No such file or directory\n")
