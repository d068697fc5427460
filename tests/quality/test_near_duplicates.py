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

pytestmark = pytest.mark.xdist_group("near-duplicates")

CORPUS = "0d1e7f74fd019dcd246c3191b266e3f4"
# What is measured is 1 and 1, by estimates too. With bands as the only candidates recall would be .997.
RECALL = PRECISION = 0.999
BY_ESTIMATE = 0.99


class Manuals(NamedTuple):
    store: Index
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
    found = near_duplicates(asked.store, asked.urls)
    quality = beside_truth(found, asked.truth, asked.urls)
    assert quality.recall >= RECALL
    assert quality.precision >= PRECISION
    assert found == {pair: asked.truth[pair] for pair in found}  # not about so much: this much
    assert min(found.values()) >= THRESHOLD


def test_estimated(asked: Manuals) -> None:
    some = asked.urls[::4]
    found = near_duplicates(asked.store, some, exact=False)
    quality = beside_truth(found, asked.truth, some)
    assert quality.recall >= BY_ESTIMATE
    assert quality.precision >= BY_ESTIMATE
