"""Makes records that share tokens, words and URLs, and computes what a store of them should hold and find."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

from opensearch_winnow.mappings.record import DUPLICATES, Record, make_record
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.store import Store
from tests.record_fixtures import SOURCES

START = datetime(2024, 1, 1, tzinfo=UTC)
# So few that pages share them. They cover small and large values, and some differ in their last bits only.
TOKENS = [0, 1, 2, 15, 16, 17, 2**40, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 17, 2**64 - 2, 2**64 - 1]
WORDS = ["apple", "Pear", "plum", "quince", "été", "日", "本"]
Make = Callable[..., Record]
New = Callable[[], Store]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a store that does not exist yet."""
    return tmp_path / "crawl.winnow"


@st.composite
def any_record(draw: st.DrawFn) -> Record:
    """Make a record from a few URLs, times, tokens and words: a list of them has captures, copies and replacements."""
    prints = draw(st.lists(st.sampled_from(TOKENS), max_size=6))
    digest = st.text("0123456789abcdef", min_size=32, max_size=32)
    values: dict[str, Any] = {
        "url": draw(st.sampled_from(["https://a.org/1", "https://a.org/2", "https://b.org/1", "file:///x"])),
        "crawl": draw(st.sampled_from(["", "monday", "tuesday"])),
        "title": draw(st.none() | st.lists(st.sampled_from(WORDS), max_size=2).map(" ".join)),
        "text": draw(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)),
        "fetched_at": draw(st.none() | st.integers(0, 3).map(lambda days: START + timedelta(days))),
        "payload_digest": draw(st.none() | st.sampled_from(["sha1:A", "sha1:B"])),
        "content_digest": draw(digest),
        "text_digest": draw(digest | st.just("")),
        "shingle_digest": draw(digest),
        "fingerprints": array("Q", prints),
        "positions": array("I", range(len(prints))),
        "shingle_count": draw(st.integers(0, 2**31 - 1)),
        "sketch": array("Q", sorted(draw(st.sets(st.sampled_from(TOKENS), max_size=4)))),
        "minhash": draw(st.binary(max_size=9)),
        "bands": array("Q", draw(st.lists(st.sampled_from(TOKENS), max_size=4))),
        "duplicate": draw(st.sampled_from([None, *DUPLICATES])),
        "duplicate_of": draw(st.none() | st.just("https://a.org/1")),
        "cluster": draw(st.sampled_from(["", "0" * 32, "no digest"])),
        "source": draw(st.none() | SOURCES),
        "canonical": draw(st.none() | st.sampled_from(["https://a.org/1", "https://c.org/", "é" * 2_000])),
    }
    return make_record(values)


@pytest.fixture
def record() -> Make:
    """Return the function `numbered`, for tests that need no import of it."""
    return numbered


def numbered(number: int, **changes: Any) -> Record:
    """Return the record of a number: always the same, apart from `changes`."""
    source = Random(number)
    prints = changes.get("fingerprints", array("Q", source.randbytes(80)))
    values: dict[str, Any] = {
        "url": f"https://example.org/{number}",
        "crawl": "test",
        "title": f"Page {number}",
        "text": " ".join(source.choices(("some", "words", "in", "any", "order"), k=200)),
        "fetched_at": START + timedelta(minutes=number),
        "content_digest": source.randbytes(16).hex(),
        "text_digest": source.randbytes(16).hex(),
        "shingle_digest": source.randbytes(16).hex(),
        "fingerprints": prints,
        "positions": array("I", range(len(prints))),
        "shingle_count": 191,
        "sketch": array("Q", sorted(array("Q", source.randbytes(64)))),
        "minhash": source.randbytes(512),
        "bands": array("Q", source.randbytes(256)),
    }
    return make_record(values | changes)


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
