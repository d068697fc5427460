"""A takedown holds, whatever other programs do meanwhile: on both kinds of store, at every moment of a run."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest

from opensearch_winnow import Index, Page, QuestionError
from opensearch_winnow.ingest.runs.pages_before_run import PagesBeforeRun
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.operations.asking.watch_log import WatchLog
from opensearch_winnow.operations.clusters import clustering
from opensearch_winnow.operations.upkeep.boilerplate import RegisteredBoilerplate
from opensearch_winnow.stores.blocked_pages import change_blocked
from opensearch_winnow.stores.embedded import writes
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.writes import Writer
from opensearch_winnow.stores.store_writer import StoreWriter
from tests.test_index import near, prose

SECRET, OTHER = "https://a.example/secret", "https://b.example/other"
Action = Callable[[], object]
pytestmark = pytest.mark.check_on_engine


@pytest.fixture
def name(new_name: Callable[[], str]) -> str:
    """The name of a store with one page."""
    made = new_name()
    with Index.open(made) as index:
        index.add([Page("https://first.example/", text=prose("first", 100))])
    return made


def take_down(name: str, url: str = SECRET) -> None:
    """Block the page, as another process does."""
    with Index.open(name) as index:
        index.delete(url, block=True, erase=False)


def urls(name: str) -> set[str]:
    with Index.open(name) as index:
        return {card.url for card in index.store.scan(Card)}


def once(monkeypatch: pytest.MonkeyPatch, owner: Any, method: str, act: Action, *, after: bool = False) -> None:
    """Let a method call `act` before or after its work, the first time."""
    usual, waiting = getattr(owner, method), [act]

    def replaced(*args: Any, **kwargs: Any) -> Any:
        if waiting and not after:
            waiting.pop()()
        result = usual(*args, **kwargs)
        if waiting and after:
            waiting.pop()()
        return result

    monkeypatch.setattr(owner, method, replaced)


# What happens just before, or just after, the page is taken down: by the store, as both write in other ways.
MOMENTS: dict[str, list[tuple[Any, str, bool]]] = {
    "embedded": [
        (PagesBeforeRun, "look_up", False),
        (StoreWriter, "write", False),
        (writes, "_pages", True),  # the rows are made, and the transaction is not open
        (StoreWriter, "_settle", True),
    ],
    "opensearch": [
        (PagesBeforeRun, "look_up", False),
        (StoreWriter, "write", False),
        (Writer, "_write_all", False),  # the list has been read
        (Writer, "_write", False),
        (Writer, "_write", True),  # written, and not visible yet
        (Writer, "_write_all", True),  # visible, and the list is not read again
        (StoreWriter, "_settle", True),
    ],
}


def test_a_page_that_is_blocked_during_a_run_is_not_there_afterwards(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failed, stays = tmp_path / "failed.jsonl", {"https://first.example/"}
    with Index.open(name) as index:
        for number, (owner, method, after) in enumerate(MOMENTS["opensearch" if "://" in name else "embedded"]):
            secret, other = f"{SECRET}/{number}", f"{OTHER}/{number}"
            with monkeypatch.context() as patched:
                once(patched, owner, method, partial(take_down, name, secret), after=after)
                report = index.add([Page(url, text=prose(url, 100)) for url in (secret, other)], failed=failed)
            too_late = method == "_settle"  # it was stored, and then deleted
            assert (report.indexed, report.skipped) == ((2, {}) if too_late else (1, {"blocked": 1})), method
            stays.add(other)
            assert urls(name) == stays, method
            assert index.search(f'"{prose(secret, 100).rpartition(" ")[0]}"').total == 0
    assert not failed.exists()


def test_takedowns_at_once_are_all_on_the_list(name: str) -> None:
    together = Barrier(4)

    def block(number: int) -> None:
        with Index.open(name) as index:
            together.wait(60)
            for each in range(5):
                change_blocked(index.store, add=[f"https://{number}.example/{each}"])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(block, range(4)))
    with Index.open(name) as index:
        assert index.blocked() == [f"https://{number}.example/{each}" for number in range(4) for each in range(5)]


@pytest.mark.check
def test_races_of_threads(name: str) -> None:
    """Each page is taken down at another moment of its run: one of a file takes some 20 ms, of an engine 100 ms."""
    step = 0.01 if "://" in name else 0.0015
    secrets = [f"{SECRET}/{number}" for number in range(16)]
    together = Barrier(2)

    def write() -> None:
        with Index.open(name) as index:
            for secret in secrets:
                together.wait(60)
                index.add([Page(url, text=prose(url, 100)) for url in (secret, f"{OTHER}/{secret}")])

    with ThreadPoolExecutor(1) as pool, Index.open(name) as index:
        writing = pool.submit(write)
        for number, secret in enumerate(secrets):
            together.wait(60)
            time.sleep(number * step)
            index.delete(secret, block=True, erase=False)
        writing.result()
    assert urls(name) == {"https://first.example/", *(f"{OTHER}/{secret}" for secret in secrets)}


@pytest.mark.check
def test_races_of_processes(name: str, tmp_path: Path) -> None:
    crawl = tmp_path / "crawl.jsonl"
    pages = [{"url": f"https://c.example/{number}", "text": prose(number, 300)} for number in range(400)]
    pages[300]["url"] = SECRET
    crawl.write_text("\n".join(map(json.dumps, pages)))
    winnow = str(Path(sys.executable).with_name("winnow"))
    command = [winnow, "index", str(crawl), "--store", name, "--json", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        time.sleep(0.3)
        options = ["--block", "--yes", "--no-erase", "--store", name]
        assert subprocess.run([winnow, "delete", SECRET, *options], capture_output=True, check=False).returncode < 2
        assert json.loads(run.communicate()[0])["failed"] == 0
    assert SECRET not in urls(name)
    assert len(urls(name)) == 400


@pytest.mark.check
def test_what_a_killed_run_has_left_is_deleted_by_the_next(
    engine: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine has no transactions: a process may be killed after its bulk request, before it reads the list again."""
    monkeypatch.chdir(tmp_path)
    name = f"{engine.url}/killed-{uuid4().hex}"
    secrets = [SECRET, "https://b.example/secret/1", "https://c.example/secret"]
    with Index.open(name) as index:
        index.add([Page(url, text=prose(url, 100)) for url in (*secrets, OTHER)])
        change_blocked(index.store, add=[SECRET, "https://b.example/secret/*", "site:c.example"])
    assert urls(name) == {*secrets, OTHER}
    with Index.open(name) as index:
        index.add([Page("https://d.example/", text=prose("d", 100))])
    assert urls(name) == {OTHER, "https://d.example/"}


# --- what a store keeps of a page beside it ---------------------------------------------------------------------------


ARTICLE = prose("article", 200)
QUOTING = [Page(url, text=ARTICLE, title="Zyzzyva") for url in (SECRET, OTHER)]


@pytest.fixture
def watched(name: str) -> Iterator[Index]:
    with Index.open(name) as index:
        index.add_watch("article", text=ARTICLE, seen=False)
        yield index


def test_a_finding_is_not_logged_once_its_page_is_gone(
    name: str, watched: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Finding] = []
    once(monkeypatch, WatchLog, "add", lambda: take_down(name))
    report = watched.add(QUOTING, on_findings=told.extend)
    assert [each.url for each in told] == [each.url for each in report.findings] == [OTHER]
    assert [each.url for each in watched.watch_log()] == [OTHER]


def test_a_run_does_not_write_a_forgotten_finding_again(
    name: str, watched: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = WatchLog(watched.store)  # of one long run
    monkeypatch.setattr("opensearch_winnow.operations.asking.page_watcher.WatchLog", lambda _store: log)
    watched.add(QUOTING)
    take_down(name)
    watched.add([Page("https://c.example/", text=ARTICLE)])
    assert {each.url for each in watched.watch_log()} == {OTHER, "https://c.example/"}


def test_boilerplate_is_deleted_with_its_page_whatever_its_name_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = prose(SECRET, 100)
    with Index.open(name) as index:
        index.add([Page(SECRET, text=text)])
        index.add_boilerplate("imprint", text, url=SECRET)
        index.add_boilerplate("licence", prose("licence", 100))
        assert index.delete(SECRET, erase=False).boilerplate == ["imprint"]
        index.add([Page(SECRET, text=text)])
        once(monkeypatch, RegisteredBoilerplate, "add", lambda: take_down(name))
        with pytest.raises(QuestionError, match=f"has no page {SECRET}"):
            index.add_boilerplate("imprint", text, url=SECRET)
        assert [each.name for each in index.boilerplate()] == ["licence"]


def test_a_clustering_run_does_not_name_what_was_deleted_meanwhile(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [SECRET, OTHER, "https://c.example/", "https://d.example/"]
    with Index.open(name) as index:
        index.add([Page(url, text=near(ARTICLE, url, 2), title=url) for url in urls])
        once(monkeypatch, clustering, "_write_back", lambda: take_down(name))
        index.cluster(representative="site:a.example")
        cards = {card.id: card for card in index.store.scan(Card)}
        assert {card.cluster for card in cards.values()} <= cards.keys()
        assert sum(card.cluster != card.id for card in cards.values()) == 2
        last = index.clustering()
        assert last is not None
        assert [each.pages for each in last.largest_clusters] == [3]
        assert SECRET not in json.dumps(last.to_dict())
