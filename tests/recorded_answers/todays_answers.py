"""Asks all questions today, each on its store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow import Index
from tests.gateway.running_gateway import running_gateway
from tests.recorded_answers import engine_questions, index_questions, json_questions, set_questions
from tests.recorded_answers.question import Question
from tests.recorded_answers.recording import Answers, compact, kind_of

FILE, JSON, SETS = "file", "json", "sets"
OPENSEARCH, ATTACHED = "opensearch", "attached"
WITHOUT_ENGINE = (FILE, JSON, SETS)
RECORDINGS = (*WITHOUT_ENGINE, OPENSEARCH, ATTACHED)
SAMPLED = 5  # one question of a kind in this number is for a store on an engine
CHANGING = ("boilerplate", "delete")  # kinds of questions that change the store of later ones


def todays_answers(folder: Path, *, slow: bool) -> dict[str, Answers]:
    """Return the answers of a file, of the command line and the API on this file, and about sets, by recording.

    Without `slow`, the answers to slow questions are left out.
    """
    store = folder / "crawl.winnow"
    with Index.open(store) as index:
        filled = _asked(index_questions.fill(index), index, slow=slow)
        as_json = _asked(json_questions.command_questions(store, folder), index, slow=slow)
        with json_questions.served(store) as server:
            as_json |= _asked(json_questions.api_questions(server), index, slow=slow)
        of_file = filled | _asked(index_questions.questions(), index, slow=slow)
        of_sets = _asked(set_questions.questions(folder), index, slow=slow)
    return {FILE: of_file, JSON: as_json, SETS: of_sets}


def answers_of_opensearch(url: str, file: Answers) -> Answers:
    """Ask a store on an engine a sample of the questions, and return the answers that differ from those of a file.

    One more answer is how many are the same.
    """
    name = "recorded-store"
    _delete(url, name)
    try:
        with Index.open(f"{url}/{name}") as index:
            answers = _asked(index_questions.fill(index), index, slow=False)
            answers |= _asked(_sample(index_questions.questions()), index, slow=False)
    finally:
        _delete(url, name)
    compared = {question: _without_scores(question, answer) for question, answer in answers.items()}
    others = {
        question: answer for question, answer in compared.items() if answer != _without_scores(question, file[question])
    }
    return {"same as in a file: all kinds": len(answers) - len(others)} | others


def _without_scores(question: str, answer: Any) -> Any:
    """Return an answer, or of a search only how many pages it finds: engines score, and so rank, in another way."""
    if "search" not in kind_of(question):
        return answer
    pages = answer.get("first", [answer]) if isinstance(answer, dict) else answer
    return pages[0].get("total")


def _sample(questions: Iterable[Question]) -> Iterator[Question]:
    """Yield one question in SAMPLED of each kind, and all that change the store."""
    numbers = Counter[str]()
    for question in questions:
        kind = kind_of(question.name)
        if numbers[kind] % SAMPLED == 0 or kind in CHANGING:
            yield question
        numbers[kind] += 1


def answers_of_attached(url: str) -> Answers:
    """Return the answers of an attached index: as a store, with one's own client, and through the gateway."""
    name = "recorded-attached"  # always the same: ids of pages are made from it, and order clusters of equal size
    _delete(url, name)
    try:
        with running_gateway(url) as gateway, engine_questions.attached_index(url, name) as index:
            return _asked(engine_questions.questions(url, gateway, name), index, slow=True)
    finally:
        _delete(url, name)


def _delete(url: str, name: str) -> None:
    with OpenSearch(url, timeout=60) as client:
        client.indices.delete(index=f"{name}*,winnow.{name}*", params={"ignore_unavailable": "true"})


def _asked(questions: Iterable[Question], index: Index, *, slow: bool) -> Answers:
    """Ask in the order of the questions, since some change the store of later ones."""
    answers: Answers = {}
    for question in questions:
        assert question.name not in answers, f"two questions have the name {question.name}"
        if slow or not question.is_slow:
            answers[question.name] = compact(question.ask(index))
    return answers
