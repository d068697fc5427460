"""Tests the lookups of a question: enough to find every match, and no more."""

from __future__ import annotations

from random import Random

import pytest

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.lookups import lookups
from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS


def question(words: int, scheme: Scheme = Scheme(), guarantee: int | None = None) -> Question:
    random = Random(words)
    text = " ".join(f"{random.choice('bcdfg')}{random.choice('aeiou')}{random.randrange(1000)}" for _ in range(words))
    record = RecordMaker(Recipe(scheme=scheme)).make(Page("https://x.example/", text=text))
    assert isinstance(record, Record)
    return Question.of(record, scheme, NO_EXCLUSIONS, guarantee)


def fields(words: int, **minima: float) -> dict[str, int]:
    thresholds = Thresholds(minima)  # type: ignore[arg-type]
    return {each.field: each.minimum for each in lookups(question(words), thresholds, boilerplate=False)}


def test_a_large_sample_of_shingles_is_enough() -> None:
    assert fields(2000, resemblance=0.5).keys() == {"sketch", "bands"}
    assert 10 < fields(2000, resemblance=0.5)["sketch"] < 40  # of about 80
    assert fields(2000, containment=0.5).keys() == {"sketch"}


def test_a_small_one_is_not() -> None:
    assert fields(60, resemblance=0.5).keys() >= {"bands", "fingerprints"}
    assert fields(60, containment=0.5).keys() >= {"fingerprints"}
    assert fields(2000, containment=0.01).keys() == {"sketch", "fingerprints"}


def test_what_is_contained_in_the_question_may_be_small() -> None:
    assert fields(2000, contained=0.5) == {"sketch": 1, "fingerprints": 1}


def test_a_passage_is_found_by_fingerprints_alone() -> None:
    assert fields(2000, containment=0) == {"fingerprints": 1}


def test_with_boilerplate_no_share_can_be_expected() -> None:
    thresholds = Thresholds({"resemblance": 0.5})
    assert {each.field: each.minimum for each in lookups(question(2000), thresholds, boilerplate=True)} == {
        "sketch": 1,
        "bands": 1,
        "fingerprints": 1,
    }


def test_a_larger_window_picks_a_subset() -> None:
    whole, quick = question(2000), question(2000, guarantee=1000)
    assert set(quick.fingerprints) < set(whole.fingerprints)
    assert len(quick.fingerprints) < len(whole.fingerprints) / 5
    assert question(2000, guarantee=149).fingerprints == whole.fingerprints


def test_a_window_has_its_limits() -> None:
    with pytest.raises(QuestionError, match="at most 2,000,000"):
        question(2000, guarantee=2**70)


def test_a_larger_window_needs_winnowing() -> None:
    with pytest.raises(QuestionError, match="selection winnow"):
        question(2000, Scheme(selection="mod-p"), 1000)


def test_a_text_under_the_guarantee_is_looked_up_by_every_kgram() -> None:
    short = question(20)
    assert short.side is not None
    length = len(short.side.chars)
    assert 50 <= length < 149
    assert (short.window, len(short.fingerprints)) == (1, length - 50 + 1)
