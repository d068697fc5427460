"""An index of your own becomes a store, stays right when its documents change, and is given back as it was."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from opensearchpy import AuthorizationException

from opensearch_winnow import Index, Scheme, group_hits, search_groups
from opensearch_winnow.answers.asking.nothing_found import no_match_words
from opensearch_winnow.foundation.errors import QuestionError, WinnowError
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.ingest.own_index.attached_reader import AttachedReader
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.opensearch_search_pipeline import search_pipeline_name
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.similar_options import SimilarQuestion
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.own_index.attach import detach
from opensearch_winnow.stores.opensearch.own_index.backfill import Backfill
from opensearch_winnow.stores.opensearch.requests.client import Address, engine_of
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up
from opensearch_winnow.stores.store import StoreError
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, article, attach, opened, similar, sizes, text


def test_an_attached_index_is_a_store(articles: OwnIndex) -> None:
    before = articles.sources()
    report = attach(articles.client, articles.address, FIELDS)
    assert (report.documents, report.done, report.unchanged, report.no_text, report.failed) == (10, 9, 0, 1, 0)
    with opened(articles) as index:
        assert index.store.count() == 10
        assert sorted(match.url for match in index.similar(url="0")) == ["1", "2"]
        assert {match.title for match in index.similar(url="0")} == {"Article 1", "Article 2"}
        assert sizes(index, "edition") == [3]
        facets = index.search("edition", facets=["site", "month"]).facets
        assert {name: [each.pages for each in values] for name, values in facets.items()} == {"site": [3], "month": [3]}
        assert index.page("3").text == article(3)["body"]
        assert index.statistics().stale == 0
    assert articles.without_ours() == before


@pytest.mark.check
def test_the_fields_are_those_of_a_store_of_the_same_pages(articles: OwnIndex, tmp_path: Any) -> None:
    attach(articles.client, articles.address, FIELDS)
    with opened(articles) as index, Index.open(tmp_path / "same.winnow") as same:
        same.add(Page(str(number), text=article(number)["body"], title=f"Article {number}") for number in range(9))
        ours = {record.url: record for record in index.store.scan(Record)}
        theirs = {record.url: record for record in same.store.scan(Record)}
    for url, record in theirs.items():
        for field in (
            "text",
            "title",
            "text_digest",
            "shingle_digest",
            "fingerprints",
            "positions",
            "sketch",
            "minhash",
        ):
            assert getattr(ours[url], field) == getattr(record, field)
    assert ours.keys() == theirs.keys() | {"9"}  # which has no text, and no hashes
    assert (ours["9"].text, ours["9"].shingle_count, ours["9"].cluster) == ("", 0, ours["9"].id)
    assert len({record.id for record in ours.values()}) == 10


@pytest.mark.check
def test_a_second_run_finds_nothing_to_do(articles: OwnIndex) -> None:
    attach(articles.client, articles.address, FIELDS)
    before = articles.sources()
    report = attach(articles.client, articles.address)
    assert (report.done, report.unchanged, report.no_text) == (0, 9, 1)
    assert articles.sources() == before


@pytest.mark.check
def test_an_answer_never_comes_from_the_fields_of_another_text(articles: OwnIndex) -> None:
    attach(articles.client, articles.address, FIELDS)
    articles.change("1", body=text("another story"))  # its fields still say that it is a copy
    with opened(articles) as index:
        assert [match.url for match in index.similar(url="0")] == ["2"]
        assert [match.url for match in index.similar(url="0", exact=False)] == ["2"]
        assert not index.similar(url="1").matches
        assert sizes(index, "article") == [1] * 7 + [2]
        assert sizes(index, "article", by="both") == [1] * 7 + [2]
        cards = {card.url: card for card in index.store.scan(Card)}
        assert cards["1"].text_digest not in {cards[url].text_digest for url in "023456"}
        assert index.statistics().stale == 1
        assert Backfill(index.store._index).stale() == 1  # type: ignore[attr-defined]


@pytest.mark.check
def test_copies_with_one_stale_digest_are_told_apart(own: OwnIndex) -> None:
    """Pages with the same digest are compared once: a stale digest must not lend a page the score of another."""
    own.create(shards=1)
    own.write((str(number), {"body": text("story")}) for number in range(30))
    attach(own.client, own.address, FIELDS)
    own.change("29", body=text("another story"))
    own.change("28", author="ben")  # its text is the same
    with opened(own) as index:
        assert len(index.similar(url="0").matches) == 28
        assert len(index.similar(url="28").matches) == 28


@pytest.mark.check
def test_an_update_mends_what_is_new_changed_or_replaced(articles: OwnIndex) -> None:
    attach(articles.client, articles.address, FIELDS)
    articles.change("1", body=text("another story"))
    articles.change("2", author="ben")
    articles.write([("3", article(0)), ("10", article(0))])  # one replaced, without our fields, and a new one
    articles.client.delete(index=articles.name, id="8", params={"refresh": "true"})
    assert similar(articles, "0") == ["2"]
    with opened(articles) as index:
        assert index.statistics().stale == 3
    report = attach(articles.client, articles.address)
    assert (report.documents, report.done, report.unchanged, report.no_text) == (10, 3, 6, 1)
    assert similar(articles, "0") == ["10", "2", "3"]
    with opened(articles) as index:
        assert (index.statistics().stale, index.store.count()) == (0, 10)
    assert attach(articles.client, articles.address).done == 0


@pytest.mark.check
def test_a_text_that_goes_takes_its_fields_along(articles: OwnIndex) -> None:
    attach(articles.client, articles.address, FIELDS)
    articles.change("1", body="")
    assert similar(articles, "0") == ["2"]
    assert attach(articles.client, articles.address).no_text == 2
    ours = articles.sources()["1"]
    assert (ours["winnow"]["fingerprints"], ours["winnow"]["shingle_count"]) == ("", 0)
    assert ours["winnow.cluster"].startswith(f"{ours['winnow']['id']}-")  # and not the cluster of its old copies
    assert similar(articles, "0") == ["2"]


@pytest.mark.check
def test_clusters_are_written_back_and_fold_searches(articles: OwnIndex) -> None:
    attach(articles.client, articles.address, FIELDS)
    with opened(articles) as index:
        assert index.cluster().clustered_pages == 3
        assert {member.url for member in index.cluster_pages(index.clusters()[0].cluster)} == set("012")
        assert sizes(index, "article", by="cluster") == [1] * 6 + [3]
        assert index.statistics().stale == 0
    body = {"query": {"match": {"headline": "article"}}, "collapse": {"field": "winnow.cluster"}}
    assert len(articles.client.search(index=articles.name, body=body)["hits"]["hits"]) == 7
    assert attach(articles.client, articles.address).done == 0  # the clusters are known as winnow's own writes
    if engine_of(articles.client).search_pipelines:
        pipeline = {"search_pipeline": search_pipeline_name("winnow.cluster")}
        found = articles.client.search(index=articles.name, body={"query": body["query"]}, params=pipeline)
        assert len(found["hits"]["hits"]) == 7


@pytest.mark.check
def test_documents_without_text_are_pages_in_clusters_of_their_own(articles: OwnIndex) -> None:
    """Engines take all documents without a cluster for copies of one."""
    articles.write((f"picture {number}", {"headline": "A picture"}) for number in range(3))
    attach(articles.client, articles.address, FIELDS)
    search: dict[str, Any] = {"query": {"match": {"headline": "picture"}}}

    def hits(body: dict[str, Any], **params: str) -> list[str]:
        answer = articles.client.search(index=articles.name, body=body, params=params)
        return sorted(hit["_id"] for hit in answer["hits"]["hits"])

    pictures = ["9", *(f"picture {number}" for number in range(3))]
    for _ in ("attached", "clustered"):
        assert hits(search | {"collapse": {"field": "winnow.cluster"}}) == pictures
        if engine_of(articles.client).search_pipelines:
            assert hits(search, search_pipeline=search_pipeline_name("winnow.cluster")) == pictures
        with opened(articles) as index:
            for options in ({}, {"group": True}, {"group": True, "by": "cluster"}, {"group": True, "by": "both"}):
                found = index.search("picture", **options)
                assert sorted(hit.card.url for hit in found.hits) == pictures
                assert not any(hit.members for hit in found.hits)
            matches = index.similar(url="9")
            why = index.why_no_match(matches, SimilarQuestion(url="9"))
            said = no_match_words(why, matches, name=index.name, scheme=index.scheme, filters="")
            assert said.reason == "It has no text, so there is nothing to compare"
            index.cluster()
    # As soon as one gets a text past winnow, it is compared by it; the update makes its fields.
    articles.change("9", body=article(0)["body"])
    with opened(articles) as index:
        assert sizes(index, "edition") == [4]
        assert index.statistics().stale == 1
    assert attach(articles.client, articles.address).done == 1
    assert similar(articles, "0") == ["1", "2", "9"]


@pytest.mark.check
@pytest.mark.parametrize("title", ["headline", None])
def test_texts_of_few_words_are_copies_only_under_the_same_title(own: OwnIndex, title: str | None) -> None:
    own.create()
    headlines = ["One", "Two", "One", "Three"]
    own.write((str(number), {"headline": each, "body": "Goal!"}) for number, each in enumerate(headlines))
    attach(own.client, own.address, AttachedFields(text=("body",), title=title))
    expected = [1, 1, 2] if title else [1, 1, 1, 1]  # without a title, nobody knows
    with opened(own) as index:
        assert sizes(index, "goal") == expected
        index.cluster()
        assert sizes(index, "goal", by="cluster") == expected
    body = {"query": {"match": {"body": "goal"}}}
    collapsed = own.client.search(index=own.name, body=body | {"collapse": {"field": "winnow.cluster"}})
    assert len(collapsed["hits"]["hits"]) == len(expected)
    assert len(search_groups(own.client, own.name, body, below="winnow", text="body")) == 4  # it reads no titles


@pytest.mark.check
def test_a_document_that_cannot_be_read_is_in_a_cluster_of_its_own(
    own: OwnIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.create()
    own.write((str(number), {"body": text(number)}) for number in range(3))

    def read(_: Any, source: Any) -> str:
        if source["body"] != text(0):
            raise ExtractError("too deep")
        return str(source["body"])

    monkeypatch.setattr(AttachedReader, "text", read)
    for _ in ("attached", "updated"):
        report = attach(own.client, own.address, FIELDS)
        assert (report.documents, report.done + report.unchanged, report.failed) == (3, 1, 2)
        assert len(report.failures) == 2
        assert len({source["winnow.cluster"] for source in own.sources().values()}) == 3


@pytest.mark.check
def test_a_changed_text_leaves_its_cluster(articles: OwnIndex) -> None:
    attach(articles.client, articles.address, FIELDS)
    with opened(articles) as index:
        index.cluster()
    articles.change("0", body=text("another story"))
    attach(articles.client, articles.address)
    with opened(articles) as index:
        assert sizes(index, "article", by="cluster") == [1] * 7 + [2]


def test_detaching_gives_the_index_back(articles: OwnIndex) -> None:
    sources = articles.sources()
    mapping = articles.client.indices.get_mapping(index=articles.name)[articles.name]["mappings"]
    attach(articles.client, articles.address, FIELDS)
    with opened(articles) as index:
        index.cluster()
    done = detach(articles.client, articles.address)
    assert done.documents == 10
    assert articles.sources() == sources
    after = articles.client.indices.get_mapping(index=articles.name)[articles.name]["mappings"]
    del after["properties"]["winnow"]  # engines cannot remove a field
    assert after == mapping
    assert not articles.client.indices.exists(index=f"winnow.{articles.name}.settings")
    with pytest.raises(StoreError, match="winnow attach"):
        opened(articles)
    attach(articles.client, articles.address, FIELDS)
    assert similar(articles, "0") == ["1", "2"]


@pytest.mark.check
def test_what_cannot_be_attached_is_said_in_a_sentence_and_nothing_changes(articles: OwnIndex, engine: Running) -> None:
    client, address = articles.client, articles.address

    def refusal(where: Address = address, fields: AttachedFields | None = FIELDS, scheme: Scheme | None = None) -> str:
        with pytest.raises(WinnowError) as caught:
            attach(client, where, fields, scheme)
        sentence = str(caught.value)
        assert "\n" not in sentence
        return sentence

    before = client.indices.get(index=articles.name)
    assert "it has no field text; it has author, body, headline" in refusal(fields=AttachedFields(text=("text",)))
    assert "name the field that holds the text" in refusal(fields=None)
    assert "it has a field author of its own" in refusal(fields=AttachedFields(text=("body",), below="author"))
    with pytest.raises(QuestionError, match=r"^below is a plain name, such as winnow, not"):
        AttachedFields(text=("body",), below="a.b")
    assert "there is no index of this name" in refusal(Address.of(f"{engine.url}/no-such-index"))
    assert client.indices.get(index=articles.name) == before

    client.indices.close(index=articles.name)
    assert f"the index {articles.name} is closed" in refusal()
    client.indices.open(index=articles.name, params={"wait_for_active_shards": "1"})

    attach(client, address, FIELDS)
    assert "with other fields (text: body, title: headline, address: _id, below winnow)" in refusal(
        fields=AttachedFields(text=("body",))
    )
    assert "never compared" in refusal(scheme=Scheme.preset("passages"))
    with Index.open(f"{engine.url}/{articles.name}-store") as index:
        index.add([Page("https://example.org/", text=text(1))])
    try:
        assert "is a store that winnow made" in refusal(Address.of(f"{engine.url}/{articles.name}-store"))
    finally:
        client.indices.delete(index=f"{articles.name}-store-000001,{articles.name}-store.settings")


@pytest.mark.check
def test_winnow_adds_no_pages_to_an_attached_index(articles: OwnIndex, tmp_path: Any) -> None:
    attach(articles.client, articles.address, FIELDS)
    with opened(articles) as index:
        with pytest.raises(StoreError, match="adds no pages to it"):
            index.add([Page("https://example.org/", text=text(1))], failed=tmp_path / "failed")
        with pytest.raises(StoreError, match="deletes nothing in it"):
            index.store.delete([card.id for card in index.store.scan(Card)])
        for dry_run in (True, False):
            with pytest.raises(StoreError, match="is an index of your own, and winnow deletes nothing in it"):
                index.delete(words="mill", dry_run=dry_run)
        with pytest.raises(StoreError, match="erases nothing in it"):
            index.store.erase()
    with pytest.raises(StoreError, match="an index of your own"):
        set_up(articles.client, articles.name)


def test_a_store_opens_only_with_its_own_scheme(articles: OwnIndex) -> None:
    attach(articles.client, articles.address, FIELDS, Scheme.preset("passages"))
    with OpenSearchStore.open(str(articles.address)) as store:
        assert store.scheme == Scheme.preset("passages")
    with pytest.raises(StoreError, match="never compared"):
        OpenSearchStore.open(str(articles.address), Scheme())


@pytest.mark.check
@pytest.mark.parametrize("may_read_settings", [True, False])
def test_search_groups_follow_texts_that_were_changed_past_winnow(articles: OwnIndex, may_read_settings: bool) -> None:
    attach(articles.client, articles.address, FIELDS)
    client: Any = articles.client
    if not may_read_settings:
        client = Mock(wraps=articles.client, create_pit=articles.client.create_pit)
        client.indices.get_settings.side_effect = AuthorizationException(403, "no", {})

    def groups() -> tuple[list[list[str]], int]:
        body = {"query": {"match": {"headline": "article picture"}}, "sort": ["winnow.url"]}
        page = search_groups(client, articles.name, body, below="winnow", text="body", limit=20)
        found = [[group.hit["_id"], *(member.hit["_id"] for member in group.members)] for group in page]
        whole = articles.client.search(index=articles.name, body=body | {"size": 20})
        assert found == [
            [group.hit["_id"], *(member.hit["_id"] for member in group.members)]
            for group in group_hits(whole, below="winnow", text="body")
        ]
        return [group for group in found if len(group) > 1], page.stale

    assert groups() == ([["0", "1", "2"]], 0 if may_read_settings else 10)
    articles.change("1", body=article(5)["body"])  # its fields still say that it is a copy of 0
    articles.change("2", author="ben")  # a counter, for example: the text stays
    articles.change("9", body=article(6)["body"])  # it had none
    articles.change("7", body="")
    assert groups() == ([["0", "2"], ["1", "5"], ["6", "9"]], 4 if may_read_settings else 10)
