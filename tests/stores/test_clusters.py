"""Lists of clusters and of their members, on every kind of store."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.filters import Selection
from opensearch_winnow.stores.store import ClusterSize, Store
from tests.stores.conftest import RECORDS, START, Make, New, stored_records

NEVER = datetime.max.replace(tzinfo=UTC)


def members(store: Store, cluster: str, *, limit: int, offset: int = 0) -> list[Card]:
    return list(store.scan(Card, Selection(clusters=(cluster,)), order="oldest", limit=limit, offset=offset))


def expected_members(records: dict[str, Record]) -> dict[str, list[Record]]:
    """Return the members of each cluster in order, by looking at all records."""
    found: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records.values():
        found[record.cluster].append(record)
    for pages in found.values():
        pages.sort(key=lambda each: (each.fetched_at or NEVER, len(each.url), each.url))
    return found


@pytest.mark.check
@given(RECORDS, st.lists(st.integers(-1, 8), max_size=8), st.integers(1, 4), st.integers(0, 3), st.integers(0, 5))
def test_clusters_are_those_of_the_pages(
    new_store: New, records: list[Record], joins: list[int], min_pages: int, offset: int, limit: int
) -> None:
    """Some representatives are not stored, and some are themselves members of another cluster."""
    with new_store() as store:
        store.write(records)
        here = stored_records(records)
        ids = list(here)
        clusters = {id_: ids[at] if 0 <= at < len(ids) else "f" * 32 for id_, at in zip(ids, joins, strict=False)}
        store.set_clusters(clusters)
        for id_, cluster in clusters.items():
            here[id_].cluster = cluster
        found = expected_members(here)
        expected = [
            ClusterSize(cluster, len(pages), len({each.site for each in pages}), len({each.url for each in pages}))
            for cluster, pages in found.items()
            if len(pages) >= min_pages
        ]
        expected.sort(key=lambda each: (-each.pages, each.cluster))
        assert store.clusters(min_pages=min_pages, limit=9) == expected
        assert store.clusters(min_pages=min_pages, limit=limit, offset=offset) == expected[offset : offset + limit]
        for site in {each.site for each in here.values()} | {"elsewhere.example"}:
            on_site = [size for size in expected if any(each.site == site for each in found[size.cluster])]
            assert store.clusters(min_pages=min_pages, site=site, limit=9) == on_site
        for cluster, pages in found.items():
            cards = members(store, cluster, limit=9)
            assert [(card.id, card.cluster) for card in cards] == [(each.id, cluster) for each in pages]
            assert members(store, cluster, limit=limit, offset=offset) == cards[offset : offset + limit]


def test_pages_that_are_alone_are_no_clusters(store: Store, record: Make) -> None:
    assert store.clusters(limit=10) == []
    ids = [record(number).id for number in range(3)]
    store.write([record(number) for number in range(3)])
    assert store.clusters(limit=10) == []
    assert store.clusters(min_pages=1, limit=2) == [ClusterSize(id_, 1, 1, 1) for id_ in sorted(ids)[:2]]
    assert [card.id for card in members(store, ids[1], limit=10)] == [ids[1]]
    assert members(store, "0" * 32, limit=10) == members(store, "no id \ud800", limit=10) == []


def test_what_is_left_of_a_cluster(store: Store, record: Make) -> None:
    records = [record(number, url=f"https://site{number % 2}.org/{number}") for number in range(5)]
    store.write(records)
    first = records[0].id
    store.set_clusters(dict.fromkeys((each.id for each in records[:4]), first))
    assert store.clusters(limit=10) == [ClusterSize(first, 4, 2, 4)]
    store.delete([first])
    assert store.clusters(limit=10) == [ClusterSize(first, 3, 2, 3)]
    assert [card.id for card in members(store, first, limit=10)] == [each.id for each in records[1:4]]
    store.delete([records[2].id])
    store.write([record(3, url=records[3].url, title="another")])  # a rewritten page leaves its cluster
    assert store.clusters(limit=10) == []
    assert store.clusters(min_pages=1, limit=10)[0].pages == 1


def test_a_page_captured_ten_times_is_one_url(store: Store, record: Make) -> None:
    def captured(number: int, url: str, times: int) -> list[Record]:
        return [record(number, url=url, fetched_at=START + timedelta(day)) for day in range(times)]

    often, twice = captured(1, "https://a.org/often", 10), captured(1, "https://b.org/twice", 2)
    alone = captured(2, "https://a.org/alone", 3)
    long = record(1, url="https://c.org/" + "long" * 3_000)  # more than an engine indexes
    store.write([*often, *twice, *alone, long])
    first, other = often[0].id, alone[0].id
    store.set_clusters({each.id: first for each in (*often, *twice, long)} | {each.id: other for each in alone})
    large, small = ClusterSize(first, 13, 3, 3), ClusterSize(other, 3, 1, 1)
    assert store.clusters(limit=10) == store.clusters(site="a.org", limit=10) == [large, small]
    assert store.clusters(site="a.org", limit=1, offset=1) == [small]
    assert store.clusters(site="b.org", min_pages=13, limit=10) == [large]
    assert store.clusters(site="b.org", min_pages=14, limit=10) == []
    assert store.clusters(site="no site \ud800", limit=10) == []


def test_the_order_of_members(store: Store, record: Make) -> None:
    times = [START - timedelta(1), START, START, START, None]
    urls = ["https://z.org/longer/still", "https://b.org/", "https://c.org/", "https://a.org/longer", "https://a.org/"]
    pages = [record(1, url=url, fetched_at=time, cluster="0" * 32) for url, time in zip(urls, times, strict=True)]
    store.write([pages[number] for number in (4, 2, 1, 3, 0)])
    assert [card.url for card in members(store, "0" * 32, limit=10)] == urls
