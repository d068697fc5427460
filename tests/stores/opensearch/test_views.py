"""Views on a real engine: documents of other software, and cursors passed between processes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Index, Page, StoreError
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.views import OpenSearchView

PAGES = 12


@pytest.fixture
def address(engine: Running, client: OpenSearch) -> Iterator[str]:
    """The address of a store with three versions of each of four pages."""
    name = f"views-{uuid4().hex}"
    with Index.open(f"{engine.url}/{name}") as index:
        index.add(Page(f"https://a.org/{number}", text=prose(number % 4)) for number in range(PAGES))
    yield f"{engine.url}/{name}"
    client.indices.delete(index=f"{name}*")


def prose(family: int) -> str:
    return " ".join([*(f"w{Random(family * 1_000 + at).randrange(10_000)}" for at in range(60)), "mill"])


@pytest.fixture
def with_others(address: str, client: OpenSearch) -> str:
    """Such a store, with documents that other software has written past the ingest pipeline."""
    name = address.rpartition("/")[2]
    for number, document in enumerate(FOREIGN):
        client.index(index=name, id=f"foreign-{number}", body=document, params={"pipeline": "_none"})
    client.indices.refresh(index=name)
    return address


FOREIGN = [
    {"title": "mill", "text": "the mill of others"},
    {"text": "the mill of others"},
    {"title": "nothing", "text": prose(1), "url": "https://foreign.org/"},
]


@pytest.mark.check
@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize(("by", "groups"), [("signature", 4), ("cluster", PAGES), ("both", 4)])
def test_documents_of_other_software_are_not_grouped_or_dropped(
    with_others: str, by: Any, groups: int, stable: bool
) -> None:
    with Index.open(with_others) as index:
        found = index.search("mill", group=True, by=by, all_captures=True, limit=100, stable=stable)
        assert (found.total, found.groups, len(found.hits)) == (PAGES + 3, groups + 3, groups + 3)
        foreign = {hit.card.id: hit for hit in found.hits if hit.card.id.startswith("foreign")}
        assert foreign.keys() == {"foreign-0", "foreign-1", "foreign-2"}
        assert not any(hit.members for hit in foreign.values())
        assert foreign["foreign-0"].card.title == "mill"
        assert "the mill of others" in foreign["foreign-1"].snippet
        assert foreign["foreign-2"].card.url == "https://foreign.org/"
        # The same page by page.
        few = index.search("mill", group=True, by=by, all_captures=True, limit=2, examine=2, stable=True)
        urls = [(hit.card.id, hit.card.url) for hit in few.hits]
        while few.cursor:
            few = index.search(cursor=few.cursor)
            urls += [(hit.card.id, hit.card.url) for hit in few.hits]
        assert urls == [(hit.card.id, hit.card.url) for hit in found.hits]


def test_documents_of_other_software_are_found_without_groups(with_others: str) -> None:
    with Index.open(with_others) as index:
        flat = index.search("mill", all_captures=True, limit=100)
        assert (flat.total, len(flat.hits)) == (PAGES + 3, PAGES + 3)
        pages = [index.search("mill", all_captures=True, limit=1, page=page) for page in range(1, PAGES + 4)]
        assert [page.hits for page in pages] == [[hit] for hit in flat.hits]


def test_a_cursor_works_in_another_process(address: str) -> None:
    with Index.open(address) as index:
        if not index.store._index.engine.point_in_time:  # type: ignore[attr-defined]
            first = index.search("mill", group=True, limit=3, stable=True)
            with Index.open(address) as other, pytest.raises(StoreError, match="the cursor has expired: search again"):
                other.search(cursor=first.cursor)
            return
        whole = index.search("mill", group=True)
        first = index.search("mill", group=True, limit=3, examine=4, stable=True)
    with Index.open(address) as index:
        index.add([Page("https://a.org/later", text=prose(9))])
        second = index.search(cursor=first.cursor)
        assert [hit.card.url for hit in first.hits + second.hits] == [hit.card.url for hit in whole.hits]
        assert (second.total, second.groups, second.cursor) == (PAGES, 4, None)


def test_what_a_view_refuses(address: str) -> None:
    with Index.open(address) as index:
        with pytest.raises(StoreError), index.store.view(Words.of("mill"), key="x") as view:
            view.ranked(0, 10)
        with index.store.view(Words.of("mill")) as view:
            assert isinstance(view, OpenSearchView)
            with pytest.raises(StoreError, match="only the first 10,000 clusters; group by signature"):
                view.clustered(9_999, 10_001)
