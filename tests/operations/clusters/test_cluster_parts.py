"""The parts of a cluster, and the pages that hold them together."""

from __future__ import annotations

from hypothesis import given, strategies as st

from opensearch_winnow.operations.clusters.cluster_details import cluster_parts


def matrix(pages: int, *pairs: tuple[int, int]) -> list[list[float]]:
    return [[0.8 if (column, row) in pairs else 0.3 for column in range(row)] for row in range(pages)]


def test_known_clusters() -> None:
    two_families_held_together_by_one_page = matrix(5, (0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4))
    assert cluster_parts(two_families_held_together_by_one_page, 0.5) == ([5], [(2, [2, 2])])
    two_that_join = matrix(6, (0, 1), (1, 2), (2, 3), (2, 4), (2, 5))
    assert cluster_parts(two_that_join, 0.8) == ([6], [(2, [2, 1, 1, 1]), (1, [4, 1])])  # first who joins most parts
    assert cluster_parts(matrix(3), 0.5) == ([1, 1, 1], [])
    assert cluster_parts(matrix(3), 0.3) == ([3], [])
    assert cluster_parts([[]], 0.5) == ([1], [])


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(*(st.lists(st.sampled_from([0.2, 0.9]), min_size=row, max_size=row) for row in range(n)))
    )
)
def test_parts_are_those_of_merging_pairs(shares: tuple[list[float], ...]) -> None:
    def sizes(pages: set[int]) -> list[int]:
        label = {page: page for page in pages}
        for row in pages:
            for column in pages & set(range(row)):
                if shares[row][column] >= 0.5:
                    label = {page: label[row] if each == label[column] else each for page, each in label.items()}
        labels = list(label.values())
        return sorted((labels.count(each) for each in set(labels)), reverse=True)

    pages = set(range(len(shares)))
    found = cluster_parts(shares, 0.5)
    assert found.parts == sizes(pages)
    without = {page: sizes(pages - {page}) for page in pages}
    assert dict(found.joined_by) == {page: left for page, left in without.items() if len(left) > len(found.parts)}
