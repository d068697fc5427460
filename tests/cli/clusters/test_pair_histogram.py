"""The histogram of resemblances, and the sentences beside it."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.answers.clusters import clustering_words as words
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.cli.clusters.cluster_table import EIGHTHS, ROWS, pair_histogram, pairs_at_least, threshold_bar
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import HISTOGRAM_BARS, Candidates, ClusteringResult

some_bars = st.lists(st.integers(0, 10**9) | st.just(0), min_size=HISTOGRAM_BARS, max_size=HISTOGRAM_BARS).filter(any)


def lines(bars: list[int], threshold: float, columns: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in pair_histogram(bars, threshold, columns)]


def columns_of(drawn: list[str], label: int) -> list[int]:
    """Return the heights of the bars in eighths of a row."""
    rows = [line[label:].ljust(HISTOGRAM_BARS) for line in drawn[:ROWS]]
    return [sum(EIGHTHS.index(row[place]) for row in rows) for place in range(HISTOGRAM_BARS)]


@given(some_bars, st.floats(0.001, 1), st.integers(44, 200))
def test_the_histogram_fits_and_marks_the_threshold(bars: list[int], threshold: float, columns: int) -> None:
    drawn = lines(bars, threshold, columns)
    assert max(map(width, drawn)) <= columns
    label = len(drawn[0]) - len(drawn[0].lstrip("0123456789,")) + 1
    axis = drawn[ROWS][label:]
    assert len(axis) in (HISTOGRAM_BARS, HISTOGRAM_BARS // 2)
    assert axis.index("▲") == threshold_bar(threshold, len(axis))
    assert drawn[ROWS + 2].lstrip().startswith("▲ threshold ")


@given(some_bars)
def test_the_height_of_bars_follows_the_number_of_pairs(bars: list[int]) -> None:
    label = len(f"{max(bars):,}") + 1
    heights = columns_of(lines(bars, 0.5, 100), label)
    assert [height > 0 for height in heights] == [pairs > 0 for pairs in bars]
    assert max(heights) == 8 * ROWS
    by_pairs = [height for _, height in sorted(zip(bars, heights, strict=True))]
    assert by_pairs == sorted(by_pairs)


def test_two_bars_become_one_if_room_is_short() -> None:
    assert lines([1] * HISTOGRAM_BARS, 0.5, 80)[0] == "1 " + "█" * HISTOGRAM_BARS
    assert lines([1] * HISTOGRAM_BARS, 0.5, 50)[0] == "2 " + "█" * (HISTOGRAM_BARS // 2)


def test_the_bar_of_a_threshold() -> None:
    bars = {0.5: 25, 0.58: 29, 0.29: 14, 0.01: 0, 0.999: 49, 1: 49}
    assert {threshold: threshold_bar(threshold, HISTOGRAM_BARS) for threshold in bars} == bars


@given(some_bars)
def test_pairs_at_other_thresholds(bars: list[int]) -> None:
    for share, pairs in pairs_at_least(bars):
        assert pairs == sum(count for place, count in enumerate(bars) if place >= round(share * HISTOGRAM_BARS)) > 0


def result_of(pages: int, sizes: dict[int, int], identical_sizes: dict[int, int]) -> ClusteringResult:
    return ClusteringResult(
        engine="duckdb", scheme="s", pages=pages, contents=pages, sizes=sizes, identical_sizes=identical_sizes,
        largest_clusters=[], edges=0, candidates=Candidates(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (result_of(5, {}, {}), "no clusters: 5 pages have no near-duplicate"),
        (result_of(1, {}, {}), "no clusters: 1 page has no near-duplicate"),
        (result_of(2, {2: 1}, {}), "1 cluster with 2 pages; every page has a near-duplicate"),
        (result_of(3, {2: 1}, {2: 1}),
         "1 cluster with 2 pages; 1 page has no near-duplicate; 1 cluster (2 pages) has identical pages only"),
        (result_of(9_000, {2: 500, 6: 400, 12: 300}, {6: 50}),
         ("1,200 clusters with 7,000 pages; 2,000 pages have no near-duplicate;"
          " 50 clusters (300 pages) have identical pages only")),
    ],
)  # fmt: skip
def test_clusters_and_pages(result: ClusteringResult, sentence: str) -> None:
    assert words.clusters_and_pages(result) == sentence


def test_omitted_pairs_are_reported() -> None:
    cut = Candidates(common=3, longest=5_000, left_out=12_345)
    said = words.left_out_pairs(cut, ClusteringOptions(compared=100))
    assert said.startswith("3 bands and shingles are on more than 101 contents each, one of them on 5,000. ")
    assert "compared with only 100 of the earlier pages" in said
    assert "left out 12,345 pairs unless another" in said
    one = words.left_out_pairs(Candidates(common=1, longest=4, left_out=1), ClusteringOptions(compared=2, fast=True))
    assert one.startswith("1 band is on 4 contents. A page was compared with only 2 of the earlier pages")
    assert "left out 1 pair unless" in one
    assert words.left_out_pairs(Candidates(), ClusteringOptions()).startswith("No pairs were left out")
