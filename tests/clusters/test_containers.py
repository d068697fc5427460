"""A kernel of the rows is kept: every other row is in a kept one, and no kept row is in another."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.clusters.deduplication.containers import Containers

sets = st.lists(st.frozensets(st.integers(0, 12), min_size=1), max_size=12)


def contains(outer: frozenset[int], inner: frozenset[int], threshold: float) -> bool:
    return len(outer & inner) >= threshold * len(inner)


def containers_of(rows: list[frozenset[int]], threshold: float, always_kept: int = 0) -> list[int]:
    containers = Containers([len(row) for row in rows], always_kept)
    for outer, one in enumerate(rows):
        for inner, other in enumerate(rows):
            if inner != outer and contains(one, other, threshold):
                containers.add(outer, inner, mutual=contains(other, one, threshold))
    return list(containers.kept_containers())


@given(rows=sets, threshold=st.sampled_from([0.3, 0.5, 0.6, 0.75, 1.0]), always_kept=st.integers(0, 3))
def test_a_kernel_is_kept(rows: list[frozenset[int]], threshold: float, always_kept: int) -> None:
    found = containers_of(rows, threshold, always_kept)
    kept = {row for row, container in enumerate(found) if row == container}
    assert kept >= set(range(min(always_kept, len(rows))))
    for row, container in enumerate(found):
        assert container in kept
        assert contains(rows[container], rows[row], threshold)
        if row in kept and row >= always_kept:
            assert not [other for other in kept - {row} if contains(rows[other], rows[row], threshold)]


@given(rows=sets)
def test_of_equal_rows_the_first_is_kept(rows: list[frozenset[int]]) -> None:
    for row, container in enumerate(containers_of(rows, 1.0)):
        assert rows[container] > rows[row] or (rows[container] == rows[row] and container == rows.index(rows[row]))


def test_a_chain() -> None:
    """The second row is in the first, and the third in the second, but not in the first: the third is kept."""
    rows = [frozenset(range(12)), frozenset(range(6, 15)), frozenset(range(11, 16))]
    assert containers_of(rows, 0.6) == [0, 0, 2]


def test_a_circle_is_decided_by_size_and_edges_out_of_order_are_refused() -> None:
    containers = Containers([5, 6, 7])
    containers.add(0, 2, mutual=True)  # the last yields to the first, because it is later
    containers.add(1, 0, mutual=False)
    containers.add(2, 0, mutual=True)
    containers.add(2, 1, mutual=False)
    assert list(containers.kept_containers()) == [2, 2, 2]
    containers = Containers([1, 1, 1])
    containers.add(2, 1, mutual=False)
    with pytest.raises(ValueError, match="ascending order"):
        containers.add(1, 0, mutual=False)
