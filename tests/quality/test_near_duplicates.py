"""Near-duplicates in 4,920 pages of manuals and licences, beside the exact resemblance of all twelve million pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.scheme import Scheme
from tests.quality.corpora import Unpacked, check, digest, manuals, records
from tests.quality.measured import THRESHOLD, ZONE, Pairs, beside_truth, near_duplicates
from tests.quality.resemblances import resemblances

pytestmark = pytest.mark.xdist_group("quality")

CORPUS = "0d1e7f74fd019dcd246c3191b266e3f4"
RECALL = PRECISION = 0.99
BY_ESTIMATE = 0.97


class Manuals(NamedTuple):
    index: Index
    urls: list[str]
    truth: Pairs


@pytest.fixture
def asked(unpacked: Unpacked, once: Callable[..., Manuals], filled: Callable[..., Index]) -> Manuals:
    def make() -> Manuals:
        corpus = records(manuals(unpacked))
        check(digest(corpus), CORPUS)
        truth = resemblances(corpus, Scheme(), least=ZONE[0])
        return Manuals(filled("manuals", manuals(unpacked)), [record.url for record in corpus], truth)

    return once("manuals", make)


def test_exact(asked: Manuals) -> None:
    found = near_duplicates(asked.index, asked.urls)
    quality = beside_truth(found, asked.truth, asked.urls)
    assert quality.recall >= RECALL
    assert quality.precision >= PRECISION
    assert found == {pair: asked.truth[pair] for pair in found}  # not about so much: this much
    assert min(found.values()) >= THRESHOLD


def test_estimated(asked: Manuals) -> None:
    found = near_duplicates(asked.index, asked.urls, exact=False)
    quality = beside_truth(found, asked.truth, asked.urls)
    assert quality.recall >= BY_ESTIMATE
    assert quality.precision >= BY_ESTIMATE
