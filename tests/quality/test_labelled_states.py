"""149 states of a web application, by what people took for the same page: by its function, whatever data is on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from tests.quality.corpora import Unpacked, check, digest, records, web_app_states
from tests.quality.measured import LEAST, SHORT, beside_labels, best_threshold, near_duplicates

CORPUS = "859e4b0a96e8067232a72f66fc26a7e3"


@pytest.mark.check
# Pages of one function have a template in common, and other data. They have 30 words, of which ten in a row are seldom
# the same; and at a resemblance of .1 such short pages seldom share a token of the default scheme.
@pytest.mark.parametrize(
    ("name", "scheme", "best_f1", "f1"), [("default", Scheme(), 0.48, 0.11), ("short", SHORT, 0.82, 0.7)]
)
def test_f1(
    unpacked: Unpacked, filled: Callable[..., Index], name: str, scheme: Scheme, best_f1: float, f1: float
) -> None:
    pages, labels = web_app_states(unpacked)
    check(digest(records(pages), (f"{a} {b} {same}" for (a, b), same in labels.items())), CORPUS)
    index = filled(f"states-{name}", pages, scheme)
    found = near_duplicates(index, [page.url for page in pages], LEAST)
    _, best = best_threshold(found, labels, LEAST)
    assert best.f1 >= best_f1
    assert beside_labels(found, labels, 0.5).f1 >= f1
