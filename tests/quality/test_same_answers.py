"""Both stores give the same answers, on one shard and on several: pages, scores, passages and order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from random import Random
from typing import Any, NamedTuple

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.searching.results import SearchResults
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up
from tests.engine_fixture import VERSION
from tests.public_pages import LUCENE, javadoc, licences

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("same-answers")]

SAME_BM25_SCALE = VERSION.startswith("3")  # older engines return BM25 scores larger by a constant factor
SHARDS = (1, 5)  # one store on the engine for each
QUESTIONS = 25  # in each test


class Stores(NamedTuple):
    embedded: Index
    others: dict[int, Index]  # on the engine, by number of shards
    urls: list[str]


@pytest.fixture
def stores(
    once: Callable[..., Stores], fill_index: Callable[..., Index], on_engine: Callable[[str, int], Index]
) -> Stores:
    def make() -> Stores:
        embedded = fill_index("same answers", pages())
        others = {shards: on_engine(f"same-answers-{shards}", shards) for shards in SHARDS}
        for index in others.values():
            report = index.add(pages())
            assert (report.indexed, report.failed.total()) == (embedded.store.count(), 0)
        return Stores(embedded, others, [card.url for card in embedded.store.scan(Card)])

    return once("same answers", make)


@pytest.fixture(scope="session")
def on_engine(engine: Running) -> Iterator[Callable[[str, int], Index]]:
    opened: list[Index] = []

    def make(name: str, shards: int) -> Index:
        name = f"{name}-{os.getpid()}"
        with OpenSearch(engine.url) as client:
            set_up(client, name, Scheme(), shards=shards)
        opened.append(Index.open(f"{engine.url}/{name}"))
        return opened[-1]

    yield make
    for index in opened:
        index.close()


def pages() -> Iterator[Page]:
    """Yield several versions of the same pages, and licences, many of which share passages."""
    return chain(javadoc(*LUCENE, one_in=12), islice(licences(), 250))


def same(stores: Stores, ask: Callable[[Index], Any]) -> Any:
    """Return what `ask` answers on the embedded store, after checking that all other stores answer the same."""
    expected = ask(stores.embedded)
    for shards, index in stores.others.items():
        assert ask(index) == expected, f"{shards} shards"
    return expected


def similar(index: Index, **question: Any) -> Matches:
    return replace(index.similar(**question), seconds=0.0)


def test_the_records_are_the_same(stores: Stores) -> None:
    records = same(stores, lambda index: list(index.store.scan(Record)))
    assert len(records) > 200
    assert same(stores, lambda index: index.store.statistics()[:4])


@pytest.mark.parametrize(
    ("options", "min_matches"),  # `min_matches`: per question, on average
    [
        ({}, 1.2),
        ({"min_containment": 0}, 15),
        ({"min_containment": 0, "frequent": 5}, 4),  # nearly every passage of a licence is on more pages
        ({"min_containment": 0.3, "exact": False}, 1.2),
        ({"min_contained": 0.5, "limit": 3}, 1),
        ({"exact": False, "where": Filters(site="spdx.example")}, 0.2),
        ({"min_containment": 0, "guarantee": 400}, 10),
        ({"min_resemblance": 0.1, "min_containment": 0.2, "all_captures": True}, 1.2),
    ],
    ids=str,
)
def test_questions_about_pages(stores: Stores, options: dict[str, Any], min_matches: float) -> None:
    found = 0
    for url in Random(6).sample(stores.urls, QUESTIONS):
        found += len(same(stores, lambda index, url=url: similar(index, url=url, **options)).matches)  # type: ignore[misc]
    assert found >= min_matches * QUESTIONS


def test_questions_about_texts(stores: Stores) -> None:
    found = 0
    for url in Random(7).sample(stores.urls, QUESTIONS):
        text = stores.embedded.page(url).text
        start = Random(url).randrange(len(text))
        part = text[start : start + 1_500]
        if len(part) > 300:
            found += len(same(stores, lambda index, part=part: similar(index, text=part)).matches)  # type: ignore[misc]
    assert found >= QUESTIONS


def test_with_boilerplate(stores: Stores) -> None:
    def ask(index: Index) -> Any:
        learned = index.learn_boilerplate("lucene.example")
        try:
            questions = Random(8).sample(stores.urls, QUESTIONS)
            return learned, [similar(index, url=url, min_containment=0) for url in questions]
        finally:
            for each in learned:
                index.remove_boilerplate(each.name)

    learned, answers = same(stores, ask)
    assert learned
    assert any(match.boilerplate for answer in answers for match in answer.matches)


TYPED = ["license", "warranty -gnu", '"without warranty of any kind"', "index reader field", "the", "don't"]
TYPED += ["lucen* OR licen* -mit", "create OR return value"]


@pytest.mark.parametrize("typed", TYPED)
def test_the_same_pages_have_the_words(stores: Stores, typed: str) -> None:
    """The order is the same too, and so are the scores, apart from the rounding of their last bits."""

    def ask(index: Index) -> Any:
        return [(hit.card, hit.snippet, hit.marks, hit.title_marks) for hit in index.search(typed, limit=2_000).hits]

    assert len(same(stores, ask)) == stores.embedded.search(typed).total > 0
    scores = [[hit.score for hit in index.search(typed).hits] for index in (stores.embedded, *stores.others.values())]
    for each in scores[1:]:
        factor = 1.0 if SAME_BM25_SCALE else each[0] / scores[0][0]
        assert each == pytest.approx([factor * score for score in scores[0]], rel=1e-5)


@pytest.mark.parametrize("typed", TYPED)
@pytest.mark.parametrize("by", ["signature", "cluster", "both"])
def test_the_same_groups(stores: Stores, typed: str, by: Any) -> None:
    def ask(index: Index) -> Any:
        options = {"group": True, "by": by, "facets": ("site", "month")}
        first, second = (index.search(typed, limit=5, page=page, **options) for page in (1, 2))
        whole = index.search(typed, examine=2_000, limit=500, **options)
        return [without_scores(results) for results in (first, second, whole)]

    groups, *_ = same(stores, ask)[2]
    assert groups
    assert by == "cluster" or any(len(group) > 1 for group in groups)


def without_scores(results: SearchResults) -> Any:
    """Return what must be equal: not the scores, whose scale differs, nor numbers of clusters, which are estimates."""
    groups = [
        [hit.card.url, *((each.url, each.resemblance, each.kind) for each in hit.members)] for hit in results.hits
    ]
    late = [(each.url, each.member.url) for each in results.folded]
    assert results.at_least <= results.at_most
    counts = (results.groups, results.at_least, results.at_most, results.facets) if results.by == "signature" else ()
    return groups, late, results.total, results.examined, counts
