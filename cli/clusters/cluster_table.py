"""The table of a clustering for people, with bars and a histogram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

from opensearch_winnow.answers.clusters import clustering_words as words
from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle
from opensearch_winnow.answers.formatting import bins, compact_percent
from opensearch_winnow.cli.page_lines import page_lines
from opensearch_winnow.cli.text_columns import (
    GAP,
    MIN_TEXT_COLUMNS,
    NO_BREAK,
    TextColumn,
    count_lines,
    heading,
    wrapped,
)
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import ClusteringResult

Written = Sequence[tuple[str, str]]  # the kind of file and its name, or the store and its changes
EIGHTHS = " ▁▂▃▄▅▆▇█"
ROWS = 6
LABELS = 5  # below the bars: 0, 20, 40, 60 and 80, before 100 %


def table(
    name: str, options: ClusteringOptions, result: ClusteringResult, written: Written, columns: int
) -> Iterator[list[Span]]:
    """Yield the lines of the table."""
    candidates = result.candidates
    yield [(shorten_middle(one_line(name), max(columns, MIN_TEXT_COLUMNS)), "bold")]
    yield from wrapped(words.pages_and_contents(result), columns)
    yield from wrapped(words.clusters_and_pages(result), columns)
    yield from wrapped(words.cluster_definition(options), columns)
    if result.sizes:
        yield from heading("Clusters by size", columns)
        yield from count_lines(bins(result.sizes)[1:], ("pages", "clusters"), columns)  # no cluster has one page
        yield from heading("Largest clusters", columns)
        pages, *cells = TextColumn(
            "pages", [f"{each.pages:,}" for each in result.largest_clusters], right=True
        ).padded()
        yield from page_lines(pages, cells, result.largest_clusters, columns, name="representative")
    if candidates.compared:
        yield from heading("Resemblance of the compared pairs (heights are logarithmic)", columns)
        yield from pair_histogram(candidates.histogram, options.threshold, columns)
        at_least = pairs_at_least(candidates.histogram)
        counts = " · ".join(f"{compact_percent(share)}:{NO_BREAK}{pairs:,}" for share, pairs in at_least)
        yield from wrapped(f"pairs ≥ {counts}", columns)
        yield from wrapped(words.compared_pairs(candidates, options), columns)
        yield from wrapped(words.left_out_pairs(candidates, options), columns)
        if result.expected_recall is not None:
            yield from wrapped(words.expected_recall(result.expected_recall), columns)
    if written:
        yield from heading("Written", columns)
        kinds = TextColumn("", [what for what, _ in written]).padded()[1:]
        for what, (_, where) in zip(kinds, written, strict=True):
            yield from wrapped(f"{what}{GAP}{one_line(where)}", columns)


def pair_histogram(bars: Sequence[int], threshold: float, columns: int) -> Iterator[list[Span]]:
    """Yield the lines of the histogram: a column for each bar, or for each two if `columns` are too few."""
    highest = f"{max(bars):,}"
    if len(bars) + len(highest) + len("  100 %") > columns:
        bars = [sum(pair) for pair in zip(bars[::2], bars[1::2], strict=True)]
        highest = f"{max(bars):,}"
    at = threshold_bar(threshold, len(bars))
    heights = [_height(count, max(bars)) for count in bars]
    for row in reversed(range(ROWS)):
        label = highest if row == ROWS - 1 else ""
        line = "".join(EIGHTHS[min(max(height - 8 * row, 0), 8)] for height in heights).rstrip()
        yield [(f"{label:>{len(highest)}} ", "plain"), (line[:at], "dim"), (line[at:], "plain")]
    step = len(bars) // LABELS
    axis = ("┬" + "─" * (step - 1)) * LABELS
    yield [(f"{'':{len(highest)}} {axis[:at]}▲{axis[at + 1 :]}", "plain")]
    yield [(f"{'':{len(highest)}} " + "".join(f"{20 * i:<{step}}" for i in range(LABELS)) + "100 %", "plain")]
    caption = f"▲ threshold {compact_percent(threshold)}"
    yield [(" " * (len(highest) + 1 + min(at, len(bars) + len("0 %") - len(caption))) + caption, "plain")]


def threshold_bar(threshold: float, bars: int) -> int:
    """Return the index of the bar that contains `threshold`."""
    return min(floor(round(threshold * bars, 6)), bars - 1)


def pairs_at_least(bars: Sequence[int]) -> list[tuple[float, int]]:
    """Count the pairs at or above the thresholds 0.1, 0.2 and so on, as long as there are any."""
    tenth = len(bars) // 10
    counts = [(step / 10, sum(bars[step * tenth :])) for step in range(1, 10)]
    return [(threshold, pairs) for threshold, pairs in counts if pairs]


def _height(count: int, highest: int) -> int:
    """Return the height in eighths of a row, on a logarithmic scale. A single pair is visible."""
    return max(round(8 * ROWS * (1 + log10(count)) / (1 + log10(highest))), 1) if count else 0
