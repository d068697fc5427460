"""The contract of a store, tested on every kind of store."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.record import VALUE_OF, Record, StoredDigests, with_text_of
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck, rare_tokens
from opensearch_winnow.queries.asking.lookups import Field, Lookup
from opensearch_winnow.queries.filters import Filters, Selection
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.words import Term, Words
from opensearch_winnow.stores.captures import captures, captures_of_urls, latest_capture
from opensearch_winnow.stores.store import LookupsOfQuestion, Sizes, Store, Text, WriteOutcome
from tests.stores.conftest import (
    FILTERS,
    RECORDS,
    START,
    TOKENS,
    WORDS,
    Make,
    New,
    filter_records,
    latest_ids,
    stored_records,
)
from tests.stores.store_questions import candidates, search

FIELDS: tuple[Field, ...] = get_args(Field)
TOKEN_LISTS = st.lists(st.sampled_from(TOKENS), unique=True).map(lambda tokens: array("Q", tokens))
A_LOOKUP = st.builds(Lookup, st.sampled_from(FIELDS), TOKEN_LISTS, st.integers(1, 3))
LOOKUPS = st.lists(A_LOOKUP, max_size=3, unique_by=lambda lookup: lookup.field)
SOME_SIZES = st.none() | st.builds(Sizes, st.integers(0, 2**30), st.integers(2**30, 2**31 - 1))
REMOVED = st.sets(st.integers(0, 7))  # which of the records


def test_the_contract_is_small(root: Path) -> None:
    """A method that only some callers need is a function of others; see docs/decisions/0014-words-and-seams.md."""
    public = {name: each for name, each in vars(Store).items() if not name.startswith("_")}
    properties = {name for name, each in public.items() if isinstance(each, property)}
    assert properties == {"name", "scheme", "settings"}
    assert len(public.keys() - properties) == 16
    for described in (root / "CONTRIBUTING.md", root / "stores/store.py"):
        assert "16 methods" in described.read_text(encoding="utf-8")


@pytest.mark.check_on_engine
@given(RECORDS, st.integers(1, 8))
def test_what_is_read_is_what_was_written(new_store: New, records: list[Record], batch: int) -> None:
    with new_store() as store:
        ids = [record.id for record in records]
        outcomes = [each for start in range(0, len(ids), batch) for each in store.write(records[start : start + batch])]
        assert outcomes == [
            WriteOutcome(id_, "replaced" if id_ in ids[:place] else "added") for place, id_ in enumerate(ids)
        ]
        wanted = stored_records(records)
        assert store.read([*wanted, "0" * 32, "no id"], Record) == wanted
        assert list(store.scan(Record)) == list(wanted.values())
        assert store.count() == len(wanted)
        ids = ["0" * 32, *wanted, "no id"]
        assert store.read(ids, Text) == {id_: Text(record.text) for id_, record in wanted.items()}
        assert store.read(ids, Sketches) == {
            id_: Sketches(record.hashes.shingle_count, record.hashes.sketch, record.hashes.minhash)
            for id_, record in wanted.items()
        }
        assert store.read(ids, Card) == {card.id: card for card in store.scan(Card)}
        digests = {id_: StoredDigests.of(record) for id_, record in wanted.items()}
        assert store.read(ids, StoredDigests) == digests
        shingles = tuple({each.shingle_digest for each in list(digests.values())[::2]})
        found = list(store.scan(StoredDigests, Selection(shingle_digests=shingles)))
        assert found == [each for each in digests.values() if each.shingle_digest in shingles]


@pytest.mark.check_on_engine
@given(RECORDS, FILTERS)
def test_cards_and_filters(new_store: New, records: list[Record], where: Filters) -> None:
    with new_store() as store:
        store.write(records)
        wanted = filter_records(where, stored_records(records))
        newest = latest_ids(stored_records(records))
        assert store.count(where) == len(wanted)
        assert list(store.scan(Record, where)) == wanted
        for card, record in zip(store.scan(Card, where), wanted, strict=True):
            for name in card._fields:
                assert getattr(card, name) == (card.id in newest if name == "latest" else VALUE_OF[name](record))
        assert list(store.scan(CaptureEntry, where)) == [
            CaptureEntry(card, record.payload_digest, record.content_digest, record.source)
            for card, record in zip(store.scan(Card, where), wanted, strict=True)
        ]


@pytest.mark.check_on_engine
@given(RECORDS, st.sampled_from(FIELDS), st.sets(st.sampled_from(TOKENS)), FILTERS, st.integers(1, 3))
def test_overlap_counts_different_shared_tokens(
    new_store: New, records: list[Record], field: Field, tokens: set[int], where: Filters, minimum: int
) -> None:
    with new_store() as store:
        store.write(records)
        expected = [
            (record.id, shared)
            for record in filter_records(where, stored_records(records))
            if (shared := len(tokens & set(getattr(record.hashes, field)))) >= minimum
        ]
        ((_, found, _),) = candidates(store, [Lookup(field, array("Q", tokens), minimum)], where)
        assert [(each.id, each.shared) for each in found] == sorted(expected, key=lambda each: (-each[1], each[0]))


@pytest.mark.check
@given(RECORDS, st.sets(st.sampled_from(TOKENS), min_size=1), FILTERS, REMOVED, st.integers(1, 4))
def test_the_candidates_that_share_the_most(
    new_store: New, records: list[Record], tokens: set[int], where: Filters, removed: set[int], most: int
) -> None:
    with new_store() as store:
        store.write(records)
        store.delete([records[index].id for index in removed if index < len(records)])
        every = Lookup("fingerprints", array("Q", tokens))
        ((_, pages, others),) = candidates(store, [every], where)
        assert others == 0
        for check in (None, FrequencyCheck(1_000)):
            ((_, best, others),) = candidates(store, [every._replace(most=most)], where, check)
            assert (len(best), len(best) + others) == (min(most, len(pages)), len(pages))
            assert [page.shared for page in best] == [page.shared for page in pages[:most]]
            assert set(best) <= set(pages)


@pytest.mark.check
@given(
    RECORDS,
    st.lists(st.builds(LookupsOfQuestion, LOOKUPS, SOME_SIZES), max_size=4),
    FILTERS,
    st.none() | st.builds(FrequencyCheck, st.integers(0, 4)),
    REMOVED,
)
def test_candidates_of_many_are_those_of_each(
    new_store: New,
    records: list[Record],
    questions: list[LookupsOfQuestion],
    where: Filters,
    check: FrequencyCheck | None,
    removed: set[int],
) -> None:
    with new_store() as store:
        store.write(records)
        store.delete([records[index].id for index in removed if index < len(records)])
        each = [candidates(store, lookups, where, check, sizes) for lookups, sizes in questions]
        assert store.candidates(questions, where, check) == each


@pytest.mark.check_on_engine
@given(RECORDS, st.lists(st.sampled_from(TOKENS), unique=True), st.integers(0, 4), st.integers(1, 3))
def test_frequent_tokens_are_left_out(
    new_store: New, records: list[Record], tokens: list[int], max_pages: int, minimum: int
) -> None:
    with new_store() as store:
        store.write(records)
        wanted = [Lookup(field, array("Q", tokens), minimum) for field in FIELDS]
        found = candidates(store, wanted, check=FrequencyCheck(max_pages, ["fingerprints", "sketch"]))
        for (lookup, pages, _), field in zip(found, FIELDS, strict=True):
            counts = Counter(
                token for record in stored_records(records).values() for token in set(getattr(record.hashes, field))
            )
            frequent = {token: count for token, count in counts.items() if count > max_pages}
            rare = array("Q", tokens) if field == "bands" else rare_tokens(array("Q", tokens), frequent)
            assert lookup == Lookup(field, rare, max(minimum - len(tokens) + len(rare), 1))
            assert pages == candidates(store, [lookup])[0].pages


@pytest.mark.check_on_engine
@given(RECORDS, REMOVED, st.sampled_from(FIELDS), st.integers(0, 4))
def test_frequencies_count_the_pages_still_stored(
    new_store: New, records: list[Record], removed: set[int], field: Field, over: int
) -> None:
    with new_store() as store:
        store.write(records)
        gone = {records[index].id for index in removed if index < len(records)}
        for id_ in gone:
            store.delete([id_])
        here = [record for id_, record in stored_records(records).items() if id_ not in gone]
        pages = Counter(token for record in here for token in set(getattr(record.hashes, field)))
        frequent = {token: count for token, count in pages.items() if count > over}
        lookups = [Lookup(field, array("Q", TOKENS)), Lookup(field, array("Q"))]
        assert store.frequencies(lookups, over=over) == [frequent, {}]
        assert store.statistics().frequencies[field] == Counter(pages.values())


@pytest.mark.check
@given(RECORDS, RECORDS, REMOVED)
def test_replacing_is_deleting_and_writing(
    new_store: New, records: list[Record], more: list[Record], removed: set[int]
) -> None:
    with new_store() as one, new_store() as other:
        gone = {records[index].id for index in removed if index < len(records)}
        for store in (one, other):
            store.write(records)
        assert one.delete(gone) == len(gone)
        other.delete(sorted(gone)[:1])
        other.delete(sorted(gone))
        one.write(more)
        ids = {record.id for record in more}
        assert other.delete(ids) == len(ids & (stored_records(records).keys() - gone))
        other.write(more)
        here = stored_records(record for record in (*records, *more) if record.id in ids or record.id not in gone)
        here |= stored_records(more)
        for store in (one, other):
            assert store.read((record.id for record in (*records, *more)), Record) == here
            assert {card.id for card in store.scan(Card, Filters(latest=True))} == latest_ids(here)
            for field in FIELDS:
                ((_, found, _),) = candidates(store, [Lookup(field, array("Q", TOKENS))])
                assert {each.id: each.shared for each in found} == {
                    id_: len(set(getattr(record.hashes, field)))
                    for id_, record in here.items()
                    if getattr(record.hashes, field)
                }
            for word in WORDS:
                having = [each for each in here.values() if word in f"{each.title or ''} {each.text}".split()]
                assert search(store, Words(((Term(word),),)), Filters()).total == len(having)


def test_nothing_is_left_of_what_is_deleted(store: Store, record: Make) -> None:
    records = [record(number) for number in range(50)]
    store.write(records)
    assert store.delete([*(each.id for each in records[:49]), "0" * 32, "no id"]) == 49
    assert [each.id for each in store.scan(Record)] == [records[49].id]
    assert store.delete([records[49].id, records[49].id]) == 1
    assert store.delete([records[0].id]) == store.count() == 0
    assert candidates(store, [Lookup("fingerprints", records[0].hashes.fingerprints)])[0].pages == []
    assert store.frequencies([Lookup("bands", records[0].hashes.bands)], over=0) == [{}]
    assert search(store, Words.of("words"), Filters()) == (0, [])
    assert store.statistics()[:4] == (0, 0, 0, {field: {} for field in FIELDS})
    store.write(records[:2])
    ((_, found, _),) = candidates(store, [Lookup("fingerprints", records[1].hashes.fingerprints)])
    assert [each.id for each in found] == [records[1].id]


@pytest.mark.parametrize("rest", ["", "x" * 8_200, "😀" * 4_100], ids=["short", "too long to be indexed", "in bytes"])
def test_captures_are_the_latest_first(store: Store, record: Make, rest: str) -> None:
    url = f"https://a.org/{rest}"
    times = [START + timedelta(1), None, START + timedelta(3), START + timedelta(2)]
    store.write([record(1, url=url, fetched_at=time) for time in times])
    store.write([record(2), record(1, url=f"{url}y", fetched_at=times[2])])
    found = captures(store, url)
    expected_order = [(times[number], number == 2) for number in (2, 3, 0, 1)]
    assert [(card.fetched_at, card.latest) for card in found] == expected_order
    for until, expected in ((None, 2), (START + timedelta(2), 3), (START + timedelta(2.5), 3), (START, None)):
        capture = latest_capture(store, url, until)
        assert (capture and capture.fetched_at) == (None if expected is None else times[expected])
    for limit in (0, 1, 3, 9):
        assert captures(store, url, limit=limit) == found[:limit]
    store.delete([found[0].id])
    assert [card.latest for card in captures(store, url)] == [True, False, False]
    assert captures(store, f"{url}z") == captures(store, f"{url}\ud800\0") == []


@pytest.mark.parametrize(
    ("prefix", "parts"),
    [
        (True, ["", "https://", "https://a.org/", "https://a.org/\U00010000", "https://é", "https://a.org/b"]),
        (True, ["y", "\ud800"]),
        (False, ["a.org", "org/b", "*", "?", "\\", "b?c=*", "\U00010000", "é", "y", "\ud800"]),
    ],
)
def test_pages_by_a_part_of_their_url_or_its_beginning(
    store: Store, record: Make, prefix: bool, parts: list[str]
) -> None:
    urls = ["x", *(f"https://{rest}" for rest in ("a.org/b", "é.org/", "a.org/", "a.org/\U00010000", "a.org/\uffff"))]
    urls += ["https://a.org/b?c=*", "https://a.org/\\", "x"]
    store.write([record(number, url=url) for number, url in enumerate(urls)])
    for part in parts:
        chosen = Selection(url_prefix=part) if prefix else Selection(url_part=part)
        found = list(store.scan(Card, chosen, order="url", limit=100))
        expected = sorted(url.encode() for url in urls if (url.startswith(part) if prefix else part in url))
        assert [card.url.encode() for card in found] == expected
        assert list(store.scan(Card, chosen, order="url", limit=2, offset=1)) == found[1:3]


def test_pages_with_a_payload_in_the_order_of_writing(store: Store, record: Make) -> None:
    revisit = {"text": "", "text_digest": "", "shingle_digest": "", "content_digest": "", "payload_digest": "sha1:A"}
    store.write([record(1, **revisit), record(2, payload_digest="sha1:A"), record(3, payload_digest="sha1:A")])
    store.write([record(2, payload_digest="sha1:A", title="written again")])
    for wanted, numbers in ((("sha1:A", "sha1:C"), [1, 2, 3]), (("sha1:B",), []), (("",), [])):
        found = store.scan(Card, Selection(payload_digests=wanted))
        assert [card.id for card in found] == [record(number).id for number in numbers]


def test_revisits_are_found_by_what_they_repeat(store: Store, record: Make) -> None:
    revisit = {"content_digest": "", "duplicate": "revisit"}
    a, b, digest = "https://a.org/", "https://b.org/", "sha1:A"
    store.write([record(1, payload_digest=digest), record(2, payload_digest=digest, duplicate_of=a, **revisit)])
    store.write([record(3, duplicate_of=b, **revisit), record(4, duplicate="content", duplicate_of=b)])
    for keys, numbers in ((digest,), [2]), ((b,), [3]), ((b, digest), [2, 3]), ((record(2).url, "sha1:B"), []):
        found = store.scan(Card, Selection(repeats=keys))
        assert [card.id for card in found] == [record(number).id for number in numbers]


def test_texts_are_set_if_the_content_is_the_same(store: Store, record: Make) -> None:
    store.write([record(1, content_digest="", cluster="0" * 32), record(2), record(3)])
    wanted = [with_text_of(record(number, content_digest="", crawl="other"), record(9)) for number in (1, 2)]
    assert store.set_texts([*wanted, record(4)]) == 2
    changed = with_text_of(record(1, content_digest="", cluster="0" * 32), record(9))
    assert list(store.scan(Record)) == [changed, record(2), record(3)]  # the content of 2 is another one by now
    assert search(store, Words.of("9"), Filters()).total == 1
    store.set_texts([replace(record(1, content_digest=""), title=None, canonical=None)])
    assert store.read([record(1).id], Record)[record(1).id].title is None


@given(RECORDS, st.dictionaries(st.integers(0, 9), st.sampled_from(["", "0" * 32, "own"])))
def test_clusters(new_store: New, records: list[Record], chosen: dict[int, str]) -> None:
    with new_store() as store:
        store.write(records)
        here = stored_records(records)
        ids = [record.id for record in records] + ["f" * 32] * 10
        clusters = {ids[index]: ids[index] if name in ("own", "") else name for index, name in chosen.items()}
        assert store.set_clusters(clusters) == len(clusters.keys() & here.keys())
        expected = {id_: clusters.get(id_, record.cluster) for id_, record in here.items()}
        assert {id_: record.cluster for id_, record in store.read(here, Record).items()} == expected
        assert {card.id: card.cluster for card in store.scan(Card)} == expected


def test_reading_all_while_something_is_written(store: Store, record: Make) -> None:
    records = [record(number) for number in range(250)]
    store.write(records)
    read, cards = store.scan(Record), store.scan(Card)
    first, card = next(read), next(cards)
    store.write([record(300), record(7, title="another")])
    store.delete([records[9].id, records[240].id])
    assert [first, *read] == records
    assert [card.id, *(each.id for each in cards)] == [each.id for each in records]
    kept = [record(number) for number in (*range(250), 300) if number not in (9, 240)]
    assert [each.id for each in store.scan(Record)] == [each.id for each in kept]


def test_crawls_in_the_order_of_their_last_captures(store: Store, record: Make) -> None:
    assert store.crawls() == []
    times = [datetime(2024, month, 1, 1, 2, 3, 456789, tzinfo=UTC) for month in range(1, 6)]
    crawls = ["late", "late", "early", "undated", "", "a"]
    captured = [times[0], times[4], times[3], None, times[1], times[3]]
    pages = enumerate(zip(crawls, captured, strict=True))
    store.write([record(number, crawl=crawl, fetched_at=time) for number, (crawl, time) in pages])
    assert store.crawls() == [
        ("undated", 1, None, None),
        ("early", 1, times[3], times[3]),
        ("a", 1, times[3], times[3]),
        ("late", 2, times[0], times[4]),
    ]


def test_statistics(store: Store, record: Make) -> None:
    store.write([record(number, url=f"https://site{number % 2}.org/{number % 3}") for number in range(6)])
    store.write([record(7, url="https://site0.org/0", bands=record(1).hashes.bands)])
    found = store.statistics()
    assert found[:3] == (7, 6, 2)
    assert found.frequencies == {"fingerprints": {1: 70}, "sketch": {1: 56}, "bands": {1: 160, 2: 32}}
    assert all(size > 0 for size in found.sizes.values())


@pytest.mark.check_on_engine
def test_captures_of_several_urls(store: Store, record: Make) -> None:
    long = f"https://example.org/{'x' * 9_000}"  # too long to be indexed by OpenSearch
    urls = [f"https://example.org/{number}" for number in range(1_100)] + [long]
    store.write([record(number, url=url) for number, url in enumerate(urls)])
    store.write([record(2_000, url=urls[7]), record(2_001, url=f"{long}y"), record(2_002, url=long)])
    found = list(captures_of_urls(store, [*urls[5:1_050], *urls[5:9], long, "https://gone.example/"]))
    assert {card.url for card in found} == {*urls[5:1_050], long}
    assert len(found) == 1_045 + 1 + 2
    assert [card.id for card in found if card.url == urls[7]] == [card.id for card in captures(store, urls[7])]
    assert list(captures_of_urls(store, [])) == []


def test_an_empty_store_answers(store: Store) -> None:
    assert store.scheme == Scheme()
    lookups = [Lookup("sketch", array("Q")), Lookup("sketch", array("Q", TOKENS))]
    assert candidates(store, lookups) == [(lookup, [], 0) for lookup in lookups]
    assert store.frequencies(lookups, over=0) == [{}, {}]
    assert (candidates(store, []), store.frequencies([], over=0), store.write([])) == ([], [], [])
    assert latest_capture(store, "https://a.org/1") is None
    assert (store.read([], Record), store.read([], Sketches)) == ({}, {})
    assert search(store, Words.of("a")) == (0, [])
    assert (list(store.scan(Record)), list(store.scan(Card))) == ([], [])
    assert store.set_clusters({}) == store.delete([]) == store.count() == 0
