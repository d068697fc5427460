"""Near-duplicates in thousands of real pages, beside the exact scores of all pairs."""

from __future__ import annotations

import pytest

from tests.quality.measured import THRESHOLD, Asked, beside_truth, containing, near_duplicates

pytestmark = pytest.mark.xdist_group("near-duplicates")

# What is measured is 1 and 1, by estimates too. With bands as the only candidates recall would be .997.
RECALL = PRECISION = 0.999
BY_ESTIMATE = 0.99


def test_exact(asked: Asked) -> None:
    found = near_duplicates(asked.store, asked.questions)
    quality = beside_truth(found, asked.truth.resemblances, asked.questions)
    assert quality.recall >= RECALL
    assert quality.precision >= PRECISION
    assert found == {pair: asked.truth.resemblances[pair] for pair in found}  # not about so much: this much
    assert min(found.values()) >= THRESHOLD


def test_estimated(asked: Asked) -> None:
    some = asked.questions[::2]
    found = near_duplicates(asked.store, some, exact=False)
    quality = beside_truth(found, asked.truth.resemblances, some)
    assert quality.recall >= BY_ESTIMATE
    assert quality.precision >= BY_ESTIMATE


def test_containment(asked: Asked) -> None:
    some = asked.questions[::2]
    found = containing(asked.store, some)
    quality = beside_truth(found, asked.truth.containments, some)
    assert quality.recall >= RECALL
    assert quality.precision >= PRECISION
    assert found == {pair: asked.truth.containments[pair] for pair in found}
    assert len(asked.truth.containments) > len(asked.truth.resemblances)  # a page inside a longer one is no near-copy
