"""A damaged store file: every command gives the right answer, or says in one sentence what is wrong."""

from __future__ import annotations

import faulthandler
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from opensearch_winnow.cli import main
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.sqlite_schema import PAGE_SIZE
from tests.cli.conftest import json_lines
from tests.meaningless_text import sentences
from tests.store_fixtures import MEMORY

TRIAL_SECONDS = 300  # after which a trial counts as hanging, and faulthandler ends the process
URL, COPY = "http://a.example/1", "http://b.example/1"
WORD = sentences(60, 1).split()[4].strip(".")
PHRASE = " ".join(sentences(60, 1).split()[3:6])
# The commands that read a store; those that also write to it come last.
READING = {
    "stats": ["stats"],
    "verify": ["stats", "--verify"],
    "search": ["search", WORD, "--no-group"],
    "phrase": ["search", f'"{PHRASE}" OR {WORD[0]}*', "--no-group", "--json"],
    "groups": ["search", f"{WORD[0]}*", "--exact", "--json"],
    "clusters": ["search", f"{WORD[0]}*", "--by", "cluster", "--facets", "site,month", "--json"],
    "similar": ["similar", URL, "--json"],
    "passages": ["similar", URL, "--min-containment", "0", "--json"],
    "estimates": ["similar", URL, "--estimate"],
    "compare": ["compare", URL, COPY],
    "history": ["history", URL],
    "versions": ["versions", URL, "--json"],
    "boilerplate": ["boilerplate", "list"],
    "watches": ["watch", "list"],
    "page screen": ["serve", "--get", f"/page?url={URL}"],
    "search screen": ["serve", "--get", f"/search?words={WORD[0]}*"],
    "API": ["serve", "--get", f"/api/v1/compare?a={URL}&b={COPY}"],
    "export": ["export", "--to", "records.jsonl", "--overwrite"],
}
WRITING = {
    "learn": ["boilerplate", "learn"],
    "check": ["watch", "check"],
    "cluster": ["cluster", "--threads", "1", "--work", "."],
    "index": ["index", "more.jsonl", "--workers", "1", "-q"],
}
QUICK = ("stats", "groups", "similar", "compare", "export")
DAMAGED = re.compile(
    r"is damaged \(.+\): |is damaged or|cannot be read|is another |newer winnow|older winnow"
    r"|has no page |has no capture"
)
DURATION = re.compile(r'"seconds": ?[\d.]+|[\d.]+ m?s\b')


class Answer(NamedTuple):
    code: int
    shown: str
    said: str  # on standard error


def ask(*command: str) -> Answer:
    done = CliRunner().invoke(main, [*command, "--store", "crawl.winnow"], prog_name="winnow", catch_exceptions=False)
    return Answer(done.exit_code, DURATION.sub("", done.stdout), done.stderr)


def exported() -> dict[str, dict[str, Any]]:
    lines = Path("records.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


@pytest.fixture(scope="module")
def undamaged() -> Iterator[Path]:
    """A store with captures, near-duplicates, deleted pages, clusters, boilerplate and a watch."""
    day = datetime(2024, 3, 1, tzinfo=UTC)
    pages = [Page(URL, text=sentences(300, 1), title="An earlier one", fetched_at=day - timedelta(9))]
    for number in range(1, 25):
        text, time = f"{sentences(100 + 20 * number, number)} {'é日' * (number % 3)}", day + timedelta(number)
        for site in ("a", "b")[: 1 + number % 2]:
            url, title = f"http://{site}.example/{number}", f"{site} {sentences(4, number + 50)}"
            pages.append(Page(url, text=f"{text} {site * 9}", title=title, fetched_at=time))
    with TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder, chdir(folder):
        with Index.open("crawl.winnow") as index:
            for start in range(0, len(pages), 5):
                index.add(pages[start : start + 5])
            index.store.delete([index.page("http://a.example/7").id])
            index.store.set_clusters({index.page(COPY).id: index.page(URL).id})
            index.add_boilerplate("footer", text=sentences(20, 9))
            index.add_watch("press", url=URL)
        json_lines(Path("more.jsonl"), {"url": URL, "text": sentences(90, 77)})
        yield Path(folder, "crawl.winnow")


def damaged(content: bytes, seed: int) -> bytes:
    """Return the file after an accident: wrong bits, a wrong, lost or misplaced page, or a lost end."""
    source, wrong = Random(seed), bytearray(content)
    page = source.randrange(len(wrong) // PAGE_SIZE) * PAGE_SIZE
    match source.randrange(6):
        case 0:
            wrong[page : page + PAGE_SIZE] = bytes(PAGE_SIZE)
        case 1:
            start = page + source.randrange(PAGE_SIZE)
            wrong[start : page + PAGE_SIZE] = source.randbytes(page + PAGE_SIZE - start)
        case 2:
            other = source.randrange(len(wrong) // PAGE_SIZE) * PAGE_SIZE
            wrong[page : page + PAGE_SIZE] = wrong[other : other + PAGE_SIZE]
        case 3:
            del wrong[source.randrange(len(wrong)) :]
        case 4:
            wrong[page + source.randrange(100)] ^= 1 << source.randrange(6)  # where a page describes itself
        case _:
            for _ in range(source.choice((1, 1, 8))):
                wrong[source.randrange(len(wrong))] ^= 1 << source.randrange(6)
    return bytes(wrong)


def put(content: bytes) -> None:
    for name in ("crawl.winnow", "crawl.winnow-wal", "crawl.winnow-shm", "records.jsonl"):
        Path(name).unlink(missing_ok=True)
    Path("crawl.winnow").write_bytes(content)


def trial(answers: dict[str, Answer], records: dict[str, Any], names: Sequence[str]) -> Counter[str]:
    """Ask all questions of a damaged file, and count the outcomes. Nothing that is stored may be shown otherwise."""
    outcomes: Counter[str] = Counter()
    for name in names:
        answer = ask(*(READING | WRITING)[name])
        assert "Traceback" not in answer.said, answer
        assert "This is a bug" not in answer.shown, (name, answer)
        if answer == answers.get(name) or (name in WRITING and answer.code in (0, 1)):
            outcomes["right"] += 1
        elif answer.code == 2:
            assert DAMAGED.search(answer.said or answer.shown), (name, answer)
            assert answer.said.count("\n") <= 1, (name, answer)
            outcomes["error"] += 1
        else:
            # An index of SQLite that leads to no row, say. But what is shown is right.
            outcomes["other"] += 1
            assert answer.code in (0, 1), (name, answer)
    if Path("records.jsonl").exists():
        for id_, record in exported().items():
            assert {**record, "cluster": ""} == {**records[id_], "cluster": ""}
    return outcomes


def trials(store: Path, seeds: range, names: Sequence[str]) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    with chdir(store.parent):
        content = store.read_bytes()
        answers = {name: ask(*READING[name]) for name in names if name in READING}
        assert {name: answer for name, answer in answers.items() if answer.code} == {}
        records = exported()
        for seed in seeds:
            faulthandler.dump_traceback_later(TRIAL_SECONDS, exit=True)
            put(damaged(content, seed))
            try:
                outcomes += trial(answers, records, names)
            except BaseException as error:
                error.add_note(f"seed {seed}")
                raise
            finally:
                faulthandler.cancel_dump_traceback_later()
                put(content)
    return outcomes


def test_a_damaged_file(undamaged: Path) -> None:
    assert trials(undamaged, range(6), QUICK)["error"]


@pytest.mark.check
def test_every_command_on_damaged_files(undamaged: Path) -> None:
    outcomes = trials(undamaged, range(100, 160), [*READING, *WRITING])
    assert outcomes["other"] < outcomes.total() / 20, outcomes


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1_000, 5_000, 500))
def test_every_command_on_thousands_of_damaged_files(
    undamaged: Path, first: int, record_property: Callable[[str, int], None]
) -> None:
    outcomes = trials(undamaged, range(first, first + 500), [*READING, *WRITING])
    record_property("files", 500)
    for outcome, number in outcomes.items():
        record_property(f"answers: {outcome}", number)
    assert outcomes["other"] < outcomes.total() / 20, outcomes
