"""Fixtures that index real pages. Each store is built once per test worker and shared by the tests that use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from tests.quality.corpora import FURTHER, PUBLIC, WHOLE, Corpus, check_digest, digest, records
from tests.quality.measured import BORDERLINE, CorpusStore
from tests.quality.truth import truth_about


@pytest.fixture(scope="session")
def once() -> Callable[[str, Callable[[], Any]], Any]:
    """Return a function that calls `make` once per name and session, and returns the cached result afterwards.

    Unlike a session fixture, it makes nothing in sessions that lack the data.
    """
    made: dict[str, Any] = {}

    def call(name: str, make: Callable[[], Any]) -> Any:
        if name not in made:
            made[name] = make()
        return made[name]

    return call


@pytest.fixture(scope="session")
def fill_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Index]]:
    """Return a function that writes pages to a new store and keeps it open until the session ends."""
    folder: Path = tmp_path_factory.mktemp("quality")
    with ExitStack() as stack:

        def fill(name: str, pages: Iterable[Page], scheme: Scheme = Scheme()) -> Index:
            index = stack.enter_context(Index.open(folder / f"{name}.winnow", scheme=scheme))
            report = index.add(pages)
            assert not report.failed
            return index

        yield fill


@pytest.fixture(
    params=[
        pytest.param(PUBLIC, id="public"),
        pytest.param(WHOLE, id="whole", marks=pytest.mark.check),
        pytest.param(FURTHER, id="further", marks=pytest.mark.check),
    ]
)
def corpus(request: pytest.FixtureRequest) -> Corpus:
    """The pages to measure on. `make test` uses the public sample; `make check` all public pages, and WINNOW_DATA."""
    chosen: Corpus = request.param
    return chosen


@pytest.fixture
def corpus_store(
    corpus: Corpus, request: pytest.FixtureRequest, once: Callable[..., CorpusStore], fill_index: Callable[..., Index]
) -> CorpusStore:
    """A store of the corpus with the exact scores of its pairs. It is slow to build, so its tests share a worker."""
    unpacked = request.getfixturevalue("unpacked") if corpus is FURTHER else None

    def make() -> CorpusStore:
        made = records(corpus.pages(unpacked))
        check_digest(digest(made), corpus.digest)
        truth = truth_about(made, Scheme(), min_score=BORDERLINE[0])
        urls = [record.url for record in made]
        index = fill_index(corpus.name, corpus.pages(unpacked))
        return CorpusStore(index, urls, urls[:: corpus.question_stride], truth, corpus)

    return once(corpus.name, make)
