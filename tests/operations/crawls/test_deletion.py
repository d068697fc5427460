"""Deleting pages, on both kinds of store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow import Filters, Index, Page, QuestionError, StoreError
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import capture_id
from opensearch_winnow.operations.crawls import deletion, remaining_copies
from tests.test_index import near, prose

pytestmark = pytest.mark.check_on_engine
A, B, C = (f"https://{name}.example/page" for name in "abc")
YEARS = [datetime(year, 1, 1, tzinfo=UTC) for year in (2022, 2023, 2024)]
SHARED = prose("shared", 200)
TEMPLATE = "Read our other articles about mills and valleys here, or write to the editors of this journal."


@pytest.fixture
def index(empty_index: Index) -> Index:
    """An index with three captures of A, and two pages that resemble all of them and name C as canonical."""
    for number, year in enumerate(YEARS):
        add(empty_index, [Page(A, text=near(SHARED, number, 2), fetched_at=year)], crawl=f"{year:%Y}")
    named: dict[str, Any] = {"fetched_at": YEARS[2], "canonical": C}
    add(empty_index, [Page(url, text=near(SHARED, url, 2), **named) for url in (B, C)], crawl="2024")
    add(empty_index, [Page("https://b.example/other", text=prose("other", 100), fetched_at=YEARS[1])])
    return empty_index


def add(index: Index, pages: Sequence[Page], crawl: str = "") -> None:
    assert index.add(pages, crawl=crawl).indexed == len(pages)


def left(index: Index) -> list[tuple[str, int]]:
    cards = index.store.scan(Card, order="url")
    return sorted((card.url, card.fetched_at.year if card.fetched_at else 0) for card in cards)


ALL = [(A, 2022), (A, 2023), (A, 2024), (B, 2024), ("https://b.example/other", 2023), (C, 2024)]


@pytest.mark.parametrize(
    ("selected", "places"),
    [
        ({"urls": A}, [0, 1, 2]),
        ({"urls": [A, B]}, [0, 1, 2, 3]),
        ({"urls": ["https://b.example/*"]}, [3, 4]),
        ({"urls": [A], "where": Filters(until=YEARS[2])}, [0, 1]),
        ({"ids": [capture_id(A, YEARS[1]), capture_id(B, YEARS[2])]}, [1, 3]),
        ({"words": f'"{" ".join(prose("other", 100).split()[:6])}"'}, [4]),
        ({"words": SHARED.split()[100], "where": Filters(crawl="2024")}, [2, 3, 5]),
        ({"where": Filters(site="b.example")}, [3, 4]),
        ({"where": Filters(crawl="2023")}, [1]),
    ],
)
def test_what_is_selected_is_deleted(index: Index, selected: dict[str, Any], places: list[int]) -> None:
    wanted = [ALL[place] for place in places]
    found = index.delete(**selected, dry_run=True)
    assert (found.captures, found.pages, found.deleted) == (len(wanted), len({url for url, _ in wanted}), 0)
    assert sorted((card.url, card.fetched_at.year) for card in found.examples if card.fetched_at) == sorted(wanted)
    assert found.ids == [card.id for card in found.examples]
    assert left(index) == sorted(ALL)
    report = index.delete(**selected, erase=False)
    assert (report.captures, report.deleted, report.missing, report.erased) == (len(wanted), len(wanted), [], False)
    assert left(index) == sorted(each for each in ALL if each not in wanted)
    assert index.delete(**selected).captures == 0


def test_the_capture_before_is_the_latest_again(index: Index) -> None:
    index.delete(A, where=Filters(latest=True), erase=False)
    assert index.page(A).fetched_at == YEARS[1]
    assert [card.url for card in index.store.scan(Card, Filters(latest=True, site="a.example"))] == [A]
    index.delete(A, erase=False)
    with pytest.raises(QuestionError, match="has no page"):
        index.page(A)


def test_what_is_not_there_is_reported_and_another_spelling_of_it_named(index: Index) -> None:
    gone = ["https://gone.example/", "https://gone.example/*"]
    report = index.delete([*gone, B], ids=["0" * 32], erase=False)
    assert report.deleted == 1
    assert sorted(report.missing) == sorted([*gone, "0" * 32])
    assert report.known == {}
    assert index.delete(gone).captures == 0
    there = {"http://a.example/page": A, "HTTPS://A.Example/page/": A, f"{C}/": C}
    there["https://www.b.example/*"] = "https://b.example/*"
    report = index.delete([*there, "https://gone.example/"], block=True, erase=False)
    assert (report.captures, report.known) == (0, there)


def test_a_request_that_makes_no_sense(index: Index) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "say which pages to delete"),
        ({"words": " "}, "no words"),
        ({"urls": A, "words": "mill"}, "not both"),
        ({"ids": ["0" * 32], "where": Filters(site="a.example")}, "ids or filters"),
        ({"urls": ["*"]}, "empty"),
        ({"urls": ""}, "empty"),
    ]
    for selected, complaint in refused:
        with pytest.raises(QuestionError, match=complaint):
            index.delete(**selected)
    assert left(index) == sorted(ALL)


def test_what_a_deleted_representative_leaves(index: Index) -> None:
    """Pages that resemble only the deleted one are no longer in a cluster."""
    parts = [prose(part, 100) for part in ("one", "two", "three")]
    index.delete(where=Filters(since=YEARS[0]), erase=False)
    texts = {
        "first": " ".join(parts),  # the representative
        "early": " ".join(parts[:2]),
        "late": " ".join(parts[1:]),
        "like-early": near(" ".join(parts[:2]), 1, 2),
        "same-as-late": " ".join(parts[1:]).upper(),
    }
    for day, (name, text) in enumerate(texts.items(), 1):
        add(index, [Page(f"https://a.example/{name}", text=text, fetched_at=datetime(2024, 1, day, tzinfo=UTC))])
    index.cluster(threshold=0.6)
    assert clusters(index) == [["early", "first", "late", "like-early", "same-as-late"]]
    report = index.delete("https://a.example/first", erase=False)
    assert report.reclustered == 4
    assert clusters(index) == [["early", "like-early"], ["late", "same-as-late"]]
    last = index.clustering()
    assert last is not None
    assert {each.url.rpartition("/")[2] for each in last.largest_clusters} == {"early", "late"}
    index.delete("https://a.example/like-early", erase=False)
    assert clusters(index) == [["early"], ["late", "same-as-late"]]
    again = {card.url: card.cluster for card in index.store.scan(Card)}
    index.cluster(threshold=0.6)
    assert {card.url: card.cluster for card in index.store.scan(Card)} == again


@pytest.mark.parametrize(
    ("rule", "shown"), [("newest", [C, A]), ("site:b.example", [B, A]), ("earliest", [A, A]), ("canonical", [C, C, A])]
)
def test_the_rule_of_the_last_clustering_chooses_again(index: Index, rule: str, shown: list[str]) -> None:
    add(index, [Page(C, text=near(SHARED, "again", 2), fetched_at=datetime(2025, 1, 1, tzinfo=UTC))])
    index.cluster(representative=rule)
    for place, url in enumerate(shown):
        chosen = next(card for card in index.store.scan(Card) if card.cluster == card.id and "other" not in card.url)
        assert chosen.url == url
        assert index.delete(ids=[chosen.id], erase=False).reclustered == 5 - place
    assert len(clusters(index)) == 2


def test_a_chain_stays_together(index: Index) -> None:
    index.cluster(threshold=0.3, linkage="components")
    first = next(card for card in index.store.scan(Card) if card.url == A and card.cluster == card.id)
    assert index.delete(ids=[first.id], erase=False).reclustered == 4
    assert len({card.cluster for card in index.store.scan(Card) if not card.url.endswith("other")}) == 1


def clusters(index: Index) -> list[list[str]]:
    """Return the names of the pages of each cluster, and check that its id is that of one of them."""
    found: dict[str, list[str]] = {}
    cards = {card.id: card for card in index.store.scan(Card)}
    for card in cards.values():
        assert cards[card.cluster].cluster == card.cluster
        found.setdefault(card.cluster, []).append(card.url.rpartition("/")[2])
    return sorted(sorted(names) for names in found.values())


def test_watches_forget_what_is_deleted(index: Index) -> None:
    index.add_watch("a", url=A)
    index.add_watch("text", text=SHARED)
    report = index.delete([A, C], erase=False)
    assert report.watches == ["a"]
    kept = index.store.settings.with_prefix("watch:")
    assert capture_id(B, YEARS[2]) in kept["watch:text"]["seen"]
    for seen in (kept["watch:a"]["seen"], kept["watch:text"]["seen"]):
        assert not {capture_id(C, YEARS[2]), capture_id(A, YEARS[2])}.intersection(seen)
    with pytest.raises(QuestionError, match="has no page"):
        index.check_watch("a")
    add(index, [Page(C, text=SHARED, fetched_at=YEARS[2])])
    assert index.check_watch("text").new == {capture_id(C, YEARS[2])}
    assert [finding.url for finding in index.watch_log()] == [C]
    assert index.delete(B, where=Filters(until=YEARS[1]), erase=False).watches == []
    index.delete(C, erase=False)
    assert not index.watch_log()


def test_templates_are_learned_again(index: Index) -> None:
    for site in (1, 2):
        texts = [f"{TEMPLATE} {site} {prose((site, n), 60)}" for n in range(12)]
        add(index, [Page(f"https://site{site}.example/{n}", text=text) for n, text in enumerate(texts)])
    index.learn_boilerplate()
    index.add_boilerplate(C, SHARED)
    index.add_boilerplate("licence", prose("licence", 60))
    names = [f"template of site{site}.example" for site in (1, 2)]
    assert [each.name for each in index.boilerplate()] == [C, "licence", *names]
    report = index.delete(["https://site1.example/1", "https://b.example/other"], erase=False)
    assert report.boilerplate == []  # the same template was learned again
    assert index.delete([f"https://site1.example/{n}" for n in range(2, 12)], erase=False).boilerplate == names[:1]
    assert index.delete(C, erase=False).boilerplate == [C]
    assert [each.name for each in index.boilerplate()] == ["licence", names[1]]


def test_a_run_that_is_stopped_has_cleaned_up(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "BATCH_SIZE", 1)
    index.cluster()
    index.add_watch("text", text=SHARED)
    seen = set(index.store.settings.get("watch:text")["seen"])
    phases: list[tuple[str, int, int | None]] = []
    report = index.delete(A, progress=lambda *phase: phases.append(phase), stop=lambda: len(phases) == 3)
    assert (report.captures, report.deleted, report.stopped, report.erased) == (3, 2, True, False)
    assert phases == [*(("deleting", done, 3) for done in range(3)), ("cleaning up", 0, None)]
    assert len(left(index)) == 4
    assert report.reclustered == 2 + 1
    assert set(index.store.settings.get("watch:text")["seen"]) == seen & {card.id for card in index.store.scan(Card)}
    clusters(index)
    assert index.delete(A, erase=False).deleted == 1


def test_what_is_blocked_is_not_indexed_again(index: Index, tmp_path: Path) -> None:
    index.delete([A, "https://b.example/o*"], block=True, dry_run=True)
    assert index.blocked() == []
    index.delete([A, "https://b.example/o*", "https://gone.example/"], block=True, erase=False)
    index.delete(where=Filters(site="c.example"), block=True, erase=False)
    blocked = [A, "https://b.example/o*", "https://gone.example/", "site:c.example"]
    assert index.blocked() == blocked
    urls = [A, B, "https://b.example/other", "https://c.example/new", "https://gone.example/", f"{A}/2"]
    pages = [Page(url, text=prose(url, 100), fetched_at=YEARS[2]) for url in urls]
    pages.append(Page("https://c.example/broken", html=b"x" * 11_000_000))
    report = index.add(pages, failed=tmp_path / "failed.jsonl")
    assert (report.indexed, report.skipped, report.failed.total()) == (2, {"blocked": 5}, 0)
    assert left(index) == [(f"{A}/2", 2024), (B, 2024)]
    index.unblock([A])
    assert index.blocked() == blocked[1:]
    add(index, pages[:1])
    there = "; there is site:c.example"
    for entry, hint in ((A, "$"), ("c.example", there), ("https://c.example/x", there)):
        with pytest.raises(QuestionError, match=f"does not block {entry}{hint}"):
            index.unblock([entry])
    index.unblock(blocked[1:])
    assert index.blocked() == []
    for selected in ({"ids": ["0" * 32]}, {"words": "mill"}, {"where": Filters(site="a.example", crawl="2024")}):
        with pytest.raises(QuestionError, match="only URLs or a site can be blocked"):
            index.delete(**selected, block=True)


def test_copies_at_other_addresses_are_named(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    text = prose("copied", 200)
    named = {"https://1.example/": text, "https://2.example/": text.upper(), "https://3.example/": near(text, 1, 2)}
    add(index, [Page("https://0.example/", text=text, fetched_at=YEARS[0])])
    add(index, [Page(url, text=each, fetched_at=YEARS[1]) for url, each in named.items()])
    add(index, [Page("https://1.example/", text=text, fetched_at=YEARS[2])])
    others = {"https://4.example/": f"{text} {prose('more', 200)}", "https://5.example/": "Hm."}
    add(index, [Page(url, text=each) for url, each in others.items()])
    planned = index.delete("https://0.example/", dry_run=True).copies
    assert (planned.total, planned.near, [each.url for each in planned.listed]) == (3, True, list(named))
    assert [each.of for each in planned.listed] == ["https://0.example/"] * 3
    same, capitals, changed = (each.resemblance for each in planned.listed)
    assert same == capitals == 1
    assert 0.8 <= changed < 1
    assert index.delete("https://0.example/", erase=False).copies == planned
    # Neither captures that are deleted too, nor other captures of the same page.
    assert index.delete([*named], dry_run=True).copies.total == 0
    one_capture = index.delete(ids=[capture_id("https://1.example/", YEARS[1])], dry_run=True)
    assert [each.url for each in one_capture.copies.listed] == ["https://2.example/", "https://3.example/"]
    assert index.delete("https://5.example/", dry_run=True).copies.listed == []
    # A list that is cut says so, and near-copies of many texts are not looked for.
    monkeypatch.setattr(remaining_copies, "MAX_LISTED", 1)
    monkeypatch.setattr(remaining_copies, "MAX_COMPARED_TEXTS", 0)
    found = index.delete("https://2.example/", dry_run=True).copies
    assert (found.total, found.near, [each.url for each in found.listed]) == (1, False, ["https://1.example/"])
    monkeypatch.setattr(remaining_copies, "MAX_COMPARED_TEXTS", 1)
    found = index.delete("https://2.example/", dry_run=True).copies
    assert (found.total, len(found.listed)) == (2, 1)


def test_copies_of_a_text_with_fewer_words_than_a_shingle_are_named(index: Index) -> None:
    texts = enumerate(("Call Jane", "call, Jane!", "Call"))
    add(index, [Page(f"https://{number}.example/", text=text) for number, text in texts])
    (copy,) = index.delete("https://0.example/", dry_run=True).copies.listed
    assert copy.url == "https://1.example/"


def test_a_cursor_does_not_lead_to_a_page_that_was_taken_down(index: Index) -> None:
    """Its results are frozen: the page is still among them."""
    results = index.search(SHARED.split()[100], stable=True, limit=1)
    assert results.cursor is not None
    index.delete([A, B, C], block=True, erase=False)
    with pytest.raises(StoreError, match="the cursor has expired: search again; pages that it found were deleted for"):
        index.search(cursor=results.cursor)


def test_nothing_is_left_in_the_file(tmp_path: Path) -> None:
    marks = [b"zyzzyva-text", b"zyzzyva-title", b"example.org/zyzzyva-url"]

    def found() -> list[bytes]:
        content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        return [mark for mark in marks if mark in content]

    with Index.open(tmp_path / "crawl.winnow") as index:
        secret = Page("https://example.org/zyzzyva-url", text="zyzzyva-text", title="zyzzyva-title")
        index.add([Page(f"https://example.org/{n}", text=prose(n, 100)) for n in range(50)])
        index.add([secret])
        index.add([secret, Page("https://example.org/last", text=prose("last", 100))])
        index.search("zyzzyva", stable=True, limit=1)
        assert found() == marks
        assert index.delete(secret.url, erase=False).deleted == 1
        assert found()
        index.store.erase()
        assert found() == []
        assert index.statistics().pages == 51
        index.store.verify()  # type: ignore[attr-defined]
        index.add([secret])
        index.delete(secret.url)
        assert found() == []


def test_a_file_that_is_being_read_cannot_be_erased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opensearch_winnow.stores.embedded.file.WRITE_WAIT_SECONDS", 0.1)
    path = tmp_path / "crawl.winnow"
    with Index.open(path) as index, Index.open(path) as other:
        index.add([Page(f"https://example.org/{n}", text=prose(n, 100)) for n in range(5)])
        reading = other.store.scan(Card)
        next(reading)
        with pytest.raises(StoreError, match="is being read by another process"):
            index.delete("https://example.org/1")
        assert len(list(reading)) == 4  # it sees one state of the store
        index.store.erase()
        assert index.store.count() == 4
