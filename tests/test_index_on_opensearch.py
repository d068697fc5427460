"""Indexing into a real engine: the records are the same as in a file, and refused pages are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Index, Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores import store_writer
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.store_writer import StoreWriter
from tests.stores.test_store_writer import URL, day, page as stored_page, revisit, with_content
from tests.test_index import prose


@pytest.fixture
def address(engine: Running) -> str:
    return f"{engine.url}/way-in-{uuid4().hex}"


@pytest.fixture
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url) as opened:
        yield opened


def page(name: str, text: object, day: int = 1) -> Page:
    return Page(f"https://example.org/{name}", text=prose(text, 60), fetched_at=datetime(2026, 1, day, tzinfo=UTC))


RUNS = [
    [page("a", 1), page("b", 2), page("c", 1), page("a", 1)],
    [page("a", 1), page("b", 3), page("d", 2), page("e", 4), page("f", 4), page("g", 3)],  # b has changed
    [page("a", 1, day=2), page("h", 3), page("i", 2), page("j", 9)],
]


@pytest.mark.check
@pytest.mark.parametrize("records", [2, store_writer.MAX_BATCH_RECORDS])
def test_runs_give_the_same_records_as_in_a_file(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: int
) -> None:
    """Duplicates and unchanged pages do not depend on how many records are written at a time."""
    monkeypatch.setattr(store_writer, "MAX_BATCH_RECORDS", records)
    monkeypatch.chdir(tmp_path)
    kept: list[list[Record]] = []
    for name in (tmp_path / "crawl.winnow", address):
        reports = []
        for pages in RUNS:
            with Index.open(name) as index:
                report = index.add(pages)
                reports.append((report.indexed, report.unchanged, report.replaced, dict(report.duplicates)))
        assert reports == [(3, 1, 0, {"content": 1}), (5, 1, 1, {"content": 2}), (4, 0, 0, {"content": 3})]
        with Index.open(name, create=False) as index:
            kept.append(list(index.store.scan(Record)))
    assert kept[0] == kept[1]
    assert {record.duplicate_of for record in kept[0]} == {None, *(f"https://example.org/{name}" for name in "abde")}


@pytest.mark.check
def test_a_page_that_the_engine_refuses_fails_and_is_kept(address: str, client: OpenSearch, tmp_path: Path) -> None:
    """A foreign ingest pipeline refuses two pages. Once it is removed, they can be added."""
    failed = tmp_path / "failed.jsonl"
    refusal = {"processors": [{"fail": {"if": "ctx.url.contains('no')", "message": "not this one"}}]}
    name, guard = address.rpartition("/")[2], f"guard-{uuid4().hex}"
    pages = [page("yes", 1), page("no-1", 2), page("other", 3), page("no-2", 1)]
    with Index.open(address) as index:
        index.add([])
        client.ingest.put_pipeline(id=guard, body=refusal)
        client.indices.put_settings(index=name, body={"index.final_pipeline": guard})
        report = index.add(pages, failed=failed)
        assert (report.indexed, report.failed.total(), report.pages, report.duplicates) == (2, 2, 4, {})
        (reason,) = report.failed
        assert "not this one" in reason
        lines = [json.loads(line) for line in failed.read_text().splitlines()]
        kept = [(line["url"], line["text"], line["reason"]) for line in lines]
        assert kept == [(each.url, each.text, reason) for each in (pages[1], pages[3])]

        client.indices.put_settings(index=name, body={"index.final_pipeline": "_none"})
        client.ingest.delete_pipeline(id=guard)
        report = index.add(pages, failed=failed)
        assert (report.indexed, report.unchanged, report.failed.total()) == (2, 2, 0)
        assert index.store.count() == 4


@pytest.mark.check
def test_a_revisit_gets_the_text_of_a_page_that_is_not_yet_stored(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is written in the background while the next is filled. The page is found in either, and in the store."""
    monkeypatch.setattr(store_writer, "MAX_BATCH_RECORDS", 2)
    with OpenSearchStore.open(address, create=True) as store, StoreWriter(store) as into:
        for name in "abcdef":
            into.add(stored_page(name, f"{URL}{name}", on=1, payload=f"sha1:{name}"))
            into.add(revisit(f"{URL}again-{name}", on=2, payload="sha1:a"))
        into.close()
        texts = {record.url: record.text for record in store.scan(Record)}
    assert {texts[f"{URL}again-{name}"] for name in "abcdef"} == {texts[f"{URL}a"]}


def test_a_revisit_that_comes_first_gets_its_text_in_a_later_run(address: str) -> None:
    revisits = [revisit(f"{URL}again", on=2, payload="sha1:a"), revisit(on=3), revisit(f"{URL}elsewhere", on=4)]
    revisits.append(revisit(f"{URL}lost", of=f"{URL}lost"))
    original = stored_page("a", URL, on=1, payload="sha1:a")
    with OpenSearchStore.open(address, create=True) as store:
        with StoreWriter(store) as into:
            for each in revisits:
                into.add(each)
        assert into.unfilled_revisits() == 4
        with StoreWriter(store) as into:
            into.add(original)
        assert list(store.scan(Record)) == [*(with_content(each, "a") for each in revisits[:3]), revisits[3], original]
        with StoreWriter(store) as into:
            into.add(stored_page("b", URL, on=2))  # a later page, before the revisits that have no digest
        texts = {record.url: record.text for record in store.scan(Record) if record.fetched_at != day(1)}
    assert [texts[each.url] for each in revisits] == ["The text of a", "The text of b", "The text of b", ""]
