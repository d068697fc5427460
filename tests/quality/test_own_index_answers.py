"""An index of one's own gives the answers of a store that was made of the same pages: before and after it changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.own_index.attach import detach
from tests.public_pages import LUCENE, javadoc, licences
from tests.quality.corpora import records
from tests.stores.opensearch.own_articles import ARTICLES, OwnIndex, attach

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("own-index-answers")]

# The owner's analyzer decides what a word is. This one finds whole words in letters, as a store does.
WORDS_OF_LETTERS = {"type": "text", "analyzer": "simple"}
OWN_TYPES = {"body": WORDS_OF_LETTERS, "headline": WORDS_OF_LETTERS, "link": {"type": "keyword"}}
MAPPING = {**ARTICLES, "properties": ARTICLES["properties"] | OWN_TYPES}
FIELDS = AttachedFields(text=("body",), title="headline", url="link", time="published")
QUESTIONS: list[dict[str, Any]] = [{}, {"min_containment": 0.3}, {"min_contained": 0.5}, {"min_containment": 0.0}]
QUESTIONS += [{"exact": False}, {"min_resemblance": 0.2, "all_captures": True}]
WORDS = ("licence", "query", "software", "index reader", "warranty", "segment")
QUESTIONED, CHANGED, DELETED = 8, 250, 50


@pytest.fixture
def own(engine: Running) -> Iterator[OwnIndex]:
    with OpenSearch(engine.url, timeout=60) as client:
        made = OwnIndex(engine.url, f"own-answers-{os.getpid()}", client)
        yield made
        client.indices.delete(index=f"{made.name},winnow.{made.name}.settings", params={"ignore_unavailable": "true"})


def articles() -> dict[str, dict[str, Any]]:
    """Return the texts of several versions of the same pages, and of licences, as articles by id."""
    made: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(records(chain(javadoc(*LUCENE, one_in=8), licences()))):
        texts = {"headline": record.title or "", "body": record.text, "author": f"author {number % 7}"}
        time = {} if record.fetched_at is None else {"published": record.fetched_at.isoformat()}
        made[f"a{number}"] = {**texts, "link": record.url, **time}
    return made


def store_of(path: Path, documents: Mapping[str, dict[str, Any]]) -> Index:
    """Make a store of the same pages."""
    index = Index.open(path)
    times = (datetime.fromisoformat(each["published"]) if "published" in each else None for each in documents.values())
    both = zip(documents.values(), times, strict=True)
    index.add(Page(each["link"], text=each["body"], title=each["headline"], fetched_at=time) for each, time in both)
    return index


def answers(index: Index) -> dict[str, Any]:
    """Return answers to many questions, by URL, because the ids differ."""
    urls = Random(0).sample(sorted({card.url for card in index.store.scan(Card)}), QUESTIONED)
    found: dict[str, Any] = {}
    for url, (number, question) in product(urls, enumerate(QUESTIONS)):
        matches = index.similar(url=url, limit=None, **question)
        found[f"{url} {number}"] = [
            (each.url, each.resemblance, each.containment, each.contained, each.kind, each.passages) for each in matches
        ]
    for words in WORDS:
        found[words] = sorted(hit.card.url for hit in index.search(words, limit=10_000).hits)
    index.cluster()
    clusters: dict[str, set[str]] = {}
    for card in index.store.scan(Card):
        clusters.setdefault(card.cluster, set()).add(card.url)
    found["clusters"] = sorted(map(sorted, clusters.values()))
    found["statistics"] = index.statistics()[:4]
    return found


def check_same(own: OwnIndex, documents: Mapping[str, dict[str, Any]], folder: Path) -> None:
    with Index.open(str(own.address), create=False) as attached, store_of(folder, documents) as store:
        ours, theirs = answers(attached), answers(store)
        for question, expected in theirs.items():
            assert ours[question] == expected, question
        assert sum(map(len, theirs.values())) > 100
        assert attached.statistics().stale == 0


def test_answers_are_those_of_a_store_of_the_same_pages(own: OwnIndex, tmp_path: Path) -> None:
    documents = articles()
    own.create(MAPPING)
    own.write(documents.items())
    searches = own_searches(own)
    report = attach(own.client, own.address, FIELDS)
    assert (report.done, report.failed, report.no_text) == (len(documents), 0, 0)
    assert own_searches(own) == searches
    check_same(own, documents, tmp_path / "before.winnow")

    random = Random(1)
    ids = random.sample(sorted(documents), CHANGED + DELETED)
    for id_ in ids[:CHANGED]:
        other = documents[random.choice(sorted(documents))]["body"]
        documents[id_]["body"] = f"{documents[id_]['body'][:2_000]}\n{other[:3_000]}"
    for id_ in ids[CHANGED:]:
        del documents[id_]
        own.client.delete(index=own.name, id=id_)
    for number, id_ in enumerate(ids[:CHANGED]):
        if number % 2:
            own.client.index(index=own.name, id=id_, body=documents[id_])
        else:
            own.client.update(index=own.name, id=id_, body={"doc": {"body": documents[id_]["body"]}})
    own.client.indices.refresh(index=own.name)
    searches = own_searches(own)
    report = attach(own.client, own.address)
    assert (report.documents, report.done) == (len(documents), CHANGED)
    check_same(own, documents, tmp_path / "after.winnow")
    assert own.without_ours() == documents
    check_collapsed(own)
    assert own_searches(own) == searches
    assert detach(own.client, own.address).documents == len(documents)
    assert own.sources() == documents
    assert own_searches(own) == searches


def own_searches(own: OwnIndex) -> list[Any]:
    """Return what the owner's own searches find. Scores are left out: they depend on documents deleted long ago."""
    bodies = [{"query": {"match": {"body": words}}, "size": 10_000, "_source": False} for words in WORDS]
    bodies.append({"size": 0, "aggs": {"authors": {"terms": {"field": "author"}}}})
    answers = own.client.msearch(body=[line for body in bodies for line in ({"index": own.name}, body)])["responses"]
    found = [sorted(hit["_id"] for hit in answer["hits"]["hits"]) for answer in answers]
    return [*found, answers[-1]["aggregations"]]


def check_collapsed(own: OwnIndex) -> None:
    """Check that a search of the owner's, collapsed by cluster, folds what the clustering found."""
    with Index.open(str(own.address), create=False) as index:
        index.cluster()
        clusters = {card.url: card.cluster for card in index.store.scan(Card)}
    query = {"match": {"body": "public"}}
    plain = own.client.search(index=own.name, body={"query": query, "size": 10_000, "_source": ["link"]})
    expected = {clusters[hit["_source"]["link"]] for hit in plain["hits"]["hits"]}
    body = {"query": query, "size": 10_000, "_source": False, "collapse": {"field": "winnow.cluster"}}
    folded = own.client.search(index=own.name, body=body)["hits"]["hits"]
    assert {hit["fields"]["winnow.cluster"][0] for hit in folded} == expected
    assert len(folded) < len(plain["hits"]["hits"])
