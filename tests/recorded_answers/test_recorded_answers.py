"""Today's answers are the recorded ones, apart from the intended differences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.recorded_answers.intended_differences import INTENDED
from tests.recorded_answers.recording import Answers, differences, read
from tests.recorded_answers.todays_answers import (
    ATTACHED,
    FILE,
    OPENSEARCH,
    RECORDINGS,
    WITHOUT_ENGINE,
    answers_of_attached,
    answers_of_opensearch,
    todays_answers,
)

if TYPE_CHECKING:
    from opensearch_winnow.stores.engine.running import Running

HINT = "intended? See tests/recorded_answers/intended_differences.py"


def check(name: str, recorded: Answers, today: Answers) -> None:
    intended = [each for each in INTENDED.get(name, ()) if any(map(each.matches, recorded))]
    found = differences(recorded, today, intended)
    assert not found, "\n".join([f"{len(found)} lines about {name}; {HINT}", *found[:60]])


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    return todays_answers(tmp_path_factory.mktemp("recorded"), slow=False)


@pytest.mark.xdist_group("recorded-answers")
@pytest.mark.parametrize("name", WITHOUT_ENGINE)
def test_quick_answers_are_those_recorded(quick: dict[str, Answers], name: str) -> None:
    """make check has the slow questions too."""
    recorded = read(name)
    assert len(recorded) / 2 < len(quick[name]) <= len(recorded)
    check(name, {question: answer for question, answer in recorded.items() if question in quick[name]}, quick[name])


def test_every_intended_difference_is_about_a_recording() -> None:
    assert INTENDED.keys() <= {*RECORDINGS}


@pytest.mark.check
@pytest.mark.xdist_group("recorded-answers")
def test_all_answers_are_those_recorded(tmp_path: Path) -> None:
    for name, today in todays_answers(tmp_path, slow=True).items():
        check(name, read(name), today)


@pytest.mark.check
@pytest.mark.xdist_group("recorded-answers-of-engine")
def test_a_store_on_opensearch_answers_like_a_file(engine: Running) -> None:
    """The recording has how many answers are the same, and the others."""
    check(OPENSEARCH, read(OPENSEARCH), answers_of_opensearch(engine.url, read(FILE)))


@pytest.mark.check
@pytest.mark.xdist_group("recorded-answers-of-engine")
def test_answers_of_an_attached_index_are_those_recorded(engine: Running) -> None:
    check(ATTACHED, read(ATTACHED), answers_of_attached(engine.url))
