"""95 short answers: the containment of each in its source separates copied, reworded and independent answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import median

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from tests.quality.corpora import Unpacked, answers, check_digest, digest, records
from tests.quality.measured import REUSE_CLASSES, SHORT_TEXT_SCHEME, containment_in_source, roc_auc

CORPUS = "aa3bbff5c6d12661eb9c8a44cfe4fba5"


@pytest.mark.check
@pytest.mark.parametrize(("name", "scheme", "floor"), [("default", Scheme(), 0.83), ("short", SHORT_TEXT_SCHEME, 0.96)])
def test_the_classes_separate(
    unpacked: Unpacked, fill_index: Callable[..., Index], name: str, scheme: Scheme, floor: float
) -> None:
    written = list(answers(unpacked))
    sources = list({answer.source.url: answer.source for answer in written}.values())
    check_digest(digest(records(sources), (f"{answer.reuse} {answer.text}" for answer in written)), CORPUS)
    index = fill_index(f"sources-{name}", sources, scheme)
    scores = defaultdict(list)
    for answer in written:
        scores[answer.reuse].append(containment_in_source(index, answer))
    medians = [median(scores[reuse]) for reuse in REUSE_CLASSES]
    assert sorted(medians, reverse=True) == medians
    assert len(set(medians)) == (3 if scheme == Scheme() else 4)  # by default, no ten words in a row in the last two
    assert roc_auc(scores["cut"] + scores["light"] + scores["heavy"], scores["non"]) >= floor
