"""Rotation: the stored fingerprints of a store of the selection koala change by epoch."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page, Scheme, StoreError
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.selection import searched_fingerprints
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.upkeep.rotation import RotationReport
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import WriteOutcome
from tests.evading import without_fingerprints
from tests.test_index import prose

pytestmark = pytest.mark.check_on_engine
SCHEME = Scheme.preset("koala")
SITE = "https://a.example"
TEXTS = {f"{SITE}/{number}": prose(f"page {number}", 1_500) for number in range(8)}


@pytest.fixture
def address(new_name: Callable[[], str]) -> str:
    return new_name()


@pytest.fixture
def index(address: str) -> Iterator[Index]:
    with Index.open(address, scheme=SCHEME) as index:
        index.add(Page(url, text=text) for url, text in TEXTS.items())
        yield index


def stored(index: Index) -> dict[str, set[int]]:
    return {record.url: set(record.hashes.fingerprints) for record in index.store.scan(Record)}


def found(index: Index, text: str) -> set[str]:
    return {match.url for match in index.similar(text=text, min_containment=0)}


def test_who_has_edited_away_the_stored_fingerprints_is_found_after_a_rotation(index: Index) -> None:
    edited = {url: without_fingerprints(TEXTS[url], prints, SCHEME)[0] for url, prints in stored(index).items()}
    assert not any(url in found(index, text) for url, text in edited.items())
    index.rotate()
    assert all(found(index, text) == {url} for url, text in edited.items())


def test_all_pages_get_other_fingerprints_and_are_found_as_before(index: Index) -> None:
    before = stored(index)
    pages = {record.url: record for record in index.store.scan(Record)}
    index.store.set_clusters({record.id: pages[f"{SITE}/0"].id for record in pages.values()})
    for epoch in (1, 2):
        report = index.rotate()
        assert report == RotationReport(epoch, len(TEXTS), 0, 0, finished=True)
        after = stored(index)
        assert all(len(after[url]) == SCHEME.stored and not after[url] & before[url] for url in TEXTS)
        before = after
        for url, text in TEXTS.items():
            assert found(index, text[:5_000]) == {url}
    for record in index.store.scan(Record):  # nothing else has changed
        assert record.text == TEXTS[record.url]
        assert record.cluster == pages[f"{SITE}/0"].id
        assert record.hashes.text_digest == pages[record.url].hashes.text_digest
        assert record.hashes.minhash == pages[record.url].hashes.minhash
    assert index.store.count() == len(TEXTS)


def test_new_pages_have_the_fingerprints_of_the_epoch(index: Index, address: str) -> None:
    index.rotate()
    with Index.open(address) as again:
        again.add([Page(f"{SITE}/copy", text=TEXTS[f"{SITE}/1"])])
        assert stored(again)[f"{SITE}/copy"] == stored(again)[f"{SITE}/1"]


def test_a_rotation_that_was_stopped_continues(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opensearch_winnow.operations.upkeep.rotation.BATCH_SIZE", 3)
    before = stored(index)
    answers = iter([False, False, True])
    report = index.rotate(stop=lambda: next(answers))
    assert report == RotationReport(1, 6, 0, 0, finished=False)
    assert sum(before[url] != prints for url, prints in stored(index).items()) == 6
    for url, text in TEXTS.items():
        assert found(index, text) == {url}
    assert index.rotate() == RotationReport(1, 2, 6, 0, finished=True)
    assert index.rotate().epoch == 2


def test_a_page_that_is_replaced_meanwhile_keeps_its_new_text(index: Index) -> None:
    url, new = f"{SITE}/3", prose("new", 1_500)
    write = index.store.set_fingerprints

    def replaced_just_before(records: list[Record]) -> int:
        if records:
            index.add([Page(url, text=new)])
        return write(records)

    index.store.set_fingerprints = replaced_just_before  # type: ignore[assignment, method-assign]
    index.rotate()
    assert index.page(url).text == new
    assert found(index, new) == {url}
    assert stored(index)[url] <= set(searched_fingerprints(canonical(new, SCHEME).chars, SCHEME, SCHEME.w, array("Q")))


@pytest.mark.parametrize(("text", "kept"), [(TEXTS[f"{SITE}/0"], False), (prose("short", 30), True)])
def test_pages_without_stored_text_and_short_ones_keep_their_fingerprints(
    tmp_path: Path, text: str, kept: bool
) -> None:
    (tmp_path / "page.txt").write_text(text, "utf-8")
    with Index.open(tmp_path / "crawl.winnow", scheme=SCHEME) as index:
        index.index([tmp_path / "page.txt"], text=kept)
        before = stored(index)
        assert index.rotate() == RotationReport(1, 0, int(kept), int(not kept), finished=True)
        assert stored(index) == before
        assert all(before.values())


def test_only_koala_rotates(file_index: Index) -> None:
    file_index.add([Page(SITE, text=prose("a", 500))])
    with pytest.raises(StoreError, match="has the selection winnow, which keeps every fingerprint"):
        file_index.rotate()


def test_a_rotated_file_is_not_larger(tmp_path: Path) -> None:
    path = tmp_path / "crawl.winnow"
    with Index.open(path, scheme=SCHEME) as index:
        index.add(Page(url, text=text) for url, text in TEXTS.items())
        index.store.erase()
        size = path.stat().st_size
        index.rotate()
        index.store.erase()
        assert path.stat().st_size <= size * 1.05


@pytest.mark.parametrize("damage", ["nothing", "another text"])
def test_a_file_keeps_the_hashes_that_its_text_does_not_give(tmp_path: Path, damage: str) -> None:
    """A record whose positions are not those of its text, as other software may write it, is read as it was written."""
    with Index.open(tmp_path / "a.winnow", scheme=SCHEME) as index:
        index.add([Page(SITE, text=TEXTS[f"{SITE}/0"])])
        (record,) = index.store.scan(Record)
    if damage == "another text":
        record.text = "Short."
    with EmbeddedStore.open(tmp_path / "b.winnow", SCHEME, create=True) as store:
        assert store.write([record]) == [WriteOutcome(record.id, "added")]
        assert list(store.scan(Record)) == [record]
