"""The histogram of resemblances, and the sentences beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.answers.display_text import width
from opensearch_winnow.cli import cluster_words as words
from opensearch_winnow.cli.pair_histogram import EIGHTHS, ROWS, mark, pair_histogram, pairs_at_least
from opensearch_winnow.clusters.asked import Clustering
from opensearch_winnow.clusters.found import BARS, Candidates, Found

some_bars = st.lists(st.integers(0, 10**9) | st.just(0), min_size=BARS, max_size=BARS).filter(any)


def lines(bars: list[int], threshold: float, columns: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in pair_histogram(bars, threshold, columns)]


def columns_of(drawn: list[str], label: int) -> list[int]:
    """The heights, in eighths."""
    rows = [line[label:].ljust(BARS) for line in drawn[:ROWS]]
    return [sum(EIGHTHS.index(row[place]) for row in rows) for place in range(BARS)]


@given(some_bars, st.floats(0.001, 1), st.integers(44, 200))
def test_it_fits_and_marks_the_threshold(bars: list[int], threshold: float, columns: int) -> None:
    drawn = lines(bars, threshold, columns)
    assert max(map(width, drawn)) <= columns
    label = len(drawn[0]) - len(drawn[0].lstrip("0123456789,")) + 1
    axis = drawn[ROWS][label:]
    assert len(axis) in (BARS, BARS // 2)
    assert axis.index("▲") == mark(threshold, len(axis))
    assert drawn[ROWS + 2].lstrip().startswith("▲ threshold ")


@given(some_bars)
def test_bars_are_as_high_as_they_have_pairs(bars: list[int]) -> None:
    label = len(f"{max(bars):,}") + 1
    heights = columns_of(lines(bars, 0.5, 100), label)
    assert [height > 0 for height in heights] == [pairs > 0 for pairs in bars]
    assert max(heights) == 8 * ROWS
    by_pairs = [height for _, height in sorted(zip(bars, heights, strict=True))]
    assert by_pairs == sorted(by_pairs)


def test_where_there_is_no_room_two_bars_are_one() -> None:
    assert lines([1] * BARS, 0.5, 80)[0] == "1 " + "█" * BARS
    assert lines([1] * BARS, 0.5, 50)[0] == "2 " + "█" * (BARS // 2)


@pytest.mark.parametrize(("threshold", "bar"), [(0.5, 25), (0.58, 29), (0.29, 14), (0.01, 0), (0.999, 49), (1, 49)])
def test_the_bar_of_a_threshold(threshold: float, bar: int) -> None:
    assert mark(threshold, BARS) == bar


@given(some_bars)
def test_pairs_at_other_thresholds(bars: list[int]) -> None:
    for share, pairs in pairs_at_least(bars):
        assert pairs == sum(count for place, count in enumerate(bars) if place >= round(share * BARS)) > 0


def found(pages: int, sizes: dict[int, int], identical_sizes: dict[int, int]) -> Found:
    return Found(
        engine="duckdb", scheme="s", pages=pages, contents=pages, sizes=sizes, identical_sizes=identical_sizes,
        largest=[], edges=0, candidates=Candidates(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        (found(5, {}, {}), "no cluster: 5 pages are alone"),
        (found(1, {}, {}), "no cluster: 1 page is alone"),
        (found(2, {2: 1}, {}), "1 cluster with 2 pages; no page is alone"),
        (found(3, {2: 1}, {2: 1}),
         "1 cluster with 2 pages; 1 page is alone; 1 of the clusters, with 2 pages, is of identical pages only"),
        (found(9_000, {2: 500, 6: 400, 12: 300}, {6: 50}),
         ("1,200 clusters with 7,000 pages; 2,000 pages are alone;"
          " 50 of the clusters, with 300 pages, are of identical pages only")),
    ],
)  # fmt: skip
def test_clusters_in_words(seen: Found, sentence: str) -> None:
    assert words.clusters_and_pages(seen) == sentence


def test_what_the_cut_left_out_in_words() -> None:
    cut = Candidates(common=3, longest=5_000, left_out=12_345)
    said = words.what_was_left_out(cut, Clustering(compared=100))
    assert said.startswith("3 bands and shingles are on more than 101 contents each, one of them on 5,000: ")
    assert "compared with only 100 of the earlier ones" in said
    assert "12,345 pairs were left for others to propose" in said
    one = words.what_was_left_out(Candidates(common=1, longest=4, left_out=1), Clustering(compared=2, fast=True))
    assert one.startswith("1 band is on 4 contents: a page was compared with only 2 of the earlier ones")
    assert "1 pair was left" in one
    assert words.what_was_left_out(Candidates(), Clustering()).endswith("so common that pairs were left out.")
