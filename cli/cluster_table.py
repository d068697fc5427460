"""A clustering as tables with bars, and as tab-separated values."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from math import log10

from opensearch_winnow.answers.display_text import one_line, shorten, shorten_middle, width, wrap
from opensearch_winnow.answers.formatting import compact_percent
from opensearch_winnow.answers.page_counts import bins
from opensearch_winnow.cli import cluster_words as words
from opensearch_winnow.cli.bars import bar
from opensearch_winnow.cli.page_line import short_urls
from opensearch_winnow.cli.pair_histogram import pair_histogram, pairs_at_least
from opensearch_winnow.cli.stats_table import BAR
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.clusters.asked import Clustering
from opensearch_winnow.clusters.found import Found, Largest

GAP = "  "
TOGETHER = "\u00a0"
ROOM = 20  # columns; a title in fewer says nothing
COUNTS = ("pages", "contents", "clusters", "clustered_pages", "identical_clusters", "identical_pages", "edges")
PAIR_COUNTS = ("compared", "exact", "edges", "common", "longest", "left_out")
Written = Sequence[tuple[str, str]]  # what, and where or how much


class Lines:
    """Sentences in as many columns as there are, below headings. A no-break space keeps words together."""

    def __init__(self, screen: Terminal) -> None:
        self.screen = screen

    def heading(self, text: str) -> None:
        self.screen.echo()
        self.say(text, "bold")

    def say(self, text: str, style: str = "plain") -> None:
        for line in wrap([(text.replace(" %", f"{TOGETHER}%"), style)], max(self.screen.columns, ROOM)):
            self.screen.echo(self.screen.line(line).replace(TOGETHER, " "))


def show_table(screen: Terminal, name: str, asked: Clustering, found: Found, written: Written) -> None:
    lines = Lines(screen)
    screen.echo(screen.paint(shorten_middle(one_line(name), max(screen.columns, ROOM)), "bold"))
    lines.say(words.pages_and_contents(found))
    lines.say(words.clusters_and_pages(found))
    lines.say(words.what_a_cluster_is(asked))
    if found.sizes:
        lines.heading("Clusters by size")
        _sizes(screen, found.sizes)
        lines.heading("Largest clusters")
        _largest(screen, found.largest)
    if found.candidates.compared:
        lines.heading("How alike the compared pairs are (heights are logarithmic)")
        for line in pair_histogram(found.candidates.histogram, asked.threshold, screen.columns):
            screen.echo(screen.line(line).rstrip())
        at_least = pairs_at_least(found.candidates.histogram)
        lines.say("pairs ≥ " + " · ".join(f"{compact_percent(share)}:{TOGETHER}{pairs:,}" for share, pairs in at_least))
        lines.say(words.what_was_compared(found.candidates, asked))
        lines.say(words.what_was_left_out(found.candidates, asked))
        if found.expected_recall is not None:
            lines.say(words.expected_recall(found.expected_recall))
    if written:
        lines.heading("Written")
        columns = max(len(what) for what, _ in written)
        for what, where in written:
            lines.say(f"{what:<{columns}}{GAP}{one_line(where)}")


def show_rows(found: Found, written: Written) -> None:
    """One row a number: its part, its name, and the value."""
    candidates = found.candidates
    rows: list[tuple[str, str, object]] = [("count", name, getattr(found, name)) for name in COUNTS]
    rows += [("clusters of pages", str(size), clusters) for size, clusters in sorted(found.sizes.items())]
    rows += [
        ("clusters of identical pages", str(size), clusters) for size, clusters in sorted(found.identical_sizes.items())
    ]
    rows += [("largest", each.url, each.pages) for each in found.largest]
    rows += [("pairs", name, getattr(candidates, name)) for name in PAIR_COUNTS]
    bars = len(candidates.histogram)
    rows += [
        ("pairs of resemblance", f"{place / bars:g}", pairs)
        for place, pairs in enumerate(candidates.histogram)
        if pairs
    ]
    if found.expected_recall is not None:
        rows.append(("expected", "recall", f"{found.expected_recall:.4g}"))
    rows += [("written", what, one_line(where)) for what, where in written]
    sys.stdout.write("part\tname\tvalue\n")
    sys.stdout.writelines(f"{part}\t{one_line(name)}\t{value}\n" for part, name, value in rows)


def _sizes(screen: Terminal, sizes: Mapping[int, int]) -> None:
    total = sum(sizes.values())
    shown = bins(sizes)[1:]  # no cluster has one page
    pages = max(width(label) for label, _ in [*shown, ("pages", 0)])
    digits = max(len(f"{total:,}"), len("clusters"))
    room = min(max(screen.columns - pages - digits - 3 * len(GAP) - len("100 %"), 5), BAR)
    note = f"{GAP}bars are logarithmic" if room > ROOM else ""
    screen.echo(f"{'pages':>{pages}}{GAP}{'clusters':>{digits}}{note}")
    for label, clusters in shown:
        share = (1 + log10(clusters)) / (1 + log10(total)) if clusters else 0
        part = f"{GAP}{compact_percent(clusters / total):>5}" if clusters else ""
        screen.echo(f"{label:>{pages}}{GAP}{clusters:>{digits},}{GAP}{bar(share, room)}{part}".rstrip())


def _largest(screen: Terminal, largest: Sequence[Largest]) -> None:
    """How many pages, the URL of the representative, and its title: beside it, or below where there is no room."""
    digits = max(len(f"{each.pages:,}") for each in largest)
    room = max(screen.columns - digits - len(GAP), ROOM)
    urls = short_urls([each.url for each in largest], room)
    if urls.folder:
        screen.echo(" " * digits + GAP + screen.paint(shorten_middle(f"… is {urls.folder}", room), "dim"))
    columns = max(map(width, urls.shown))
    beside = room - columns - len(GAP)
    for each, url in zip(largest, urls.shown, strict=True):
        title = shorten(one_line(each.title or "").strip(), beside if beside >= ROOM else room)
        line = f"{each.pages:>{digits},}{GAP}{url}"
        if title and beside >= ROOM:
            line += " " * (columns - width(url)) + GAP + screen.paint(title, "dim")
        screen.echo(line)
        if title and beside < ROOM:
            screen.echo(" " * digits + GAP + screen.paint(title, "dim"))
