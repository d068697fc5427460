"""Tests the lookups of a question: enough to find every match, and no more."""

from __future__ import annotations

from random import Random

import pytest

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.queries.asking.lookups import lookups
from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS
from tests.record_fixtures import record_of


def question(words: int, scheme: Scheme = Scheme(), guarantee: int | None = None) -> Question:
    random = Random(words)
    text = " ".join(f"{random.choice('bcdfg')}{random.choice('aeiou')}{random.randrange(1000)}" for _ in range(words))
    return Question.of(record_of(Page("https://x.example/", text=text), scheme), scheme, NO_EXCLUSIONS, guarantee)


def fields(words: int, *, boilerplate: bool = False, **minima: float) -> dict[str, int]:
    thresholds = Thresholds(minima)  # type: ignore[arg-type]
    return {each.field: each.minimum for each in lookups(question(words), thresholds, boilerplate=boilerplate)}


def test_a_large_sample_is_enough_unless_parts_or_boilerplate_count() -> None:
    assert fields(2000, resemblance=0.5).keys() == {"sketch", "bands"}
    assert 10 < fields(2000, resemblance=0.5)["sketch"] < 40  # of about 80
    assert fields(2000, containment=0.5).keys() == {"sketch"}
    assert fields(60, resemblance=0.5).keys() >= {"bands", "fingerprints"}
    assert fields(60, containment=0.5).keys() >= {"fingerprints"}
    assert fields(2000, containment=0.01).keys() == {"sketch", "fingerprints"}
    assert fields(2000, contained=0.5) == {"sketch": 1, "fingerprints": 1}
    assert fields(2000, containment=0) == {"fingerprints": 1}
    assert fields(2000, boilerplate=True, resemblance=0.5) == {"sketch": 1, "bands": 1, "fingerprints": 1}


def test_a_larger_window_picks_a_subset_and_has_its_limits() -> None:
    whole, quick = question(2000), question(2000, guarantee=1000)
    assert set(quick.fingerprints) < set(whole.fingerprints)
    assert len(quick.fingerprints) < len(whole.fingerprints) / 5
    assert question(2000, guarantee=149).fingerprints == whole.fingerprints
    with pytest.raises(QuestionError, match="at most 2,000,000"):
        question(2000, guarantee=2**70)
    with pytest.raises(QuestionError, match="selection winnow"):
        question(2000, Scheme(selection="mod-p"), 1000)


def test_a_text_under_the_guarantee_is_looked_up_by_every_kgram() -> None:
    short = question(20)
    assert short.side is not None
    length = len(short.side.chars)
    assert 50 <= length < 149
    assert (short.window, len(short.fingerprints)) == (1, length - 50 + 1)
