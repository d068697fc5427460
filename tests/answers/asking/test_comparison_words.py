"""The sentence that answers a comparison, with what it says of boilerplate."""

from __future__ import annotations

import pytest

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.answers.asking.comparison_words import comparison_summary
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparison
from opensearch_winnow.queries.scores import Passage


def summary(a: str, b: str, both: Comparison) -> str:
    texts = ComparedText(id="a", text=a), ComparedText(id="b", text=b)
    return comparison_summary(Compared.of(*texts, both, Scheme()))


@pytest.mark.parametrize(
    ("scores", "runs", "left_out", "said"),
    [
        ((0.2, 0.3, 0.4), 0, (0, 0), "1 shared passage"),
        ((0.2, 0.3, 0.4), 1, (9, 9), "1 shared passage, 1 more run is boilerplate"),
        ((0.2, 0.3, 0.4), 1_200, (9, 9), "1 shared passage, 1,200 more runs are boilerplate"),
        ((0.2, 1.0, 0.2), 0, (0, 9), "All of A is in B: 1 shared passage"),
        ((0.2, 1.0, 0.2), 0, (9, 0), "All of A except boilerplate is in B: 1 shared passage"),
        ((0.2, 0.2, 1.0), 0, (0, 9), "All of B except boilerplate is in A: 1 shared passage"),
        ((1.0, 1.0, 1.0), 0, (0, 0), "All of A is in B and all of B in A: 1 shared passage"),
        (
            (1.0, 1.0, 1.0),
            0,
            (9, 9),
            "All of A except boilerplate is in B and all of B except boilerplate in A: 1 shared passage",
        ),
    ],
)
def test_the_answer_mentions_boilerplate(
    scores: tuple[float, float, float], runs: int, left_out: tuple[int, int], said: str
) -> None:
    both = Comparison(*scores, [Passage(0, 4, 0, 4)], [Passage(5, 8, 5, 8)] * runs, left_out)
    assert summary("some words", "some others", both) == said


def test_answers_without_a_passage() -> None:
    run = [Passage(0, 4, 0, 4)]
    assert summary("a", "b", Comparison(0, 0, 0, [])) == "Nothing shared"
    assert summary("a", "b", Comparison(0, 0, 0, [], run * 2)) == "Nothing shared except boilerplate: 2 runs"
    few = "No shared passage, only short runs of shared words"
    assert summary("a", "b", Comparison(0.1, 0.1, 0.1, [], run)) == f"{few}, 1 run is boilerplate"
    assert summary("a", "a", Comparison(1, 1, 1, [], run)) == "The two texts are identical, 1 run is boilerplate"


def test_other_operators_are_told_apart_from_punctuation() -> None:
    equal = Comparison(1, 1, 1, [])
    same = "The same text, except for case, spacing and punctuation"
    assert summary("What is 12 + 5?", "what is 12 + 5", equal) == same
    for a, b in (("12 + 5", "12 * 5"), ("x < y", "x > y"), ("1.5", "1/5")):
        assert summary(a, b, equal) == "The same words, but operators or signs differ"
