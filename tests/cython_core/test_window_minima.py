from __future__ import annotations

from array import array
from collections.abc import Iterator

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.vectors import use_vectors
from opensearch_winnow.cython_core.window_minima import window_minima
from tests.cython_core import reference
from tests.refused import refused

# Figure 2 of the winnowing paper: a hypothetical sequence of hashes, and what windows of four pick from it.
FIGURE_2 = array("Q", [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98])
FIGURE_2_PICKS = [(17, 3), (17, 6), (8, 8), (39, 11), (17, 15)]


@pytest.fixture(params=["vectors", "portable"])
def path(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test on both code paths; on a processor without vectors both are portable."""
    use_vectors(request.param == "vectors")
    yield
    use_vectors(True)


# Few values, so that there are ties; many, like hashes; some whose highest bits alone are equal; rising and falling, as
# an adversary would choose.
hashes = st.one_of(
    st.lists(st.integers(0, 2), max_size=300),
    st.lists(st.integers(0, 2**61 - 1), max_size=300),
    st.lists(st.integers(0, 8).map(lambda number: (number % 3 << 46) + number), max_size=300),
    st.lists(st.integers(0, 200), max_size=300).map(sorted),
    st.lists(st.integers(0, 200), max_size=300).map(lambda numbers: sorted(numbers, reverse=True)),
)
widths = st.one_of(st.integers(1, 70), st.sampled_from([63, 64, 65, 100, 130]))


@pytest.mark.usefixtures("path")
class TestWindowMinima:
    @pytest.mark.parametrize("robust", [True, False])
    def test_figure_2_of_the_paper(self, robust: bool) -> None:
        positions = window_minima(FIGURE_2, 4, robust=robust)
        assert [(FIGURE_2[i], i) for i in positions] == FIGURE_2_PICKS

    @given(hashes, widths, st.booleans())
    @example([2, 0, 1], 3, True)
    @example([2, 0, 1], 4, True)
    def test_compiled_is_reference(self, numbers: list[int], w: int, robust: bool) -> None:
        assert list(window_minima(array("Q", numbers), w, robust=robust)) == reference.window_minima(numbers, w, robust)

    @pytest.mark.parametrize("w", [3, 21, 100])
    def test_of_equal_hashes_robust_picks_one_per_window(self, w: int) -> None:
        zeros = array("Q", bytes(8 * 3000))
        assert list(window_minima(zeros, w)) == list(range(w - 1, 3000, w))
        assert list(window_minima(zeros, w, robust=False)) == list(range(w - 1, 3000))

    @pytest.mark.check
    @pytest.mark.parametrize("w", [21, 1000])
    @pytest.mark.parametrize("robust", [True, False])
    def test_long_stretches_of_rising_hashes_between_others(self, w: int, robust: bool) -> None:
        numbers = [(i * i * 2654435761) % 9973 for i in range(2500)] + list(range(5000)) + [3, 1, 2] * 400
        assert list(window_minima(array("Q", numbers), w, robust=robust)) == reference.window_minima(numbers, w, robust)

    def test_hashes_too_large_and_empty_windows_are_rejected(self) -> None:
        refused(ValueError, "position 1 is not below", window_minima, array("Q", [5, 2**61]), 1)
        refused(ValueError, "at least 1 hash", window_minima, FIGURE_2, 0)
