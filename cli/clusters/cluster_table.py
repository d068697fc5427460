"""Prints the result of a clustering as tables with bars, or as tab-separated values."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10

from opensearch_winnow.answers.display_text import Span, one_line, shorten, shorten_middle, width, wrap
from opensearch_winnow.answers.formatting import bins, compact_percent
from opensearch_winnow.cli.clusters import cluster_summary as summary
from opensearch_winnow.cli.short_urls import short_urls
from opensearch_winnow.cli.terminal import Terminal, bar
from opensearch_winnow.cli.upkeep.stats_table import BAR_COLUMNS
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import ClusteringResult, LargestCluster

GAP = "  "
NO_BREAK = "\u00a0"  # keeps a number and its unit on one line
MIN_COLUMNS = 20  # a title or sentence in fewer columns says nothing
RESULT_COUNTS = ("pages", "contents", "clusters", "clustered_pages", "identical_clusters", "identical_pages", "edges")
CANDIDATE_COUNTS = ("compared", "exact", "edges", "common", "longest", "left_out")
Written = Sequence[tuple[str, str]]  # the kind of file or the store, and its name or how much changed
EIGHTHS = " ▁▂▃▄▅▆▇█"
ROWS = 6
LABELS = 5  # below the bars: 0, 20, 40, 60 and 80, before 100 %


class Lines:
    """Prints headings and sentences, wrapped to the width of the screen."""

    def __init__(self, screen: Terminal) -> None:
        self.screen = screen

    def heading(self, text: str) -> None:
        self.screen.echo()
        self.say(text, "bold")

    def say(self, text: str, style: str = "plain") -> None:
        for line in wrap([(text.replace(" %", f"{NO_BREAK}%"), style)], max(self.screen.columns, MIN_COLUMNS)):
            self.screen.echo(self.screen.line(line).replace(NO_BREAK, " "))


def show_table(
    screen: Terminal, name: str, options: ClusteringOptions, result: ClusteringResult, written: Written
) -> None:
    lines = Lines(screen)
    screen.echo(screen.paint(shorten_middle(one_line(name), max(screen.columns, MIN_COLUMNS)), "bold"))
    lines.say(summary.pages_and_contents(result))
    lines.say(summary.clusters_and_pages(result))
    lines.say(summary.cluster_definition(options))
    if result.sizes:
        lines.heading("Clusters by size")
        _sizes(screen, result.sizes)
        lines.heading("Largest clusters")
        _largest(screen, result.largest)
    if result.candidates.compared:
        lines.heading("Resemblance of the compared pairs (heights are logarithmic)")
        for line in pair_histogram(result.candidates.histogram, options.threshold, screen.columns):
            screen.echo(screen.line(line).rstrip())
        at_least = pairs_at_least(result.candidates.histogram)
        lines.say("pairs ≥ " + " · ".join(f"{compact_percent(share)}:{NO_BREAK}{pairs:,}" for share, pairs in at_least))
        lines.say(summary.compared_pairs(result.candidates, options))
        lines.say(summary.left_out_pairs(result.candidates, options))
        if result.expected_recall is not None:
            lines.say(summary.expected_recall(result.expected_recall))
    if written:
        lines.heading("Written")
        columns = max(len(what) for what, _ in written)
        for what, where in written:
            lines.say(f"{what:<{columns}}{GAP}{one_line(where)}")


def show_rows(result: ClusteringResult, written: Written) -> None:
    """Print a row for each number: its part, its name and its value."""
    candidates = result.candidates
    rows: list[tuple[str, str, object]] = [("count", name, getattr(result, name)) for name in RESULT_COUNTS]
    rows += [("clusters of pages", str(size), clusters) for size, clusters in sorted(result.sizes.items())]
    rows += [
        ("clusters of identical pages", str(size), clusters)
        for size, clusters in sorted(result.identical_sizes.items())
    ]
    rows += [("largest", each.url, each.pages) for each in result.largest]
    rows += [("pairs", name, getattr(candidates, name)) for name in CANDIDATE_COUNTS]
    bars = len(candidates.histogram)
    rows += [("pairs of resemblance", f"{i / bars:g}", pairs) for i, pairs in enumerate(candidates.histogram) if pairs]
    if result.expected_recall is not None:
        rows.append(("expected", "recall", f"{result.expected_recall:.4g}"))
    rows += [("written", what, one_line(where)) for what, where in written]
    sys.stdout.write("part\tname\tvalue\n")
    sys.stdout.writelines(f"{part}\t{one_line(name)}\t{value}\n" for part, name, value in rows)


def _sizes(screen: Terminal, sizes: Mapping[int, int]) -> None:
    total = sum(sizes.values())
    shown = bins(sizes)[1:]  # the first bin is clusters of one page, and there are none
    pages = max(width(label) for label, _ in [*shown, ("pages", 0)])
    digits = max(len(f"{total:,}"), len("clusters"))
    room = min(max(screen.columns - pages - digits - 3 * len(GAP) - len("100 %"), 5), BAR_COLUMNS)
    note = f"{GAP}bars are logarithmic" if room > MIN_COLUMNS else ""
    screen.echo(f"{'pages':>{pages}}{GAP}{'clusters':>{digits}}{note}")
    for label, clusters in shown:
        share = (1 + log10(clusters)) / (1 + log10(total)) if clusters else 0
        part = f"{GAP}{compact_percent(clusters / total):>5}" if clusters else ""
        screen.echo(f"{label:>{pages}}{GAP}{clusters:>{digits},}{GAP}{bar(share, room)}{part}".rstrip())


def _largest(screen: Terminal, largest: Sequence[LargestCluster]) -> None:
    """Print number of pages, URL and title of each representative. The title goes below if there is no room beside."""
    digits = max(len(f"{each.pages:,}") for each in largest)
    room = max(screen.columns - digits - len(GAP), MIN_COLUMNS)
    urls = short_urls([each.url for each in largest], room)
    if urls.folder:
        screen.echo(" " * digits + GAP + screen.paint(shorten_middle(f"… is {urls.folder}", room), "dim"))
    columns = max(map(width, urls.shown))
    beside = room - columns - len(GAP)
    for each, url in zip(largest, urls.shown, strict=True):
        title = shorten(one_line(each.title or "").strip(), beside if beside >= MIN_COLUMNS else room)
        line = f"{each.pages:>{digits},}{GAP}{url}"
        if title and beside >= MIN_COLUMNS:
            line += " " * (columns - width(url)) + GAP + screen.paint(title, "dim")
        screen.echo(line)
        if title and beside < MIN_COLUMNS:
            screen.echo(" " * digits + GAP + screen.paint(title, "dim"))


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
    """Return the index of the bar that `threshold` is in."""
    return min(floor(round(threshold * bars, 6)), bars - 1)


def pairs_at_least(bars: Sequence[int]) -> list[tuple[float, int]]:
    """Count the pairs at or above the thresholds 0.1, 0.2 and so on, as long as there are any."""
    tenth = len(bars) // 10
    counts = [(step / 10, sum(bars[step * tenth :])) for step in range(1, 10)]
    return [(threshold, pairs) for threshold, pairs in counts if pairs]


def _height(count: int, highest: int) -> int:
    """Return the height in eighths of a row, on a logarithmic scale. A single pair is visible."""
    return max(round(8 * ROWS * (1 + log10(count)) / (1 + log10(highest))), 1) if count else 0
