"""Control characters of pages, names and messages do not act on a terminal. In a pipe, data stays as it is."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from tests.cli.conftest import OnTerminal, Process, json_lines
from tests.meaningless_text import sentences

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\u202egnp\u2066\u061c\b\x85"
URL = f"http://example.org/{HOSTILE}"
OURS = re.compile(r"\x1b\[\??[0-9;]*[mKhlAG]")  # colours, and the progress that rewrites its line
ACTING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CSV = "/search.csv?words=valley&group=off"

COMMANDS: dict[str, list[str]] = {
    "search": ["search", "valley", "--store", "h.winnow"],
    "search-ungrouped": ["search", "valley", "--group", "off", "--store", "h.winnow"],
    "search-json": ["search", "valley", "--json", "--store", "h.winnow"],
    "search-nothing": ["search", HOSTILE, "--store", "h.winnow"],
    "similar": ["similar", URL, "--all-captures", "--store", "h.winnow"],
    "similar-json": ["similar", URL, "--json", "--store", "h.winnow"],
    "similar-unknown": ["similar", f"{URL}x", "--store", "h.winnow"],
    "similar-file": ["similar", "--file", f"{HOSTILE}.txt", "--store", "h.winnow"],
    "compare": ["compare", URL, "http://example.org/copy", "--store", "h.winnow"],
    "compare-json": ["compare", URL, "http://example.org/copy", "--json", "--store", "h.winnow"],
    "compare-file": ["compare", f"{HOSTILE}.txt", f"{HOSTILE}.txt"],
    "compare-missing": ["compare", f"{HOSTILE}.no", "a"],
    "history": ["history", URL, "--store", "h.winnow"],
    "history-json": ["history", URL, "--json", "--store", "h.winnow"],
    "locate": ["locate", URL, "--store", "h.winnow"],
    "locate-json": ["locate", URL, "--json", "--store", "h.winnow"],
    "versions": ["versions", URL, "--store", "h.winnow"],
    "versions-json": ["versions", URL, "--json", "--store", "h.winnow"],
    "watch-list": ["watch", "list", "--store", "h.winnow"],
    "watch-run": ["watch", "check", "--store", "h.winnow"],
    "watch-run-json": ["watch", "check", "--json", "--store", "h.winnow"],
    "watch-remove": ["watch", "remove", f"{HOSTILE}x", "--store", "h.winnow"],
    "boilerplate-list": ["boilerplate", "list", "--store", "h.winnow"],
    "boilerplate-show": ["boilerplate", "show", f"b{HOSTILE}", "--store", "h.winnow"],
    "cluster": ["cluster", "--store", "h.winnow"],
    "cluster-json": ["cluster", "--json", "--store", "h.winnow"],
    "stats": ["stats", "--store", "h.winnow"],
    "stats-json": ["stats", "--json", "--store", "h.winnow"],
    "stats-missing": ["stats", "--store", f"{HOSTILE}.winnow"],
    "fingerprint": ["fingerprint", f"{HOSTILE}.txt"],
    "fingerprint-json": ["fingerprint", f"{HOSTILE}.txt", "--json"],
    "export": ["export", "--to", "-", "--store", "h.winnow"],
    "export-nothing": ["export", "--to", "-", "--crawl", HOSTILE, "--store", "h.winnow"],
    "export-to": ["export", "--to", f"{HOSTILE}.jsonl", "--json", "--store", "h.winnow"],
    "serve-csv": ["serve", "--get", CSV, "--store", "h.winnow"],
    "serve-json": ["serve", "--get", "/search.json?words=valley", "--store", "h.winnow"],
    "serve-html": ["serve", "--get", "/search?words=valley", "--store", "h.winnow"],
    "serve-refused": ["serve", "--get", f"/{HOSTILE}", "--store", "h.winnow"],
    "index": ["index", f"{HOSTILE}.jsonl", "--store", "new.winnow"],
    "index-json": ["index", f"{HOSTILE}.jsonl", "--json", "--store", "new.winnow"],
    "index-missing": ["index", f"{HOSTILE}.no", "--store", "new.winnow"],
    "index-base": ["index", f"{HOSTILE}.jsonl", "--base-url", HOSTILE, "--store", "new.winnow"],
    "no-such-command": [HOSTILE],
    "no-such-option": ["stats", f"--{HOSTILE}"],
    "one-too-many": ["stats", "--store", "h.winnow", HOSTILE],
    "not-a-number": ["search", "words", "--store", "h.winnow", "--limit", HOSTILE],
}


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store and files whose every name and text has control characters."""
    folder = tmp_path_factory.mktemp("hostile")
    text = f"{HOSTILE} valley {sentences(60)} {HOSTILE} {sentences(60, 1)}"
    day = datetime(2024, 3, 1, tzinfo=UTC)
    with Index.open(folder / "h.winnow") as index:
        pages = [
            Page(URL, text=text, title=f"{HOSTILE} valley", fetched_at=day),
            Page(URL, text=f"{text} {sentences(9, 2)}", title=f"{HOSTILE} valley", fetched_at=day.replace(year=2023)),
            Page("http://example.org/copy", text=text, title=HOSTILE),
        ]
        index.add(pages, crawl=f"crawl {HOSTILE}")
        index.add_watch(f"w{HOSTILE}", text=text, seen=False)
        index.add_boilerplate(f"b{HOSTILE}", sentences(30, 3) + HOSTILE)
    (folder / f"{HOSTILE}.txt").write_text(text, encoding="utf-8")
    lines = [{"url": URL, "text": text}, {"url": f"{URL}2", "text": HOSTILE}, {"url": HOSTILE, "text": text}]
    with json_lines(folder / f"{HOSTILE}.jsonl", *lines).open("a", encoding="utf-8") as file:
        file.write(f'{{"url": "{HOSTILE}"\n')
    return folder


@pytest.fixture
def folder(_made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(_made, tmp_path / "own")


@pytest.mark.check
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_nothing_acts_on_a_terminal(on_terminal: OnTerminal, folder: Path, command: list[str]) -> None:
    _, shown = on_terminal("winnow", *command, folder=folder)
    assert shown.strip()
    assert "Traceback" not in shown
    assert "\x1b[2J" not in shown
    assert not ACTING.findall(OURS.sub("", shown).replace("\r", ""))


@pytest.mark.check
def test_data_in_a_pipe_is_not_changed(process: Process, folder: Path) -> None:
    store = folder / "h.winnow"
    assert HOSTILE.encode() in process("serve", "--get", CSV, "--store", store).stdout
    exported = process("export", "--to", "-", "--store", store).stdout
    assert {json.loads(line)["url"] for line in exported.splitlines()} == {URL, "http://example.org/copy"}
    assert HOSTILE in process("boilerplate", "show", f"b{HOSTILE}", "--store", store).stdout.decode()
