"""149 states of a web application, by what people took for the same page: by its function, whatever data is on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from opensearch_winnow.index import Index
from tests.quality.corpora import Unpacked, check, digest, records, web_app_states
from tests.quality.measured import Pairs, beside_labels, best_threshold, near_duplicates

pytestmark = pytest.mark.xdist_group("quality")

CORPUS = "859e4b0a96e8067232a72f66fc26a7e3"
LEAST = 0.05  # asked of the store; the best threshold is above it
# Two pages of one function have a template in common, and other data: 10 words in a row are few on a page of 30.
BEST_F1 = 0.83
F1 = 0.1  # at .5
PRECISION = 0.99  # at .5


class States(NamedTuple):
    found: Pairs
    labels: dict[tuple[str, str], bool]


@pytest.fixture
def states(unpacked: Unpacked, once: Callable[..., States], filled: Callable[..., Index]) -> States:
    def make() -> States:
        pages, labels = web_app_states(unpacked)
        check(digest(records(pages), (f"{a} {b} {same}" for (a, b), same in labels.items())), CORPUS)
        index = filled("states", pages)
        return States(near_duplicates(index, [page.url for page in pages], LEAST), labels)

    return once("states", make)


def test_at_the_best_threshold(states: States) -> None:
    threshold, quality = best_threshold(states.found, states.labels, LEAST)
    assert quality.f1 >= BEST_F1
    assert LEAST < threshold < 0.5


def test_at_one_half(states: States) -> None:
    quality = beside_labels(states.found, states.labels, 0.5)
    assert quality.f1 >= F1
    assert quality.precision >= PRECISION
