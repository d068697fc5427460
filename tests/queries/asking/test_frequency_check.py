from __future__ import annotations

from array import array

from hypothesis import given, strategies as st

from opensearch_winnow.queries.asking.frequency_check import MAX_FREQUENT_RUN, rare_tokens


def test_frequent_tokens_are_ignored_but_for_the_rarest_of_a_row() -> None:
    tokens = array("Q", [10, 11, 12, 13, 14])
    assert rare_tokens(tokens, {11: 2000, 13: 1001}) == array("Q", [10, 12, 14])
    tokens = array("Q", [10, 11, 12, 13])
    assert rare_tokens(tokens, {10: 9, 11: 7, 12: 8, 13: 9}) == array("Q", [11])
    assert rare_tokens(tokens, dict.fromkeys(tokens, 9)) == array("Q", [10])  # of equals the smallest hash
    assert rare_tokens(array("Q", [10, 11]), {10: 900, 11: 800}) == array("Q", [11])
    assert rare_tokens(array("Q"), {}) == array("Q")


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 20)), unique_by=lambda each: each[0]))
def test_every_shared_run_keeps_a_token(pairs: list[tuple[int, int]]) -> None:
    """A page that shares this many tokens in a row is found, however often others copied them."""
    tokens = array("Q", [token for token, _ in pairs])
    kept = rare_tokens(tokens, {token: frequency for token, frequency in pairs if frequency > 10})
    for start in range(len(tokens) - MAX_FREQUENT_RUN + 1):
        assert set(kept) & set(tokens[start : start + MAX_FREQUENT_RUN])
    assert {token for token, frequency in pairs if frequency <= 10} <= set(kept)
    assert list(kept) == [token for token in tokens if token in set(kept)]
    assert bool(kept) == bool(tokens)
