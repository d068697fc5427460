"""Computes what a store should hold and find, by looking at all records one by one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from hypothesis import strategies as st

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.filters import Filters
from tests.stores.conftest import START, any_record

RECORDS = st.lists(any_record(), max_size=8)
DAYS = st.none() | st.integers(0, 4).map(lambda days: START + timedelta(days))
FILTERS = st.builds(
    Filters,
    site=st.none() | st.sampled_from(["a.org", "b.org", ""]),
    crawl=st.none() | st.sampled_from(["", "monday"]),
    since=DAYS,
    until=DAYS,
    latest=st.booleans(),
)


def stored_records(records: Iterable[Record]) -> dict[str, Record]:
    """Return what a store holds after `records` were written: the last record of each id, at the place of the first."""
    return {record.id: record for record in records}


def latest_ids(records: dict[str, Record]) -> set[str]:
    """Return the id of the latest capture of each URL."""
    last: dict[str, Record] = {}
    for record in records.values():
        other = last.get(record.url)
        if other is None or (record.fetched_at or START - timedelta(1)) > (other.fetched_at or START - timedelta(1)):
            last[record.url] = record
    return {record.id for record in last.values()}


def filter_records(where: Filters, records: dict[str, Record]) -> list[Record]:
    """Return the records that pass the filters `where`."""
    newest = latest_ids(records)
    return [
        record
        for record in records.values()
        if (where.site is None or record.site == where.site)
        and (where.crawl is None or record.crawl == where.crawl)
        and (where.since is None or (record.fetched_at is not None and record.fetched_at >= where.since))
        and (where.until is None or (record.fetched_at is not None and record.fetched_at < where.until))
        and (not where.latest or record.id in newest)
    ]
