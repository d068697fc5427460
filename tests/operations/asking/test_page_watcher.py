"""Watches while indexing: what a run reports is what a check would list as new, on both kinds of store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from opensearch_winnow import Index, Page, Scheme
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.operations.asking import watch_log
from opensearch_winnow.queries.asking import question_table
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.lazy_store import LazyStore
from opensearch_winnow.stores.store import Store
from opensearch_winnow.types import Watch
from tests.test_index import near, prose

pytestmark = pytest.mark.check_on_engine
ARTICLE, OTHER = prose("article", 200), prose("other", 200)
JANUARY, MARCH = (datetime(2024, month, 1, tzinfo=UTC) for month in (1, 3))
GUARANTEE = Scheme().guarantee


@pytest.fixture
def index(empty_index: Index) -> Index:
    empty_index.add([Page("https://a.example/article", text=ARTICLE, fetched_at=JANUARY)])
    return empty_index


def add(index: Index, url: str, text: str, time: datetime | None = MARCH) -> list[Finding]:
    return index.add([Page(url, text=text, fetched_at=time, title="A page")]).findings


def found(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(each.watch, each.url) for each in findings]


@pytest.mark.parametrize("question", [{"url": "https://a.example/article"}, {"text": ARTICLE}], ids=["url", "text"])
def test_a_copy_is_reported_once_when_it_is_indexed(index: Index, question: dict[str, Any]) -> None:
    index.add_watch("article", **question)
    assert add(index, "https://b.example/other", OTHER) == []
    before = datetime.now(UTC)
    (finding,) = add(index, "https://c.example/copy", f"{OTHER} {ARTICLE[200:900]}")
    assert found([finding]) == [("article", "https://c.example/copy")]
    assert before <= finding.at <= datetime.now(UTC)
    assert (finding.title, finding.fetched_at, finding.longest) == ("A page", MARCH, 699)
    report = index.check_watch("article")
    (match,) = (each for each in report.matches if each.id in report.new)
    assert (match.card.id, match.containment) == (finding.id, finding.containment)
    assert list(index.watch_log()) == [finding]
    # Neither the same page again nor a later capture of it is news.
    assert add(index, "https://c.example/copy", f"{OTHER} {ARTICLE[200:900]}") == []
    assert add(index, "https://c.example/copy", ARTICLE, MARCH + timedelta(1)) == []
    assert list(index.watch_log()) == [finding]


def test_what_was_seen_is_not_reported(index: Index) -> None:
    add(index, "https://b.example/copy", near(ARTICLE, 1, 3), JANUARY)
    index.add_watch("article", text=ARTICLE)
    assert add(index, "https://b.example/copy", near(ARTICLE, 1, 3)) == []
    assert add(index, "https://a.example/article", f"{ARTICLE} More.") == []
    # A page that contained nothing of it before, and does now, is new.
    assert add(index, "https://d.example/", OTHER, JANUARY) == []
    assert found(add(index, "https://d.example/", ARTICLE)) == [("article", "https://d.example/")]


def test_a_run_reports_each_watch_and_page_once(index: Index) -> None:
    index.add_watch("a", text=ARTICLE)
    index.add_watch("b", text=ARTICLE)
    index.add_watch("other", text=OTHER, min_containment=0)
    told: list[Sequence[Finding]] = []
    texts = {1: ARTICLE, 2: f"{ARTICLE} {OTHER}", 3: prose("third", 300)}
    pages = [Page(f"https://c.example/{number}", text=text, fetched_at=MARCH) for number, text in texts.items()]
    pages.insert(1, Page("https://c.example/1", text=near(ARTICLE, 1, 1), fetched_at=MARCH + timedelta(1)))
    report = index.add(pages, on_findings=told.append)
    expected = {("a", 1), ("b", 1), ("a", 2), ("b", 2), ("other", 2)}
    assert sorted(found(report.findings)) == sorted((name, f"https://c.example/{page}") for name, page in expected)
    assert (report.finding_count, report.finding_watches) == (5, 3)
    assert [each for batch in told for each in batch] == report.findings
    assert {each.fetched_at for each in report.findings} == {MARCH}  # the first capture of each page


def test_a_watch_on_a_page_that_is_gone_stops_nothing(index: Index) -> None:
    index.add_watch("gone", url="https://a.example/article")
    index.add_watch("text", text=ARTICLE)
    kept = index.store.settings.with_prefix("watch:")
    index.store.delete([card.id for card in captures(index.store, "https://a.example/article")])
    report = index.add([Page("https://c.example/copy", text=ARTICLE, fetched_at=MARCH)])
    assert found(report.findings) == [("text", "https://c.example/copy")]
    assert report.unanswered_watches == {"gone": f"{index.name} has no page https://a.example/article"}
    assert index.store.settings.with_prefix("watch:") == kept


def test_a_run_uses_the_watches_that_there_are_when_it_begins(index: Index) -> None:
    index.add_watch("a", text=ARTICLE)
    assert found(add(index, "https://b.example/1", ARTICLE)) == [("a", "https://b.example/1")]
    questions = index._destination._questions
    add(index, "https://b.example/2", OTHER)
    assert index._destination._questions is questions  # not made again
    index.add_watch("other", url="https://b.example/2")
    assert found(add(index, "https://c.example/2", f"{OTHER} And so on.")) == [("other", "https://c.example/2")]
    add(index, "https://b.example/2", prose("third", 200), MARCH + timedelta(1))  # the watched page is another one now
    assert found(add(index, "https://d.example/2", OTHER)) == []
    assert found(add(index, "https://d.example/3", prose("third", 200))) == [("other", "https://d.example/3")]
    index.remove_watch("a")
    index.add_boilerplate("third", prose("third", 200))
    assert add(index, "https://e.example/", f"{ARTICLE} {prose('third', 200)}") == []
    index.add_watch("a", text=ARTICLE, seen=False)  # another watch of the same name knows nothing of the first
    assert found(add(index, "https://b.example/1", near(ARTICLE, 1, 1))) == [("a", "https://b.example/1")]


def test_boilerplate_is_no_finding(index: Index) -> None:
    index.add_boilerplate("licence", OTHER)
    index.add_watch("licensed", text=f"{ARTICLE} {OTHER}", min_containment=0)
    assert add(index, "https://b.example/licensed", f"{prose('b', 100)} {OTHER}") == []
    assert len(add(index, "https://c.example/copy", f"{prose('c', 100)} {ARTICLE[:400]}")) == 1


def test_pages_without_stored_texts_are_estimated(file_index: Index, tmp_path: Path) -> None:
    text = prose("long", 3_000)
    (tmp_path / "first.txt").write_text(OTHER)
    file_index.index(tmp_path / "first.txt", text=False, workers=1)
    file_index.add_watch("long", text=text)
    assert add(file_index, "https://b.example/other", prose("b", 3_000)) == []
    (finding,) = add(file_index, "https://c.example/copy", text)
    assert (finding.containment, finding.longest) == (1.0, 0)
    assert file_index.check_watch("long").new == {finding.id}


@pytest.mark.check
def test_watches_are_added_together(index: Index) -> None:
    texts = {f"watch {number:03}": prose(number, 60) for number in range(120)}
    watches = [Watch(name=name, text=text, min_containment=0) for name, text in texts.items()]
    watches.append(Watch(name="page", url="https://a.example/article"))
    assert index.add_watches(watches, seen=False) == 121
    assert sorted(index.watches(), key=lambda each: each.name) == sorted(watches, key=lambda each: each.name)
    assert index.watch_names() == sorted([*texts, "page"])
    assert index.watch("page").url == "https://a.example/article"
    quoted = Random(0).sample(sorted(texts), 20)
    quoting = {name: f"{prose(name, 99)} {_passage(texts[name])} {prose(name * 2, 99)}" for name in quoted}
    quoting["none"] = prose("none", 500)
    findings = index.add(Page(f"https://b.example/{name}", text=text) for name, text in quoting.items()).findings
    assert sorted(found(findings)) == sorted((name, f"https://b.example/{name}") for name in quoted)


def test_a_page_may_match_more_watches_than_are_compared(file_index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_table, "MAX_CANDIDATES", 3)
    file_index.add([Page("https://b.example/", text=OTHER)])
    texts = {str(number): f"{ARTICLE[:300]} {prose(number, 50)}" for number in range(5)}
    file_index.add_watches(Watch(name=name, text=text, min_containment=0) for name, text in texts.items())
    report = file_index.add([Page("https://c.example/", text=ARTICLE)])
    assert (report.finding_count, report.incompletely_watched) == (3, 1)
    monkeypatch.setattr(question_table, "MAX_POSTINGS_PER_PAGE", 4)
    report = file_index.add([Page("https://d.example/", text=ARTICLE), Page("https://e.example/", text=prose("e", 90))])
    assert (report.finding_count, report.incompletely_watched) == (0, 1)


@pytest.mark.check
def test_the_log_is_bounded_and_filtered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_log, "MAX_FINDINGS", 40)
    monkeypatch.setattr(watch_log, "FINDINGS_PER_PART", 10)
    assert watch_log.WatchLog(store).read() == []
    added = []
    for run in range(12):
        log = watch_log.WatchLog(store)
        for batch in range(2):
            some = [_finding(run * 8 + batch * 4 + number) for number in range(4)]
            log.add(some)
            added += some
    newest = added[::-1]
    assert watch_log.WatchLog(store).read() == newest[:40]
    assert len(store.settings.with_prefix()) <= 7
    assert watch_log.WatchLog(store).read(["even"])[:3] == newest[1:7:2]
    assert watch_log.WatchLog(store).read(since=newest[4].at) == newest[:5]
    watch_log.WatchLog(store).add([_finding(1_000 + number) for number in range(35)])
    assert [each.longest for each in watch_log.WatchLog(store).read()[:36]] == [*range(1_034, 999, -1), 95]


CHUNKS = [prose(f"chunk {number}", 30) for number in range(6)]
MADE_TEXT = st.lists(st.sampled_from(CHUNKS), min_size=1, max_size=5).map(" ".join)
MADE_PAGE = st.tuples(st.sampled_from("pqrs"), MADE_TEXT)


@given(
    before=st.lists(MADE_PAGE, min_size=1, max_size=4),
    watched=st.lists(st.tuples(MADE_TEXT | st.none(), st.sampled_from([0, 0.3, 0.9])), min_size=1, max_size=4),
    after=st.lists(st.lists(MADE_PAGE, min_size=1, max_size=4), min_size=1, max_size=3),
    boilerplate=st.booleans(),
)
@settings(max_examples=10, deadline=None)
def test_runs_report_what_checks_list_as_new(
    new_store: Callable[[], Store],
    before: list[tuple[str, str]],
    watched: list[tuple[str | None, float]],
    after: list[list[tuple[str, str]]],
    boilerplate: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    failed = tmp_path_factory.getbasetemp() / "failed.jsonl"
    days = iter(range(100))  # a capture that is replaced would be reported, and not listed afterwards

    def made(site: str, text: str) -> Page:
        return Page(f"https://{site}.example/", text=f"{text} {site}", fetched_at=JANUARY + timedelta(next(days)))

    with new_store() as store:
        index = Index(_Opened(store))
        if boilerplate:
            index.add_boilerplate("licence", CHUNKS[0])
        index.add([made(*each) for each in before], failed=failed)
        for number, (text, share) in enumerate(watched):
            url = f"https://{before[0][0]}.example/" if text is None else None
            index.add_watch(str(number), url=url, text=text, min_containment=share)
        reported: set[tuple[str, str]] = set()
        for pages in after:
            report = index.add([made(*each) for each in pages], failed=failed)
            assert not reported.intersection(found(report.findings))
            reported.update(found(report.findings))
        for name in (str(number) for number, (text, _) in enumerate(watched) if text is not None):
            checked = index.check_watch(name)
            new = {each.url for each in checked.matches if each.id in checked.new}
            assert {url for watch, url in reported if watch == name} == new


class _Opened(LazyStore):
    """A store that is open already."""

    def __init__(self, store: Store) -> None:
        self.name = self.shown_name = store.name
        self._store = store
        self._wanted_scheme = None

    def get(self, *, to_write: bool = False) -> Store:  # noqa: ARG002
        assert self._store is not None
        return self._store

    @property
    def files(self) -> list[Path]:
        return []


def _passage(text: str) -> str:
    """Return the shortest beginning of a text that is guaranteed to be found."""
    return next(text[:end] for end in range(len(text)) if len(canonical(text[:end], Scheme()).chars) >= GUARANTEE)


def _finding(number: int) -> Finding:
    at, watch = JANUARY + timedelta(seconds=number), "odd" if number % 2 else "even"
    place: dict[str, Any] = {"id": f"{number:032x}", "url": f"https://example.org/{number}", "title": None}
    return Finding(at=at, watch=watch, fetched_at=None, containment=0.5, longest=number, **place)
