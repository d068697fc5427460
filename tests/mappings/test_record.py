"""Records, their ids, and their documents."""

from __future__ import annotations

import json
import pickle
from array import array
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.mappings.record import (
    Hashes,
    Record,
    RecordsError,
    as_document,
    capture_id,
    from_document,
    make_record,
    site_of,
)

Make = Callable[..., Record]
EMPTY = {"url": "https://example.org/", "text": "", "content_digest": ""}
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
captures = st.tuples(st.text(max_size=5), st.none() | st.datetimes(timezones=st.just(UTC)))


@given(data=st.data())
def test_a_document_has_everything_of_a_record(data: st.DataObject, records: st.SearchStrategy[Record]) -> None:
    record = data.draw(records)
    document = json.loads(json.dumps(as_document(record)))
    assert from_document(document) == record
    assert document["id"] == record.id
    names = {each.name for each in (*fields(Record), *fields(Hashes))}
    assert names - {"attached_id", "hashes"} < set(document)  # which has the id


def test_a_document_can_be_read_by_a_person(record: Make) -> None:
    one = record(1, fingerprints=array("Q", [2**64 - 1, 10, 10]), positions=array("I", [1, 2, 3]), title=None)
    document = as_document(one)
    assert document["fingerprints"] == ["ffffffffffffffff", "000000000000000a", "000000000000000a"]
    assert document["positions"] == "AQAAAAIAAAADAAAA"
    assert document["fetched_at"] == "2024-01-01T12:01:00Z"
    assert document["title"] is None
    counts = (document["fingerprint_count"], document["shingle_count"], document["sketch_count"])
    assert counts == (2, 191, 8)  # different fingerprints are counted once


@given(st.lists(st.integers(0, 2**64 - 1), unique=True))
def test_hashes_sorted_as_text_are_sorted_as_numbers(numbers: list[int]) -> None:
    record = make_record(EMPTY | {"sketch": array("Q", sorted(numbers))})
    assert as_document(record)["sketch"] == sorted(as_document(record)["sketch"])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"url": None}, "url is None"),
        ({"title": 5}, "title is 5"),
        ({"shingle_count": "many"}, "shingle_count is 'many'"),
        ({"fetched_at": "yesterday"}, "yesterday"),
        ({"bands": ["00"]}, "16 hexadecimal digits"),
        ({"bands": ["00" * 4, "00" * 12]}, "16 hexadecimal digits"),
        ({"bands": ["zz" * 8]}, "non-hexadecimal"),
        ({"bands": "text"}, "non-hexadecimal"),
        ({"positions": "AQAAAA=="}, "a position for each fingerprint"),
        ({"minhash": "?"}, "base64"),
        ({"duplicate": "perhaps"}, "perhaps"),
    ],
)
def test_an_invalid_document_is_refused_with_a_clear_message(
    record: Make, change: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(RecordsError, match=complaint):
        from_document(as_document(record(1)) | change)
    without = {name: value for name, value in as_document(record(1)).items() if name != "bands"}
    with pytest.raises(RecordsError, match="it has no bands"):
        from_document(without)


def test_an_id_never_changes() -> None:
    assert capture_id("https://example.org/", NOON) == "df77cafa961c12157ff0e4354f08ee72"
    assert capture_id("https://example.org/", None) == "6568b78c847d4b1eb92847330a8afb7e"


@given(captures, captures)
def test_two_captures_have_two_ids(a: tuple[str, datetime | None], b: tuple[str, datetime | None]) -> None:
    """The texts have no lone surrogates, because these all become the same character."""
    assert (capture_id(*a) == capture_id(*b)) == (a == b)


def test_a_time_is_the_same_in_every_time_zone() -> None:
    url = "https://example.org/"
    there = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert capture_id(url, there) == capture_id(url, NOON) == capture_id(url, NOON.replace(tzinfo=None))
    assert make_record(EMPTY | {"fetched_at": there}) == make_record(EMPTY | {"fetched_at": NOON.replace(tzinfo=None)})
    first = datetime(1970, 1, 1, tzinfo=UTC)
    assert len({capture_id(url, time) for time in (None, first, first + timedelta(microseconds=1))}) == 3
    with pytest.raises(ValueError, match="no equivalent in UTC"):
        capture_id(url, datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))))


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://user:word@WWW.Example.ORG:8080/Path?q#f", "www.example.org"),
        ("http://[2001:DB8::1]/", "2001:db8::1"),
        ("http://münchen.example/", "münchen.example"),
        ("file:///srv/pages/index.html", ""),
        ("dns:example.org", ""),
        ("http://[not-an-address/", ""),
        ("no url at all", ""),
    ],
)
def test_the_site_is_the_host(url: str, site: str) -> None:
    assert site_of(url) == site
    assert make_record(EMPTY | {"url": url}).site == site


def test_a_new_record_is_its_own_cluster_and_can_be_pickled(record: Make) -> None:
    assert record(1).cluster == record(1).id
    assert record(1, cluster="of another").cluster == "of another"
    assert pickle.loads(pickle.dumps(record(1))) == record(1)


def test_lone_surrogates_are_replaced_and_offsets_stay(record: Make) -> None:
    hostile = record(1, url="http://example.org/\udce9", text="a\ud800bé", title="\udfff")
    assert (hostile.text, hostile.title) == ("a\ufffdbé", "\ufffd")
    assert hostile.id == capture_id("http://example.org/\udce9", hostile.fetched_at)
    json.dumps(as_document(hostile), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"bands": array("L", [1])}, "bands of a record is an array of 'Q'"),
        ({"positions": array("Q")}, "positions of a record is an array of 'I'"),
        ({"positions": array("I", [1])}, "a position for each fingerprint"),
        ({"duplicate": "copy"}, "one of revisit, content, text, shingles"),
    ],
)
def test_values_that_cannot_be_stored_are_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make_record(EMPTY | change)
