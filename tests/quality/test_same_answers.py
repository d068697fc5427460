"""Both stores answer every question in the same way, on one shard and on several: pages, scores, passages and order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from random import Random
from typing import Any, NamedTuple

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.scheme import Scheme
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.setup import set_up
from tests.quality.corpora import Unpacked, html_pages

pytestmark = pytest.mark.xdist_group("same-answers")

MANUAL = 12  # one page in so many of each version of the manual
LICENCES = 250
QUESTIONS = 25


class Stores(NamedTuple):
    embedded: Index
    others: dict[int, Index]  # by the number of their shards
    urls: list[str]


@pytest.fixture
def stores(
    unpacked: Unpacked,
    once: Callable[..., Stores],
    filled: Callable[..., Index],
    on_engine: Callable[[str, int], Index],
) -> Stores:
    def make() -> Stores:
        embedded = filled("same answers", pages(unpacked))
        others = {shards: on_engine(f"same-answers-{shards}", shards) for shards in (1, 4)}
        for index in others.values():
            report = index.add(pages(unpacked))
            assert (report.indexed, report.failed.total()) == (embedded.store.count(), 0)
        return Stores(embedded, others, [card.url for card in embedded.store.cards()])

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


def pages(unpacked: Unpacked) -> Iterator[Page]:
    """Versions of the same pages, and licences, of which many have passages in common; in an order of their own."""
    manual = html_pages(unpacked("postgresql-doc-13-15-17"), "https://pg.example")
    licences = html_pages(unpacked("spdx-license-pages"), "https://spdx.example")
    # By the name of the file, so that the versions of a page are all in or all out.
    versions = (page for page in manual if sum(page.url.rpartition("/")[2].encode()) % MANUAL == 0)
    return chain(versions, islice(licences, LICENCES))


def same(stores: Stores, ask: Callable[[Index], Any]) -> Any:
    expected = ask(stores.embedded)
    for shards, index in stores.others.items():
        assert ask(index) == expected, f"{shards} shards"
    return expected


def similar(index: Index, **question: Any) -> Matches:
    return replace(index.similar(**question), seconds=0.0)


def test_the_records_are_the_same(stores: Stores) -> None:
    records = same(stores, lambda index: list(index.store.scan()))
    assert len(records) > 300
    assert same(stores, lambda index: index.store.statistics()[:4])


@pytest.mark.parametrize(
    ("asked", "least"),
    [
        ({}, 20),
        ({"min_containment": 0}, 300),
        ({"min_containment": 0, "frequent": 5}, 200),  # nearly every passage of a licence is on more pages
        ({"min_containment": 0.3, "exact": False}, 20),
        ({"min_contained": 0.5, "limit": 3}, 20),
        ({"exact": False, "where": Filters(site="spdx.example")}, 5),
        ({"min_containment": 0, "guarantee": 400}, 200),
        ({"min_resemblance": 0.1, "min_containment": 0.2, "all_captures": True}, 20),
    ],
    ids=str,
)
def test_questions_about_pages(stores: Stores, asked: dict[str, Any], least: int) -> None:
    found = 0
    for url in Random(6).sample(stores.urls, QUESTIONS):
        found += len(same(stores, lambda index, url=url: similar(index, url=url, **asked)).matches)  # type: ignore[misc]
    assert found >= least


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
        learned = index.learn_boilerplate("spdx.example")
        try:
            questions = Random(8).sample(stores.urls, 20)
            return learned, [similar(index, url=url, min_containment=0) for url in questions]
        finally:
            for each in learned:
                index.remove_boilerplate(each.name)

    learned, answers = same(stores, ask)
    assert learned
    assert any(match.boilerplate for answer in answers for match in answer.matches)


@pytest.mark.parametrize(
    "typed",
    [
        "license",
        "warranty -gnu",
        '"without warranty of any kind"',
        "postgresql index scan",
        "the",
        "isn't",
    ],
)
def test_the_same_pages_have_the_words(stores: Stores, typed: str) -> None:
    """In an order of their own: each engine has its own scores."""
    found = same(stores, lambda index: {hit.card.url for hit in index.search(typed, limit=2_000).hits})
    assert same(stores, lambda index: index.search(typed).total) == len(found) > 0
