"""Near-duplicates in thousands of real pages, compared with the exact scores of all pairs."""

from __future__ import annotations

import pytest

from tests.quality.measured import THRESHOLD, CorpusStore, near_duplicates, pages_containing, quality_by_truth

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("near-duplicates")]

# Measured: 1 for all, estimates included. With bands as the only candidates, recall would be .997.
FLOOR = 0.999
ESTIMATE_FLOOR = 0.99  # recall and precision of estimated scores


def test_exact(corpus_store: CorpusStore) -> None:
    found = near_duplicates(corpus_store.index, corpus_store.questions)
    quality = quality_by_truth(found, corpus_store.truth.resemblances, corpus_store.questions)
    assert min(quality) >= FLOOR
    assert found == {pair: corpus_store.truth.resemblances[pair] for pair in found}  # exactly, not approximately
    assert min(found.values()) >= THRESHOLD


def test_estimated(corpus_store: CorpusStore) -> None:
    some = corpus_store.questions[::2]
    found = near_duplicates(corpus_store.index, some, exact=False)
    quality = quality_by_truth(found, corpus_store.truth.resemblances, some)
    assert min(quality) >= ESTIMATE_FLOOR


def test_containment(corpus_store: CorpusStore) -> None:
    some = corpus_store.questions[::2]
    found = pages_containing(corpus_store.index, some)
    quality = quality_by_truth(found, corpus_store.truth.containments, some)
    assert min(quality) >= FLOOR
    assert found == {pair: corpus_store.truth.containments[pair] for pair in found}
    # A page contained in a much longer one does not resemble it.
    assert len(corpus_store.truth.containments) > len(corpus_store.truth.resemblances)
