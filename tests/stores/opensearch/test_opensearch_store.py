"""Properties of stores on OpenSearch: engine limits, shards, deleted pages, and engines without scripts."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Filters, Scheme
from opensearch_winnow.clients import best, overlap, scored, shares
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.hash_tokens import tokens_of
from opensearch_winnow.mappings.record import Record, StoredDigests
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.queries.dsl.scores import Score
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.captures import captures, latest_capture
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore, writes
from opensearch_winnow.stores.opensearch.requests.bulk import bulk
from opensearch_winnow.stores.opensearch.requests.bulk_operation import Operation
from opensearch_winnow.stores.opensearch.requests.client import Address, connect
from opensearch_winnow.stores.opensearch.statistics import Frequencies
from opensearch_winnow.stores.store import StoreError, WriteOutcome
from tests.engine_fixture import needs_modules
from tests.stores.conftest import START, numbered
from tests.stores.opensearch.conftest import Open, index_of, small
from tests.stores.store_questions import candidates, search


def test_a_write_that_was_killed_half_way_is_mended_by_the_next(fresh: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run writes again what is missing, and nothing else: a page that is stored must have the right `latest`."""
    store = fresh()
    first, second = (small(number, fetched_at=START + timedelta(number)) for number in (1, 2))
    store.write([first])

    def killed(client: OpenSearch, operations: Sequence[Operation], **options: Any) -> Iterator[WriteOutcome]:
        yield from bulk(client, operations[:1], **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(writes, "bulk", killed)
    with pytest.raises(KeyboardInterrupt):
        store.write([second])
    monkeypatch.undo()
    assert store.read([second.id], Card) == {}
    store.write([second])
    assert [card.latest for card in captures(store, second.url)] == [True, False]


@pytest.mark.check
def test_erased_pages_are_merged_away(fresh: Open, client: OpenSearch) -> None:
    """Even if they are few: engines leave a segment alone in which at most a tenth is deleted."""
    store = fresh()
    records = [small(number) for number in range(100)]
    store.write(records)
    store.delete([records[0].id])
    index = index_of(store)
    assert client.indices.stats(index=index)["_all"]["total"]["docs"]["deleted"]
    store.erase()
    assert client.indices.stats(index=index)["_all"]["total"]["docs"]["deleted"] == 0
    assert [each.id for each in store.scan(Record)] == [each.id for each in records[1:]]
    assert "expunge_deletes_allowed" not in str(client.indices.get_settings(index=index))


@pytest.mark.check
@needs_modules
@pytest.mark.parametrize("new", [0, 3], ids=["an older one", "a newer one"])
def test_a_write_mends_several_latest_captures(fresh: Open, client: OpenSearch, new: int) -> None:
    store = fresh()
    stored = [small(number, fetched_at=START + timedelta(number)) for number in (1, 2)]
    store.write(stored)
    client.update(index=index_of(store), id=stored[0].id, body={"doc": {"latest": True}}, params={"refresh": "true"})
    store.write([small(new, fetched_at=START + timedelta(new))])
    assert [card.latest for card in captures(store, stored[0].url)] == [True, False, False]


@pytest.mark.check
def test_more_pages_than_fit_in_one_answer(fresh: Open) -> None:
    store = fresh()
    records = [small(number) for number in range(10_050)]
    assert {each.outcome for each in store.write(records)} == {"added"}
    ids = sorted(record.id for record in records)
    ((_, found, _),) = candidates(store, [Lookup("fingerprints", array("Q", [7, 8]))])
    assert [each.id for each in found] == ids
    cards, newest = captures(store, "https://a.org/"), [record.id for record in reversed(records)]
    assert [card.id for card in cards] == newest
    assert [card.id for card in cards if card.latest] == newest[:1]
    for offset in (0, 10_020):  # all have the same score, so the newest come first
        hits = search(store, Words.of("plum"), Filters(), limit=20, offset=offset)
        assert (hits.total, [hit.card.id for hit in hits.hits]) == (10_050, newest[offset : offset + 20])
    # A write reads all captures of the URL.
    assert [each.outcome for each in store.write([small(20_000), records[3]])] == ["added", "replaced"]
    assert [card.fetched_at for card in store.scan(Card, Filters(latest=True))] == [small(20_000).fetched_at]
    assert store.delete(ids) == 10_050
    assert [card.id for card in store.scan(Card)] == [small(20_000).id]


@pytest.mark.check
def test_answers_do_not_depend_on_the_shards(fresh: Open) -> None:
    source, words = Random(6), ["apple", "pear", "plum", "quince", "cherry"]
    records = []
    for number in range(120):
        text, title = " ".join(source.choices(words, k=source.randint(1, 30))), source.choice(words)
        records.append(numbered(number, text=text, title=title, fingerprints=array("Q", source.sample(range(40), 8))))
    one, three = fresh(1), fresh(3)
    for store in (one, three):
        store.write(records)
    assert list(three.scan(Record)) == list(one.scan(Record)) == records
    lookups = [Lookup("fingerprints", array("Q", range(20)), 3), Lookup("sketch", records[5].hashes.sketch)]
    assert candidates(three, lookups) == candidates(one, lookups) == [candidates(one, [each])[0] for each in lookups]
    for over in (0, 20, 25, 119):
        assert three.frequencies(lookups, over=over) == one.frequencies(lookups, over=over)
    assert 0 < len(one.frequencies(lookups, over=25)[0]) < 20
    for typed in ("plum", "plum -pear", "apple quince"):
        hits, others = (search(store, Words.of(typed), limit=50) for store in (one, three))
        assert hits.total == others.total > 0
        assert [hit.score for hit in others.hits] == pytest.approx([hit.score for hit in hits.hits])
        assert {hit.card.id for hit in others.hits} == {hit.card.id for hit in hits.hits}
    assert three.statistics()[:4] == one.statistics()[:4]


@pytest.mark.check
def test_deleted_pages_are_not_counted(fresh: Open) -> None:
    store, lookups = fresh(), [Lookup("fingerprints", array("Q", [7]))]
    records = [small(number, url=f"https://a.org/{number}") for number in range(1_250)]
    store.write(records)
    assert store.delete(record.id for record in records[:1_200]) == 1_200
    assert [store.frequencies(lookups, over=over) for over in (50, 49)] == [[{}], [{7: 50}]]
    # OpenSearch 3.8.0 would return nothing for an empty filter (see `all_of`).
    assert list(store.scan(Record)) == records[1_200:]
    assert store.statistics()[:3] == (50, 50, 1)


@pytest.mark.check
def test_stored_digests_of_incoming_pages(fresh: Open) -> None:
    store, same = fresh(), {"shingle_digest": "a" * 32}
    copies, other = [small(number, **same) for number in range(120)], small(200, url="https://b.org/")
    store.write([*copies, other, small(201, url="https://c.org/")])
    start = time.time_ns()
    store.write([small(300, **same)])
    coming = [copies[5], small(200, url="https://b.org/", shingle_digest="b" * 32), small(400)]
    places, found = zip(*store.known(coming, before=start), strict=True)
    assert list(found) == [StoredDigests.of(each) for each in (*copies, other)]
    assert sorted(set(places)) == list(places)
    # Shingles that many pages have are not looked up again.
    assert [stored.id for _, stored in store.known([small(1, **same)], before=start)] == [copies[1].id]
    assert len(list(store.known([small(500, **same)], before=start + 1))) == 120
    # A page without words equals no other page.
    assert list(store.known([small(500, **same, shingle_count=0)], before=start + 2)) == []


@pytest.mark.check
@needs_modules
def test_a_store_that_moves_to_more_shards(fresh: Open, client: OpenSearch) -> None:
    store = fresh(1)
    store.write([small(number) for number in range(60)])
    lookups = [Lookup("fingerprints", array("Q", [7]))]
    assert store.frequencies(lookups, over=50) == [{7: 60}]
    name = Address.of(store.name).index
    (old,) = client.indices.get(index=name).values()
    new = {"settings": {"number_of_shards": 3, "analysis": old["settings"]["index"]["analysis"]}}
    client.indices.create(index=f"{name}-000002", body=new | {"mappings": old["mappings"]})
    body = {"source": {"index": name}, "dest": {"index": f"{name}-000002"}}
    client.reindex(body=body, params={"refresh": "true"})
    aliases = (("remove", "000001"), ("add", "000002"))
    moved = [{what: {"index": f"{name}-{number}", "alias": name}} for what, number in aliases]
    client.indices.update_aliases(body={"actions": moved})
    assert store.frequencies(lookups, over=50) == [{7: 60}]


def test_a_page_that_the_engine_refuses(fresh: Open) -> None:
    store = fresh()
    old, refused = small(1), small(2, shingle_count=2**31)
    store.write([old])
    other = small(3, url="https://b.org/")
    added, failed = store.write([other, refused])
    assert added == WriteOutcome(other.id, "added")
    assert (failed.id, failed.outcome, "shingle_count" in failed.reason) == (refused.id, "failed", True)
    assert [card.id for card in captures(store, "https://a.org/") if card.latest] == [old.id]


@pytest.mark.check
@needs_modules
@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("score", ["resemblance", "containment", "contained"])
def test_scores_by_the_engine(fresh: Open, client: OpenSearch, score: Score, stored: bool) -> None:
    store = fresh()
    ours = set(range(20))
    pages = [set(range(start, end)) for start in (0, 5, 15, 20) for end in (16, 20, 60) if start < end]
    store.write([numbered(number, sketch=array("Q", sorted(each))) for number, each in enumerate(pages)])
    found = [getattr(shares(len(ours & each), len(ours), len(each)), score) for each in pages]
    expected = {numbered(number).id: value for number, value in enumerate(found)}
    tokens = tokens_of(array("Q", sorted(ours)))
    for least in (0.0, 0.25, 0.8):
        query = scored(score, tokens, least=least, stored=stored)
        hits = client.search(index=Address.of(store.name).index, body=best(query))["hits"]["hits"]
        wanted = {id_: value for id_, value in expected.items() if value > 0 and value >= least}
        assert {hit["_id"]: hit["_score"] for hit in hits} == pytest.approx(wanted)


@pytest.mark.check
def test_an_engine_that_refuses_scripts_and_expensive_queries(start_engine: Callable[..., Running]) -> None:
    refusing = {"script.allowed_types": "none", "search.allow_expensive_queries": "false"}
    engine = start_engine(1, settings=refusing)
    records = [numbered(number) for number in range(30)]
    with OpenSearchStore.open(f"{engine.url}/pages", create=True) as store:
        store.write(records[:20])
        store.write(records)
        question = records[7]
        lookups = [Lookup("fingerprints", question.hashes.fingerprints, 2), Lookup("bands", question.hashes.bands)]
        assert store.frequencies(lookups, over=1) == [{}, {}]
        assert [[each.id for each in pages] for _, pages, _ in candidates(store, lookups)] == [[question.id]] * 2
        assert search(store, Words.of('"page 7" -plum'), Filters(since=START, until=START + timedelta(1))).total == 1
        with pytest.raises(StoreError, match="use whole words"):
            search(store, Words.of("pag*"))
        assert list(store.scan(Record)) == records
        assert latest_capture(store, question.url) == question
        assert store.statistics().pages == 30
        store.settings.set({"recipe": {"text": True}})
        assert store.settings.with_prefix() == {"recipe": {"text": True}}
        # Without scripts the engine counts, and the client computes the scores.
        query = overlap("sketch", tokens_of(question.hashes.sketch))
        with connect(Address.of(store.name)) as client:
            (hit,) = client.search(index="pages", body=best(query, fields=["sketch_count"]))["hits"]["hits"]
        assert shares(hit["_score"], len(question.hashes.sketch), hit["_source"]["sketch_count"]) == (1.0, 1.0, 1.0)


def test_opening(engine: Running, fresh: Open, client: OpenSearch) -> None:
    store = fresh()
    index, missing = index_of(store), f"{engine.url}/not-there"
    assert (OpenSearchStore.exists(store.name), OpenSearchStore.exists(missing)) == (True, False)
    with OpenSearchStore.open(store.name) as again:
        assert again.scheme == Scheme()
    client.indices.put_alias(index=f"{index}-000001,{index}.settings", name=f"{index}-both")
    refused: list[tuple[str, dict[str, Any], str]] = [
        (store.name, {"scheme": Scheme(noise=30)}, f"has records of scheme {Scheme().id}"),
        (store.name, {"key": "secret"}, "no key"),
        (missing, {}, "not-there cannot be opened: "),
        (f"{engine.url}/{index}-both", {}, "is an alias of 2 indices; name one of them"),
        (f"{store.name}.settings", {}, "not a store of winnow"),
    ]
    for name, options, words in refused:
        with pytest.raises(StoreError, match=words):
            OpenSearchStore.open(name, **options)
    # Opened by the name of the index, not an alias, as other software may create it.
    with OpenSearchStore.open(f"{store.name}-000001") as plain:
        plain.write([small(1)])
    assert store.count() == 1


def test_frequencies_of_more_tokens_than_there_is_memory_for() -> None:
    source = Random(7)
    exact, sampled = Frequencies(), Frequencies(max_tokens=1_000)
    pages = [array("Q", source.randbytes(8 * 20)) for _ in range(500)]
    for page in [*pages, *pages[:250], pages[0] + pages[0]]:
        exact.add(page)
        sampled.add(page)
    assert exact.tokens() == {1: 5_000, 2: 4_980, 3: 20}
    estimated = sampled.tokens()
    assert [estimated[1], estimated[2]] == pytest.approx([5_000, 4_980], rel=0.2)
