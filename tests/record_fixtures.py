"""Fixtures that make records: arbitrary ones for hypothesis, and reproducible ones by number."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.archive_location import ArchiveLocation
from opensearch_winnow.mappings.record import DUPLICATES, Hashes, Record, make_record

TEXT = st.text(max_size=20)
DIGEST = st.text("0123456789abcdef", min_size=32, max_size=32)
HASHES = st.lists(st.integers(0, 2**64 - 1), max_size=6).map(lambda numbers: array("Q", numbers))
PRINTS = st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1)), max_size=6)

SIZES = st.integers(0, 2**63 - 1)
SOURCES = st.builds(
    ArchiveLocation,
    file=TEXT,
    offset=SIZES,
    length=SIZES,
    record_type=st.sampled_from(["response", "resource", "conversion", "revisit"]),
    status=st.sampled_from([None, 200, 304]),
    mime=st.sampled_from([None, "text/html", "text/plain"]),
)


@st.composite
def any_record(draw: st.DrawFn) -> Record:
    prints = draw(PRINTS)
    return Record(
        url=draw(st.text(min_size=1, max_size=20)),
        crawl=draw(TEXT),
        title=draw(st.none() | TEXT),
        text=draw(TEXT),
        fetched_at=draw(st.none() | st.datetimes(timezones=st.none() | st.just(UTC))),
        payload_digest=draw(st.none() | TEXT),
        content_digest=draw(DIGEST),
        hashes=Hashes(
            text_digest=draw(DIGEST),
            shingle_digest=draw(DIGEST),
            fingerprints=array("Q", [hash_ for hash_, _ in prints]),
            positions=array("I", [position for _, position in prints]),
            shingle_count=draw(st.integers(0, 2**31 - 1)),
            sketch=draw(HASHES),
            minhash=draw(st.binary(max_size=20)),
            bands=draw(HASHES),
        ),
        duplicate=draw(st.sampled_from([None, *DUPLICATES])),
        duplicate_of=draw(st.none() | TEXT),
        source=draw(st.none() | SOURCES),
        canonical=draw(st.none() | TEXT),
    )


@pytest.fixture(scope="session")
def records() -> st.SearchStrategy[Record]:
    return any_record()


@pytest.fixture
def record() -> Callable[..., Record]:
    """Return a function that makes the record of a number: always the same, apart from `changes`, of hashes too."""

    def make(number: int, **changes: Any) -> Record:
        source = Random(number)
        values: dict[str, Any] = {"url": f"https://example.org/{number}", "crawl": "test", "title": f"Page {number}"}
        values["text"] = " ".join(source.choices(("some", "words", "in", "any", "order"), k=200))
        values["fetched_at"] = datetime(2024, 1, 1, 12, number % 60, tzinfo=UTC)
        for digest in ("content_digest", "text_digest", "shingle_digest"):
            values[digest] = source.randbytes(16).hex()
        values["fingerprints"] = array("Q", source.randbytes(80))
        values |= {"positions": array("I", range(0, 1000, 100)), "shingle_count": 191}
        values["sketch"] = array("Q", sorted(array("Q", source.randbytes(64))))
        values |= {"minhash": source.randbytes(512), "bands": array("Q", source.randbytes(256))}
        values |= changes
        return make_record(values)

    return make


def record_of(page: Page, scheme: Scheme = Scheme(), **changes: Any) -> Record:
    """Return the record that indexing makes of a page, apart from `changes`."""
    made = RecordMaker(Recipe(scheme=scheme)).make(page)
    assert isinstance(made, Record)
    return replace(made, **changes)
