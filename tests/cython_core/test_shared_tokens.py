"""The tokens that each two of many sets share, compared with their definition."""

from __future__ import annotations

from array import array
from itertools import chain, combinations

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.shared_tokens import SharedTokens
from tests.refused import refused

SETS = st.lists(st.lists(st.integers(0, 9) | st.integers(2**64 - 3, 2**64 - 1), max_size=12), max_size=8)


def shared_tokens(sets: list[list[int]], weights: array[float] | None = None) -> SharedTokens:
    return SharedTokens(array("Q", chain.from_iterable(sets)), array("I", map(len, sets)), weights)


@given(SETS)
def test_the_counts_are_those_of_intersections(sets: list[list[int]]) -> None:
    """A token may occur twice in a set, and a set may be counted again."""
    shared = shared_tokens(sets)
    assert shared.sets == len(sets)
    wanted = {(a, b): len(both) for a, b in combinations(range(len(sets)), 2) if (both := set(sets[a]) & set(sets[b]))}
    for _ in range(2):
        found: dict[tuple[int, int], int] = {}
        for a in reversed(range(len(sets))):
            partners, counts, weights = shared.after(a)
            assert list(partners) == sorted(partners)
            assert list(weights) == list(counts)
            found |= {(a, b): count for b, count in zip(partners, counts, strict=True)}
        assert found == wanted
    assert [shared.weight(a) for a in range(len(sets))] == [len(set(each)) for each in sets]


@given(SETS)
def test_a_token_weighs_what_its_frequency_says(sets: list[list[int]]) -> None:
    by_frequency = array("d", [2.0**-frequency for frequency in range(len(sets) + 1)])  # sums of these are exact
    shared = shared_tokens(sets, by_frequency)

    def weight(tokens: set[int]) -> float:
        return sum(by_frequency[sum(token in each for each in sets)] for token in tokens)

    for a, tokens in enumerate(sets):
        assert shared.weight(a) == weight(set(tokens))
        partners, _, weights = shared.after(a)
        assert list(weights) == [weight(set(tokens) & set(sets[b])) for b in partners]


def test_wrong_arguments_are_refused() -> None:
    shared = shared_tokens([[1], [1, 2]])
    for number in (-1, 2):
        refused(ValueError, f"{number} is not one of the 2 sets", shared.after, number)
        refused(ValueError, f"{number} is not one of the 2 sets", shared.weight, number)
    refused(ValueError, "an array of 3 weights", shared_tokens, [[1], [2]], array("d", [1.0]))
    refused(ValueError, "an array of 2 weights", shared_tokens, [[1]], array("f", [1.0, 1.0]))
    refused(TypeError, "typecode 'I'", SharedTokens, array("Q"), array("Q"))


def test_the_sets_of_a_group_count_as_one() -> None:
    sets = array("Q", [1, 2, 1, 2, 1, 3]), array("I", [2, 2, 2]), array("d", [0.0, 1.0, 10.0, 100.0])
    assert list(map(SharedTokens(*sets).weight, range(3))) == [110.0, 110.0, 101.0]
    grouped = SharedTokens(*sets, array("I", [0, 0, 2]))
    assert list(map(grouped.weight, range(3))) == [11.0, 11.0, 11.0]
    assert list(grouped.after(0)[2]) == [11.0, 10.0]
    for wrong in (array("I", [0]), array("I", [0, 0, 3]), array("Q", [0, 0, 0])):
        refused(ValueError, "groups", SharedTokens, *sets, wrong)
