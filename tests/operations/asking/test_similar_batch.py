"""Tests that questions in a batch are answered as one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.operations.asking import similar, similar_batch
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.filters import Filters
from tests.test_index import near, prose

pytestmark = pytest.mark.check_on_engine
QUOTE = prose("quote", 80)
TEXTS = {f"https://{'ab'[i % 2]}.org/{i}": f"{prose(i % 9, 150)} {QUOTE} {prose(-i, 60)}" for i in range(40)}
TEXTS["https://short.org/"] = "Nobody has seen him weigh a sack"
BAD: list[Any] = ["", "…", {"url": "https://a.org/none"}, {"id": "0" * 32}, {"note": "nothing"}, {"text": 7}, 7]
QUESTIONS: list[Any] = [
    *(near(text, url, 20) for url, text in list(TEXTS.items())[::3]),
    QUOTE,
    prose("unknown", 100),
    {"url": "https://a.org/2", "note": "of the store"},
    {"url": "https://b.org/3"},
    {"url": "https://short.org/"},
    {"name": "q", "html": f"<p>{QUOTE}</p>"},
    Page("https://a.org/0", text=TEXTS["https://a.org/0"]),
    Page("https://a.org/0", html=f"<p>{QUOTE} é</p>".encode("latin-1"), content_type="text/html; charset=latin-1"),
    "him weigh a sack",
    *(QUOTE[start : start + 90] for start in range(0, 200, 50)),
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"min_containment": 0},
    {"min_containment": 0, "limit": 3},
    {"min_resemblance": 0.3, "where": Filters(site="a.org")},
    {"min_contained": 0.2, "exact": False, "all_captures": True},
    {"min_containment": 0.1, "frequent": 5, "boilerplate": False},
    {"guarantee": 300, "limit": 1},
]


@pytest.fixture(scope="module")
def index(shared_index: Index) -> Index:
    shared_index.add(Page(url, text=text) for url, text in TEXTS.items())
    shared_index.add_boilerplate("part", text=prose(3, 150))
    return shared_index


def one_by_one(index: Index, question: Any, options: dict[str, Any]) -> Matches:
    if isinstance(question, str):
        question = {"text": question}
    elif isinstance(question, Page):
        # A page of bytes is decoded as its header says, which `similar` cannot be told.
        html = question.html.decode("latin-1") if isinstance(question.html, bytes) else question.html
        question = {"text": question.text, "html": html}
    posed = {name: question[name] for name in ("text", "html", "url", "id") if name in question}
    return index.similar(**posed, **options)


@pytest.mark.check
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_batch_answers_as_one_by_one(index: Index, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_batch, "BATCH_SIZE", 7)
    monkeypatch.setattr(similar, "MIN_COMPARED", 5)  # so that some questions are looked up again
    answers = list(index.similar_batch(QUESTIONS, **options))
    assert [question for question, _ in answers] == QUESTIONS
    found = 0
    for question, answer in answers:
        assert isinstance(answer, Matches)
        expected = one_by_one(index, question, options)
        assert replace(answer, seconds=0) == replace(expected, seconds=0)
        found += len(answer)
    assert found


def test_a_question_that_cannot_be_asked_does_not_stop_the_others(index: Index) -> None:
    mixed = [question for bad in BAD for question in (bad, QUOTE)]
    answers = list(index.similar_batch(mixed))
    assert [question for question, _ in answers] == mixed
    for question, answer in answers:
        assert isinstance(answer, Matches if question is QUOTE else QuestionError)
    reasons = [
        "no text",
        "0 letters",
        "no page https://a.org/none",
        "no capture",
        "one of text, html, url, id",
        "not int",
    ]
    for reason, (_, answer) in zip(reasons, answers[::2], strict=False):
        assert reason in str(answer)
    with pytest.raises(QuestionError, match="from 0 to 1"):
        index.similar_batch([], min_containment=2)


def test_questions_are_read_as_answers_are_taken(index: Index) -> None:
    read = 0

    def questions() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield QUOTE

    answers = index.similar_batch(questions())
    assert read == 0
    next(answers)
    assert read == similar_batch.BATCH_SIZE
