"""149 states of a web application. People labelled two states as the same page by function, whatever data they show."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from tests.quality.corpora import Unpacked, check_digest, digest, records, web_app_states
from tests.quality.measured import (
    MIN_RESEMBLANCE,
    SHORT_TEXT_SCHEME,
    best_threshold,
    near_duplicates,
    quality_by_labels,
)

CORPUS = "859e4b0a96e8067232a72f66fc26a7e3"


@pytest.mark.check
# Pages with the same function share a template and differ in their data. They have about 30 words and seldom share ten
# in a row. At a resemblance of .1, such short pages seldom share a token of the default scheme.
@pytest.mark.parametrize(
    ("name", "scheme", "best_f1", "f1"), [("default", Scheme(), 0.48, 0.11), ("short", SHORT_TEXT_SCHEME, 0.82, 0.7)]
)
def test_f1(
    unpacked: Unpacked, fill_index: Callable[..., Index], name: str, scheme: Scheme, best_f1: float, f1: float
) -> None:
    pages, labels = web_app_states(unpacked)
    check_digest(digest(records(pages), (f"{a} {b} {same}" for (a, b), same in labels.items())), CORPUS)
    index = fill_index(f"states-{name}", pages, scheme)
    found = near_duplicates(index, [page.url for page in pages], MIN_RESEMBLANCE)
    _, best = best_threshold(found, labels, MIN_RESEMBLANCE)
    assert best.f1 >= best_f1
    assert quality_by_labels(found, labels, 0.5).f1 >= f1
