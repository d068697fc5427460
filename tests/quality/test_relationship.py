"""The relationship of texts that were made from real pages: edited, shuffled, cut, extended and pasted."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain

import pytest

from opensearch_winnow.queries.compare import compare
from tests.public_pages import LUCENE, javadoc, licences
from tests.quality.corpora import records
from tests.quality.related_texts import agrees, related_texts

# Measured: .94 to 1 for each kind, .976 on average.
FLOOR, MEAN_FLOOR = 0.92, 0.965
SWAPPED = {"condensed": "expanded", "expanded": "condensed"}


@pytest.mark.check
@pytest.mark.parametrize("swapped", [False, True])
def test_most_relationships_are_found(swapped: bool) -> None:
    pages = records(chain(javadoc(LUCENE[0], one_in=8), list(licences())[::4]))
    right = defaultdict(list)
    for kind, a, b in related_texts(page.text for page in pages):
        found = compare(b, a).relationship if swapped else compare(a, b).relationship
        assert found is not None
        expected = SWAPPED.get(kind, kind) if swapped else kind
        right[kind].append(agrees(expected, found.kind))
    assert min(map(len, right.values())) >= 80
    shares = {kind: sum(each) / len(each) for kind, each in right.items()}
    assert min(shares.values()) >= FLOOR, shares
    assert sum(shares.values()) / len(shares) >= MEAN_FLOOR, shares
