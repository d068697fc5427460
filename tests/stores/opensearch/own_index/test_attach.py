"""An index of your own becomes a store, stays right when its documents change, and is given back as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from unittest.mock import Mock

import pytest
from opensearchpy import AuthorizationException

from opensearch_winnow import Index, Page, QuestionError, Scheme, StoreError, WinnowError
from opensearch_winnow.answers.asking.nothing_found import no_match_words
from opensearch_winnow.clients import group_hits, search_groups
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.ingest.own_index.attached_reader import AttachedReader
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.opensearch_search_pipeline import search_pipeline_name
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.similar_options import SimilarQuestion
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.own_index.backfill import Backfill
from opensearch_winnow.stores.opensearch.requests.client import Address, engine_of
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, article, attach, opened, similar, sizes, text


def test_counts_that_were_written_as_floats_are_whole_numbers() -> None:
    stored = FIELDS.stored({FIELDS.below: {"shingle_count": 7.0, "text_digest": "0f"}})
    assert stored == {"shingle_count": 7, "text_digest": "0f"}
    assert isinstance(stored["shingle_count"], int)


def test_an_attached_index_is_a_store(articles: OwnIndex) -> None:
    before = articles.sources()
    report = articles.attach(FIELDS)
    assert (report.documents, report.done, report.unchanged, report.no_text, report.failed) == (10, 9, 0, 1, 0)
    with opened(articles) as index:
        assert index.store.count() == 10
        matches = {match.url: match.title for match in index.similar(url="0")}
        assert matches == {"1": "Article 1", "2": "Article 2"}
        assert sizes(index, "edition") == [3]
        facets = index.search("edition", facets=["site", "month"]).facets
        assert {name: [each.pages for each in values] for name, values in facets.items()} == {"site": [3], "month": [3]}
        assert index.page("3").text == article(3)["body"]
        assert index.statistics().stale == 0
    assert articles.without_ours() == before
    before = articles.sources()
    report = articles.attach()  # finds nothing to do
    assert (report.done, report.unchanged, report.no_text) == (0, 9, 1)
    assert articles.sources() == before


@pytest.mark.check
def test_the_fields_are_those_of_a_store_of_the_same_pages(attached: OwnIndex, tmp_path: Any) -> None:
    with opened(attached) as index, Index.open(tmp_path / "same.winnow") as same:
        same.add(Page(str(number), text=article(number)["body"], title=f"Article {number}") for number in range(9))
        ours = {record.url: record for record in index.store.scan(Record)}
        theirs = {record.url: record for record in same.store.scan(Record)}
    for url, record in theirs.items():
        own = ours[url]
        assert (own.text, own.title, own.hashes) == (record.text, record.title, record.hashes)
    assert ours.keys() == theirs.keys() | {"9"}  # which has no text, and no hashes
    assert (ours["9"].text, ours["9"].hashes.shingle_count, ours["9"].cluster) == ("", 0, ours["9"].id)
    assert len({record.id for record in ours.values()}) == 10


@pytest.mark.check
def test_an_answer_never_comes_from_the_fields_of_another_text(attached: OwnIndex) -> None:
    attached.change("1", body=text("another story"))  # its fields still say that it is a copy
    with opened(attached) as index:
        for exact in (True, False):
            assert [match.url for match in index.similar(url="0", exact=exact)] == ["2"]
        assert not index.similar(url="1").matches
        assert sizes(index, "article") == sizes(index, "article", by="both") == [1] * 7 + [2]
        cards = {card.url: card for card in index.store.scan(Card)}
        assert cards["1"].text_digest not in {cards[url].text_digest for url in "023456"}
        assert index.statistics().stale == Backfill(index.store._index).stale() == 1  # type: ignore[attr-defined]


@pytest.mark.check
def test_copies_with_one_stale_digest_are_told_apart(own: OwnIndex) -> None:
    """Pages with the same digest are compared once: a stale digest must not lend a page the score of another."""
    own.create(shards=1)
    own.write((str(number), {"body": text("story")}) for number in range(30))
    own.attach(FIELDS)
    own.change("29", body=text("another story"))
    own.change("28", author="ben")  # its text is the same
    with opened(own) as index:
        assert [len(index.similar(url=url).matches) for url in ("0", "28")] == [28, 28]


@pytest.mark.check
def test_an_update_mends_what_is_new_changed_or_replaced(attached: OwnIndex) -> None:
    attached.change("1", body=text("another story"))
    attached.change("2", author="ben")
    attached.write([("3", article(0)), ("10", article(0))])  # one replaced, without our fields, and a new one
    attached.client.delete(index=attached.name, id="8", params={"refresh": "true"})
    assert similar(attached, "0") == ["2"]
    with opened(attached) as index:
        assert index.statistics().stale == 3
    report = attached.attach()
    assert (report.documents, report.done, report.unchanged, report.no_text) == (10, 3, 6, 1)
    assert similar(attached, "0") == ["10", "2", "3"]
    with opened(attached) as index:
        assert (index.statistics().stale, index.store.count()) == (0, 10)
    assert attached.attach().done == 0


@pytest.mark.check
def test_a_text_that_goes_takes_its_fields_along(attached: OwnIndex) -> None:
    attached.change("1", body="")
    assert similar(attached, "0") == ["2"]
    assert attached.attach().no_text == 2
    ours = attached.sources()["1"]
    assert (ours["winnow"]["fingerprints"], ours["winnow"]["shingle_count"]) == ("", 0)
    assert ours["winnow.cluster"].startswith(f"{ours['winnow']['id']}-")  # and not the cluster of its old copies
    assert similar(attached, "0") == ["2"]


@pytest.mark.check
def test_clusters_are_written_back_and_fold_searches(attached: OwnIndex) -> None:
    with opened(attached) as index:
        assert index.cluster().clustered_pages == 3
        assert {member.url for member in index.cluster_pages(index.clusters()[0].cluster)} == set("012")
        assert sizes(index, "article", by="cluster") == [1] * 6 + [3]
        assert index.statistics().stale == 0
    body: dict[str, Any] = {"query": {"match": {"headline": "article"}}}
    searches: list[tuple[Any, Any]] = [(body | {"collapse": {"field": "winnow.cluster"}}, {})]
    if engine_of(attached.client).search_pipelines:
        searches.append((body, {"search_pipeline": search_pipeline_name("winnow.cluster")}))
    for search, params in searches:
        found = attached.client.search(index=attached.name, body=search, params=params)
        assert len(found["hits"]["hits"]) == 7
    assert attached.attach().done == 0  # the clusters are known as winnow's own writes
    attached.change("0", body=text("another story"))  # a changed text leaves its cluster
    attached.attach()
    with opened(attached) as index:
        assert sizes(index, "article", by="cluster") == [1] * 7 + [2]


@pytest.mark.check
def test_documents_without_text_are_pages_in_clusters_of_their_own(articles: OwnIndex) -> None:
    """Engines take all documents without a cluster for copies of one."""
    articles.write((f"picture {number}", {"headline": "A picture"}) for number in range(3))
    articles.attach(FIELDS)
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
            assert "It has no text" in said.reason
            index.cluster()
    # As soon as one gets a text past winnow, it is compared by it; the update makes its fields.
    articles.change("9", body=article(0)["body"])
    with opened(articles) as index:
        assert sizes(index, "edition") == [4]
        assert index.statistics().stale == 1
    assert articles.attach().done == 1
    assert similar(articles, "0") == ["1", "2", "9"]


@pytest.mark.check
@pytest.mark.parametrize("title", ["headline", None])
def test_texts_of_few_words_are_copies_only_under_the_same_title(own: OwnIndex, title: str | None) -> None:
    own.create()
    headlines = ["One", "Two", "One", "Three"]
    own.write((str(number), {"headline": each, "body": "Goal!"}) for number, each in enumerate(headlines))
    own.attach(AttachedFields(text=("body",), title=title))
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
        report = own.attach(FIELDS)
        assert (report.documents, report.done + report.unchanged) == (3, 1)
        assert report.failed == len(report.failures) == 2
        assert len({source["winnow.cluster"] for source in own.sources().values()}) == 3


def test_detaching_gives_the_index_back(articles: OwnIndex) -> None:
    sources, mapping = articles.sources(), articles.mapping()
    articles.attach(FIELDS)
    with opened(articles) as index:
        index.cluster()
    assert articles.detach().documents == 10
    assert articles.sources() == sources
    after = articles.mapping()
    del after["properties"]["winnow"]  # engines cannot remove a field
    assert after == mapping
    assert not articles.has_settings()
    with pytest.raises(StoreError, match="winnow attach"):
        opened(articles)
    articles.attach(FIELDS)
    assert similar(articles, "0") == ["1", "2"]


@pytest.mark.check
def test_what_cannot_be_attached_is_said_in_a_sentence_and_nothing_changes(articles: OwnIndex, engine: Running) -> None:
    client, before = articles.client, articles.client.indices.get(index=articles.name)

    def refusal(fields: AttachedFields | None = FIELDS, scheme: Scheme | None = None, name: str = articles.name) -> str:
        with pytest.raises(WinnowError) as caught:
            attach(client, Address.of(f"{engine.url}/{name}"), fields, scheme)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "it has no field text; it has author, body, headline" in refusal(AttachedFields(text=("text",)))
    assert "name the field that holds the text" in refusal(None)
    assert "it has a field author of its own" in refusal(AttachedFields(text=("body",), below="author"))
    with pytest.raises(QuestionError, match=r"^below is a plain name, such as winnow, not"):
        AttachedFields(text=("body",), below="a.b")
    assert "there is no index of this name" in refusal(name="no-such-index")
    assert client.indices.get(index=articles.name) == before

    client.indices.close(index=articles.name)
    assert f"the index {articles.name} is closed" in refusal()
    client.indices.open(index=articles.name, params={"wait_for_active_shards": "1"})

    articles.attach(FIELDS)
    known = "with other fields (text: body, title: headline, address: _id, below winnow)"
    assert known in refusal(AttachedFields(text=("body",)))
    assert "never compared" in refusal(scheme=Scheme.preset("passages"))
    store = f"{articles.name}-store"
    with Index.open(f"{engine.url}/{store}") as index:
        index.add([Page("https://example.org/", text=text(1))])
    try:
        assert "is a store that winnow made" in refusal(name=store)
    finally:
        client.indices.delete(index=f"{store}-000001,{store}.settings")


@pytest.mark.check
def test_winnow_adds_no_pages_to_an_attached_index(attached: OwnIndex, tmp_path: Any) -> None:
    with opened(attached) as index:
        refused: dict[Callable[[], object], str] = {
            lambda: index.add([Page("https://a.org/", text=text(1))], failed=tmp_path / "failed"): "adds no pages",
            lambda: index.store.delete([card.id for card in index.store.scan(Card)]): "deletes nothing in it",
            lambda: index.delete(words="mill", dry_run=True): "winnow deletes nothing in it",
            lambda: index.delete(words="mill", dry_run=False): "winnow deletes nothing in it",
            index.store.erase: "erases nothing in it",
            lambda: set_up(attached.client, attached.name): "an index of your own",
        }
        for use, words in refused.items():
            with pytest.raises(StoreError, match=words):
                use()


def test_a_store_opens_only_with_its_own_scheme(articles: OwnIndex) -> None:
    articles.attach(FIELDS, Scheme.preset("passages"))
    with OpenSearchStore.open(str(articles.address)) as store:
        assert store.scheme == Scheme.preset("passages")
    with pytest.raises(StoreError, match="never compared"):
        OpenSearchStore.open(str(articles.address), Scheme())


@pytest.mark.check
@pytest.mark.parametrize("may_read_settings", [True, False])
def test_search_groups_follow_texts_that_were_changed_past_winnow(attached: OwnIndex, may_read_settings: bool) -> None:
    client: Any = attached.client
    if not may_read_settings:
        client = Mock(wraps=attached.client, create_pit=attached.client.create_pit)
        client.indices.get_settings.side_effect = AuthorizationException(403, "no", {})

    def ids(groups: Iterable[Any]) -> list[list[str]]:
        return [[group.hit["_id"], *(member.hit["_id"] for member in group.members)] for group in groups]

    def groups() -> tuple[list[list[str]], int]:
        body = {"query": {"match": {"headline": "article picture"}}, "sort": ["winnow.url"]}
        page = search_groups(client, attached.name, body, below="winnow", text="body", limit=20)
        whole = attached.client.search(index=attached.name, body=body | {"size": 20})
        assert ids(page) == ids(group_hits(whole, below="winnow", text="body"))
        return [group for group in ids(page) if len(group) > 1], page.stale

    assert groups() == ([["0", "1", "2"]], 0 if may_read_settings else 10)
    attached.change("1", body=article(5)["body"])  # its fields still say that it is a copy of 0
    attached.change("2", author="ben")  # a counter, for example: the text stays
    attached.change("9", body=article(6)["body"])  # it had none
    attached.change("7", body="")
    assert groups() == ([["0", "2"], ["1", "5"], ["6", "9"]], 4 if may_read_settings else 10)
