"""Stores of real pages, each made once for all tests of a worker: the tests of this folder are one group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from tests.quality.corpora import KEPT, PUBLIC, WHOLE, Corpus, check, digest, records
from tests.quality.measured import ZONE, Asked
from tests.quality.truth import truth_about


@pytest.fixture(scope="session")
def once() -> Callable[[str, Callable[[], Any]], Any]:
    """What is made, by its name: by the first who asks. The data that it is made of is not there in every session."""
    made: dict[str, Any] = {}

    def call(name: str, make: Callable[[], Any]) -> Any:
        if name not in made:
            made[name] = make()
        return made[name]

    return call


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Index]]:
    """A new store of these pages, open until the end."""
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
        pytest.param(KEPT, id="kept", marks=pytest.mark.check),
    ]
)
def corpus(request: pytest.FixtureRequest) -> Corpus:
    """The pages of a test. What every clone can fetch; more of it, and what WINNOW_DATA has, with `make check`."""
    chosen: Corpus = request.param
    return chosen


@pytest.fixture
def asked(
    corpus: Corpus, request: pytest.FixtureRequest, once: Callable[..., Asked], filled: Callable[..., Index]
) -> Asked:
    """For tests of the group near-duplicates: it takes a while."""
    unpacked = request.getfixturevalue("unpacked") if corpus is KEPT else None

    def make() -> Asked:
        made = records(corpus.pages(unpacked))
        check(digest(made), corpus.digest)
        truth = truth_about(made, Scheme(), least=ZONE[0])
        urls = [record.url for record in made]
        store = filled(corpus.name, corpus.pages(unpacked))
        return Asked(store, urls, urls[:: corpus.one_in], truth, corpus)

    return once(corpus.name, make)
