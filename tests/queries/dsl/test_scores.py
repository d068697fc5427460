"""Scores computed from an engine's counts of shared tokens."""

from __future__ import annotations

from hypothesis import given, strategies as st

from opensearch_winnow.queries.dsl.scores import Score, least_shared, shares

SETS = st.sets(st.integers(0, 40))


@given(SETS, SETS, st.sampled_from(["resemblance", "containment", "contained"]), st.integers(0, 100))
def test_no_page_with_the_score_has_fewer_tokens(ours: set[int], theirs: set[int], score: Score, percent: int) -> None:
    found = shares(len(ours & theirs), len(ours), len(theirs))
    assert found.resemblance == (len(ours & theirs) / len(ours | theirs) if ours | theirs else 0)
    assert found.containment == (len(ours & theirs) / len(ours) if ours else 0)
    assert found.contained == (len(ours & theirs) / len(theirs) if theirs else 0)
    least = percent / 100
    if ours & theirs and getattr(found, score) >= least:
        assert len(ours & theirs) >= least_shared(score, least, len(ours))


def test_rounding_asks_for_no_token_too_many() -> None:
    assert 0.07 * 100 > 7  # in floating point
    assert least_shared("containment", 0.07, 100) == 7
