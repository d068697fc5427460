"""95 short answers: how much of each is in its source tells who copied, who reworded and who did neither."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import median

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from tests.quality.corpora import Unpacked, answers, check, digest, records
from tests.quality.measured import REUSE, SHORT, area, in_source

CORPUS = "aa3bbff5c6d12661eb9c8a44cfe4fba5"


@pytest.mark.check
@pytest.mark.parametrize(("name", "scheme", "floor"), [("default", Scheme(), 0.83), ("short", SHORT, 0.96)])
def test_the_classes_separate(
    unpacked: Unpacked, filled: Callable[..., Index], name: str, scheme: Scheme, floor: float
) -> None:
    written = list(answers(unpacked))
    sources = list({answer.source.url: answer.source for answer in written}.values())
    check(digest(records(sources), (f"{answer.reuse} {answer.text}" for answer in written)), CORPUS)
    index = filled(f"sources-{name}", sources, scheme)
    scores = defaultdict(list)
    for answer in written:
        scores[answer.reuse].append(in_source(index, answer))
    medians = [median(scores[reuse]) for reuse in REUSE]
    assert sorted(medians, reverse=True) == medians
    assert len(set(medians)) == (3 if scheme == Scheme() else 4)  # ten words in a row are in neither of the last two
    assert area(scores["cut"] + scores["light"] + scores["heavy"], scores["non"]) >= floor
