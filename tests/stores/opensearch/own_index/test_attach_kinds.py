"""Indices of every kind can be attached: aliases, data streams, nested fields, odd ids, fields of other programs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from opensearch_winnow import Filters, Scheme, StoreError
from opensearch_winnow.clients import mapping_fragment, winnow_fields
from opensearch_winnow.foundation.written_time import EPOCH
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.own_index.attach import stale
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from tests.gateway.running_gateway import ask, running_gateway
from tests.ingest.own_index.test_date_format import WRITTEN
from tests.stores.opensearch.own_articles import (
    ARTICLES,
    FIELDS,
    OwnIndex,
    article,
    opened,
    plan,
    similar,
    sizes,
    text,
)

pytestmark = pytest.mark.check


def test_several_fields_nested_ones_and_html(own: OwnIndex) -> None:
    words = {"type": "text"}
    sections = {"type": "nested", "properties": {"words": words, "number": {"type": "integer"}}}
    meta = {"properties": {"link": {"type": "keyword"}}}
    own.create({"properties": {"intro": words, "sections": sections, "meta": meta}})
    halves, a, b = [text("one"), text("two")], "https://example.org/a", "https://example.org/b"
    parts = [{"words": f"<p>{half}</p>", "number": number} for number, half in enumerate(halves)]
    introduced = {"intro": "An introduction", "sections": parts, "meta": {"link": a}}
    own.write([("a", introduced), ("b", {"sections": [{"words": " ".join(halves)}], "meta.link": b})])
    fields = AttachedFields(text=("intro", "sections.words"), url="meta.link", html=True, below="copies")
    assert own.attach(fields).done == 2
    with opened(own) as index:
        page = index.page(a)
        assert (page.text[:15], "<p>" in page.text) == ("An introduction", False)
        (match,) = index.similar(url=b)
        assert (match.url, match.card.site) == (a, "example.org")
        assert {hit.card.url for hit in index.search(halves[1].split()[5]).hits} == {a, b}
        assert [hit.card.url for hit in index.search("introduction").hits] == [a]


def test_times_filter_and_order_pages(own: OwnIndex) -> None:
    own.create()
    days = {"a": "2024-05-06T10:00:00Z", "b": 1_704_067_200_000, "c": None}
    own.write((id_, {"body": text("story"), "published": day}) for id_, day in days.items())
    own.attach(AttachedFields(text=("body",), time="published"))
    with opened(own) as index:
        assert index.page("b").fetched_at == datetime(2024, 1, 1, tzinfo=UTC)
        may = Filters(since=datetime(2024, 5, 1, tzinfo=UTC))
        assert [match.url for match in index.similar(url="c", where=may)] == ["a"]
        index.cluster()
        assert [card.url for card in index.cluster_pages(index.clusters()[0].cluster)] == ["b", "a", "c"]


def test_documents_with_a_routing_of_their_own(own: OwnIndex) -> None:
    own.create()
    for number in range(6):
        routed = {"routing": f"r{number}", "refresh": "true"}
        own.client.index(index=own.name, id=str(number), body=article(number % 2), params=routed)
    assert own.attach(FIELDS).done == 6
    assert len(similar(own, "0")) == 5
    with opened(own) as index:
        index.cluster()
        assert index.clusters()[0].pages == 6
    assert own.attach().done == 0
    assert own.detach().documents == 6
    assert own.without_ours() == own.sources()


def test_an_alias_of_several_indices(own: OwnIndex, engine: Running) -> None:
    parts = [OwnIndex(engine.url, f"{own.name}-{number}", own.client) for number in range(3)]
    for number, part in enumerate(parts[:2]):
        part.create()
        part.write((str(each), article(each)) for each in range(number, number + 2))  # "1" is in both
        own.client.indices.put_alias(index=part.name, name=own.name)
    try:
        assert own.attach(FIELDS).done == 4
        assert similar(own, "0") == ["1", "2"]
        with opened(own) as index:
            assert index.cluster().clustered_pages == 4
            assert len({card.id for card in index.store.scan(Card)}) == 4
            # A new index behind the alias, as a rollover makes it.
            parts[2].create()
            parts[2].write([("7", article(0))])
            own.client.indices.put_alias(index=parts[2].name, name=own.name)
            assert index.search("article", group=True).total == 4
            assert own.attach().done == 1
            assert index.search("article", group=True).total == 5  # the same store, opened before
            assert index.store._index.maker.uuids.keys() == {part.name for part in parts}  # type: ignore[attr-defined]
        assert similar(own, "0") == ["1", "2", "7"]
        with pytest.raises(StoreError, match=f"it was attached as a part of {own.name}"):
            parts[0].detach()
        assert own.detach().documents == 5
    finally:
        own.client.indices.delete(index=",".join(part.name for part in parts))


def test_a_data_stream(own: OwnIndex) -> None:
    client, name = own.client, own.name
    if engine_of(client).product == "elasticsearch":
        pytest.skip("Elasticsearch 7.10 has data streams only with a plugin that is not free software")
    mappings = {"properties": {"@timestamp": {"type": "date"}, **ARTICLES["properties"]}}
    template = {"index_patterns": [name], "data_stream": {}, "template": {"mappings": mappings}}
    client.indices.put_index_template(name=name, body=template)
    client.transport.perform_request("PUT", f"/_data_stream/{name}")

    def write(day: int, number: int) -> None:
        document = {"@timestamp": f"2024-05-0{day}T10:00:00Z", **article(number)}
        client.index(index=name, body=document, params={"op_type": "create", "refresh": "true"})

    try:
        for number in range(4):
            write(6, number)
        assert own.attach(FIELDS).done == 4
        with opened(own) as index:
            assert index.cluster().clustered_pages == 3
        client.transport.perform_request("POST", f"/{name}/_rollover")
        write(7, 0)
        assert own.attach().done == 1
        with opened(own) as index:
            assert index.cluster().clustered_pages == 4
        assert own.detach().documents == 5
    finally:
        client.transport.perform_request("DELETE", f"/_data_stream/{name}")
        client.indices.delete_index_template(name=name)


def test_a_field_of_your_own_called_canonical_is_left_alone(own: OwnIndex) -> None:
    """No document has a canonical URL that winnow has read, so the earliest page is shown."""
    own.create({"properties": {"body": {"type": "text"}, "canonical": {"type": "text"}, "published": {"type": "date"}}})
    made = {"body": f"mill {text('m')}", "canonical": "a"}
    own.write((id_, made | {"published": f"{year}-01-01"}) for id_, year in {"a": 2024, "b": 2022, "c": 2023}.items())
    own.attach(AttachedFields(text=("body",), time="published"))
    with opened(own) as index:
        for rule, shown in (("canonical", "b"), ("newest", "a")):
            (hit,) = index.search("mill", group=True, representative=rule).hits
            assert (hit.url, len(hit.members)) == (shown, 2)
            index.cluster(representative=rule)
            assert [card.url for card in index.store.scan(Card) if card.id == card.cluster] == [shown]
    assert {each["canonical"] for each in own.without_ours().values()} == {"a"}


def test_an_incomplete_source_is_refused(own: OwnIndex) -> None:
    own.create({**ARTICLES, "_source": {"excludes": ["author"]}})
    with pytest.raises(StoreError, match="its _source is not complete"):
        plan(own.client, own.address, FIELDS)


def test_a_copy_of_an_attached_index_is_checked_anew(attached: OwnIndex, engine: Running) -> None:
    """Stamps name their index: in a copy of it, equal version numbers mean nothing."""
    copy = OwnIndex(engine.url, f"{attached.name}-copy", attached.client)
    copy.create(attached.mapping())
    try:
        body = {"source": {"index": attached.name}, "dest": {"index": copy.name}}
        attached.client.reindex(body=body, params={"refresh": "true"})
        copy.change("1", body=text("another story"))  # now it has the version that its stamp says
        assert [match for match in similar(copy, "0") if match in "12"] == ["2"]
    finally:
        attached.client.indices.delete(index=copy.name)


def test_fields_of_another_scheme_are_not_taken_over(own: OwnIndex) -> None:
    """The owner's programs may have written fields before; nothing tells with which scheme."""
    fields = mapping_fragment(below="winnow")["properties"]
    own.create({**ARTICLES, "properties": ARTICLES["properties"] | fields})
    other = Scheme.preset("passages")
    own.write((str(each), article(each) | {"winnow": winnow_fields(article(each)["body"], other)}) for each in range(3))
    assert own.attach(FIELDS).done == 3
    with opened(own) as index:
        expected = winnow_fields(article(1)["body"])["fingerprint_count"]
        assert {card.url: card.fingerprint_count for card in index.store.scan(Card)}["1"] == expected
        assert sizes(index, "edition") == [3]


def test_an_index_is_attached_with_a_key(articles: OwnIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, address, passages = articles.client, articles.address, Scheme.preset("passages")
    done = articles.attach(FIELDS, passages, key="open sesame").done
    scheme = plan(client, address).attachment.scheme.scheme("open sesame")
    assert (done > 0, scheme) == (True, replace(passages, key="open sesame"))
    for key, wanted, complaint in (
        (None, None, "has a secret key: .*--key-file"),
        (None, passages, "has a secret key: .*--key-file"),
        ("open barley", None, "wrong key for scheme"),
        ("open sesame", Scheme(), "is attached with scheme 20-40-"),
    ):
        with pytest.raises(StoreError, match=complaint):
            articles.attach(None, wanted, key=key)
        if wanted is None:
            with pytest.raises(StoreError, match=complaint):
                stale(client, address, key)
    (tmp_path / "key").write_text("open sesame")
    monkeypatch.setenv("WINNOW_KEY_FILE", str(tmp_path / "key"))
    assert stale(client, address) == 0
    assert articles.attach().unchanged == done
    with opened(articles) as index:
        assert index.scheme.key == "open sesame"
    articles.detach()
    articles.attach(FIELDS)
    assert plan(client, address).attachment.scheme.id == Scheme(key="open sesame").id


def test_texts_in_code_and_odd_ids(own: OwnIndex) -> None:
    own.create()
    ids = ["a/b?c=d#e", "é 日本", "%2F", "x" * 500, '"quoted"']
    own.write((id_, {"body": text("story")}) for id_ in ids)
    own.attach(FIELDS)
    with opened(own) as index:
        assert {card.url for card in index.store.scan(Card)} == set(ids)
        for card in index.store.scan(Card):
            assert index.capture(card.id).url == card.url
            assert len(index.similar(id=card.id).matches) == 4


def test_clusters_are_updated_incrementally(attached: OwnIndex, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    with opened(attached) as index:
        assert index.cluster(state=state).clustered_pages == 3
    attached.write([("10", {"headline": "Article 10", "body": f"{article(0)['body']} And more."})])
    attached.attach()
    with opened(attached) as index:
        found = index.cluster(state=state)
        assert (found.clustered_pages, found.fresh) == (4, 1)
        assert sizes(index, "article", by="cluster") == [1] * 6 + [4]


def test_a_document_that_failed_is_tried_again(own: OwnIndex) -> None:
    """The engine refuses to write a document that it has accepted before; later it accepts it."""
    parts = {"type": "nested", "properties": {"words": {"type": "text"}}}
    own.create({"properties": {"parts": parts, "body": {"type": "text"}}}, shards=1)
    own.write((str(number), {"body": text(number), "parts": [{"words": "a"}] * (1 + number)}) for number in range(3))
    limit = "index.mapping.nested_objects.limit"
    own.client.indices.put_settings(index=own.name, body={limit: 2})
    report = own.attach(AttachedFields(text=("body",)))
    assert (report.done, report.failed) == (2, 1)
    assert report.failures[0].startswith("2: ")
    with opened(own) as index:
        assert index.statistics().stale == 1
    own.client.indices.put_settings(index=own.name, body={limit: 100})
    report = own.attach()
    assert (report.done, report.unchanged, report.failed) == (1, 2, 0)


def test_times_are_read_as_the_engine_reads_them(own: OwnIndex) -> None:
    fields = {f"t{number}": {"type": "date", "format": each[0]} for number, each in enumerate(WRITTEN)}
    own.create({"properties": fields})
    document = {name: value for name, (_, value, _) in zip(fields, WRITTEN, strict=True)}
    own.write([("1", document)])
    wanted = [{"field": name, "format": "epoch_millis"} for name in fields]
    (hit,) = own.client.search(index=own.name, body={"docvalue_fields": wanted})["hits"]["hits"]
    assert {name: int(hit["fields"][name][0]) for name in fields} == {
        name: (time - EPOCH) // timedelta(milliseconds=1) for name, (_, _, time) in zip(fields, WRITTEN, strict=True)
    }


def test_times_in_a_format_of_the_mapping_are_read_or_counted(own: OwnIndex, engine: Running) -> None:
    published = {"type": "date", "format": "dd.MM.yyyy HH:mm||epoch_second||week_date"}
    own.create({"properties": {"body": {"type": "text"}, "published": published}})
    times = {"1": "31.12.2024 12:00", "2": 1735646400, "3": "2024-W52-2", "4": None}
    own.write((id_, {"body": text(id_), "published": time}) for id_, time in times.items())
    fields = AttachedFields(text=("body",), time="published")
    assert plan(own.client, own.address, fields).unknown_formats == ["week_date"]
    report = own.attach(fields)
    assert (report.done, report.times_unread) == (4, 1)
    with running_gateway(engine.url) as gateway:
        for id_, time in (("5", 1735646400), ("6", "2024-W52-2")):
            ask(gateway, "PUT", f"/{own.name}/_doc/{id_}?refresh=true", {"body": text(id_), "published": time})
    assert own.sources()["5"]["winnow"]["fetched_at"] == "2024-12-31T12:00:00Z"
    assert own.attach().times_unread == 2
    noon = datetime(2024, 12, 31, 12, tzinfo=UTC)
    with opened(own) as index:
        found = {card.url: card.fetched_at for card in index.store.scan(Card)}
    assert found == {"1": noon, "2": noon, "3": None, "4": None, "5": noon, "6": None}
