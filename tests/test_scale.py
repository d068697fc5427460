"""The model behind docs/scale.md: at the size of its sample it says what the software does."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.generated_pages import generated_pages
from benchmarks.scale_model import SHAPE, Collection
from benchmarks.scale_samples import KINDS, Sample, questions
from opensearch_winnow import Index, Scheme
from opensearch_winnow.stores.opening import open_store
from tests.quality.corpora import records

COUNT = 40  # questions


@pytest.fixture(scope="module")
def sample() -> Sample:
    """Pages of four sites with a template each, and copies among them."""
    return Sample(records(generated_pages(0, 200)))


@pytest.mark.check
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_pages", [5, 1_000])
def test_counts_what_a_store_finds(sample: Sample, kind: str, max_pages: int, tmp_path: Path) -> None:
    path = str(tmp_path / "pages.winnow")
    with open_store(path, Scheme(), create=True) as store:
        store.write(sample.pages)
    collection = Collection(sample, len(sample), 0, max_pages)
    minima: dict[str, Any] = {f"min_{score}": KINDS[kind].minima.get(score) for score in ("resemblance", "containment")}
    counts = attrgetter("candidates", "ignored", "tokens")
    found = []
    with Index.open(path) as index:
        for page, question in zip(sample.pages, questions(sample, kind, COUNT), strict=False):
            found.append(collection.answer(question, Random(1)))
            assert counts(found[-1]) == counts(index.similar(url=page.url, frequent=max_pages, **minima))
    assert any(each.candidates for each in found)
    assert any(each.ignored for each in found) == (max_pages == 5)


def test_candidates_grow_with_the_collection_and_the_law_adds_to_them(sample: Sample) -> None:
    [question] = questions(sample, "any passage", 1)
    low, larger, high = (
        Collection(sample, size, shape).answer(question, Random(1))
        for size, shape in ((len(sample), 0), (100 * len(sample), 0), (100 * len(sample), SHAPE))
    )
    assert low.candidates * 100 <= larger.candidates <= low.candidates * 101
    assert larger.candidates <= high.candidates <= 100 * len(sample)
    assert low.postings < larger.postings <= high.postings
