"""Stores of real pages, each made once for all tests of a worker: the tests of this folder are one group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.scheme import Scheme
from tests.quality.corpora import Unpacked, check, digest, manuals, records
from tests.quality.measured import ZONE, Manuals
from tests.quality.resemblances import resemblances

CORPUS = "0d1e7f74fd019dcd246c3191b266e3f4"  # of the manuals, on which floors were measured


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


@pytest.fixture
def asked(unpacked: Unpacked, once: Callable[..., Manuals], filled: Callable[..., Index]) -> Manuals:
    """For tests of the group near-duplicates: it takes a while."""

    def make() -> Manuals:
        corpus = records(manuals(unpacked))
        check(digest(corpus), CORPUS)
        truth = resemblances(corpus, Scheme(), least=ZONE[0])
        return Manuals(filled("manuals", manuals(unpacked)), [record.url for record in corpus], truth)

    return once("manuals", make)
