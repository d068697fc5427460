from __future__ import annotations

import pytest

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.scores import Scores


def test_the_first_that_is_given_orders_the_matches() -> None:
    thresholds = Thresholds.of("containment", {"resemblance": None, "containment": None})
    assert (thresholds.primary, thresholds.primary_minimum) == ("containment", 0.5)
    thresholds = Thresholds.of("resemblance", {"resemblance": None, "containment": 0.3, "contained": 0.8})
    assert (thresholds.primary, thresholds.primary_minimum) == ("containment", 0.3)
    assert thresholds.met_by(Scores(0.1, 0.3, 0.8))
    assert not thresholds.met_by(Scores(0.9, 0.9, 0.79))
    # A page that resembles the question by half contains at least half of it.
    assert Thresholds({"resemblance": 0.5}).min_containment == 0.5
    assert Thresholds({"contained": 0.5}).min_containment == 0
    assert Thresholds({"resemblance": 0.2, "containment": 0.7}).min_containment == 0.7


@pytest.mark.parametrize("minimum", [-0.1, 1.01, float("nan")])
def test_a_share_is_from_0_to_1(minimum: float) -> None:
    with pytest.raises(QuestionError, match="min_containment is a share from 0 to 1"):
        Thresholds.of("resemblance", {"containment": minimum})
