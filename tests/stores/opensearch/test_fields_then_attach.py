"""Documents of winnow fields, or of a gateway: attaching takes their hashes if they are those of their texts."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from opensearch_winnow import Scheme, StoreError
from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.ingest.hashes import canonical_hashes
from opensearch_winnow.ingest.own_index import fields_maker
from opensearch_winnow.ingest.own_index.fields_filter import FieldsFilter
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.mappings.opensearch_mapping import HASH_MAPPINGS
from opensearch_winnow.mappings.record import Hashes
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.checked_stamps import has_fitting_stamp, maker_of
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
from tests.stores.opensearch.own_articles import ARTICLES, FIELDS, OwnIndex, article, opened, similar, text


def prepared(numbers: Iterable[int], scheme: Scheme | None = None) -> list[tuple[str, dict[str, object]]]:
    adding = FieldsFilter(FieldsMaker(FIELDS, scheme or Scheme()))
    lines = ((str(number), json.dumps(article(number)).encode()) for number in numbers)
    return [(id_, json.loads(adding.added(line, id_)[0])) for id_, line in lines]


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The digests of the texts whose hashes were computed."""
    digests: list[str] = []

    def noted(canon: CanonicalText, digest: str, scheme: Scheme) -> Hashes:
        digests.append(digest)
        return canonical_hashes(canon, digest, scheme)

    monkeypatch.setattr(fields_maker, "canonical_hashes", noted)
    return digests


@pytest.mark.check
def test_an_update_takes_the_hashes_of_new_documents(articles: OwnIndex, hashed: list[str]) -> None:
    articles.attach(FIELDS)
    assert len(hashed) == 9
    articles.write(prepared([0, 3, 20]))
    hashed.clear()
    before = articles.sources()
    assert similar(articles, "1") == ["2"]  # a document that is not done yet is missed
    report = articles.attach()
    assert (report.done, report.prepared, report.unchanged, hashed) == (3, 3, 7, [])
    assert similar(articles, "1") == ["0", "2"]
    after = articles.sources()
    for id_ in ("0", "3", "20"):
        old, new = before[id_]["winnow"], after[id_]["winnow"]
        assert [new[name] for name in HASH_MAPPINGS] == [old[name] for name in HASH_MAPPINGS]
        assert after[id_]["winnow.cluster"] == id_
        assert {"id", "arrival", "url"} <= after[id_]["winnow"].keys()


@pytest.mark.check
def test_hashes_of_another_text_or_scheme_are_not_taken(articles: OwnIndex, hashed: list[str]) -> None:
    articles.attach(FIELDS)
    articles.write(prepared([20, 21]))
    articles.write(prepared([22], Scheme(noise=20, guarantee=40)))
    hashed.clear()
    articles.change("20", body=text("another story"))
    articles.change("21", winnow={"sketch": None})
    report = articles.attach()
    assert (report.done, report.prepared) == (3, 0)
    sources = articles.sources()
    assert sorted(hashed) == sorted(sources[id_]["winnow"]["text_digest"] for id_ in ("20", "21", "22"))
    with opened(articles) as index:
        assert index.statistics().stale == 0


@pytest.mark.check
def test_a_prepared_index_is_attached_later(own: OwnIndex, hashed: list[str]) -> None:
    own.create(ARTICLES | {"properties": ARTICLES["properties"] | FIELDS.properties()})
    own.write(prepared(range(9)))
    hashed.clear()
    report = own.attach(FIELDS)
    assert (report.done, report.prepared, hashed) == (9, 9, [])
    assert similar(own, "0") == ["1", "2"]


def test_an_index_loaded_without_the_mapping_is_refused_with_the_reason(own: OwnIndex) -> None:
    own.create({"properties": ARTICLES["properties"]})
    own.write(prepared(range(2)))
    with pytest.raises(StoreError, match=r"loaded without their mapping; .* winnow fields --mapping"):
        own.attach(FIELDS)


@pytest.mark.check
def test_a_gateway_that_does_not_know_the_version_leaves_hashes_to_take(
    articles: OwnIndex, engine: Running, hashed: list[str]
) -> None:
    articles.attach(FIELDS)
    twice = [{"index": {"_id": "20"}}, article(21), {"index": {"_id": "20"}}, article(20)]
    with running_gateway(engine.url) as gateway:
        ask(gateway, "POST", f"/{articles.name}/_bulk?refresh=true", bulk_lines(*twice))
    assert articles.sources()["20"]["winnow"]["stamp"] == Scheme().id
    assert not has_fitting_stamp(maker_of(articles), articles.client.get(index=articles.name, id="20"))
    hashed.clear()
    report = articles.attach()
    assert (report.done, hashed) == (0, [])  # only the stamp is new
    assert has_fitting_stamp(maker_of(articles), articles.client.get(index=articles.name, id="20"))
