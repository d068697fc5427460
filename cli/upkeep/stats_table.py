"""Statistics of a store as tables with bars, and as tab-separated values."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from opensearch_winnow.answers.display_text import one_line, shorten_middle, width
from opensearch_winnow.answers.formatting import bins, byte_size, compact_percent, count_of
from opensearch_winnow.answers.upkeep.statistics_document import power_law_sentences
from opensearch_winnow.cli.terminal import Terminal, bar
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.operations.upkeep.store_figures import PageCounts, StoreFigures

BAR_COLUMNS = 30
MAX_NAME_COLUMNS = 40  # of a site or crawl


def show_table(screen: Terminal, name: str, scheme: Scheme, figures: StoreFigures) -> None:
    statistics, pages = figures.statistics, figures.pages

    def heading(text: str) -> None:
        screen.echo("\n" + screen.paint(text, "bold"))

    period = f", {pages.first} to {pages.last}" if pages.first else ""
    screen.echo(screen.paint(one_line(name), "bold"))
    captures = count_of(statistics.pages, "page (capture)", "pages (captures)")
    screen.echo(f"{captures} of {count_of(statistics.urls, 'URL')} on {count_of(statistics.sites, 'site')}{period}")
    if pages.undated:
        screen.echo(f"{count_of(pages.undated, 'capture has', 'captures have')} no date, or one that cannot be right")
    if pages.unfilled_revisits:
        revisits = count_of(pages.unfilled_revisits, "revisit has", "revisits have")
        screen.echo(f"{revisits} no text: the original is not stored")
    copies = ", ".join(f"{how} {count:,}" for how, count in pages.duplicates.most_common())
    if copies:
        screen.echo(f"{count_of(pages.duplicates.total(), 'duplicates', 'duplicate')} an earlier page: {copies}")
    if statistics.stale is not None:
        stale = count_of(statistics.stale, "document is", "documents are")
        screen.echo(f"{stale} new or changed since the last winnow attach --update")
    code = scheme.form == "code"
    unit = "tokens" if code else "canonical characters"
    thresholds = f"K {scheme.noise:,}, T {scheme.guarantee:,}" if scheme.guarantees else f"K {scheme.noise:,}"
    others = ", letters that look alike are one" * scheme.fold_confusables + ", with a secret key" * bool(scheme.key)
    screen.echo(f"scheme {scheme.id}: {thresholds} {unit}, {scheme.selection}{others}")
    if not statistics.pages:
        return
    if set(pages.crawls) != {""}:
        heading("Crawls")
        _counts(screen, pages.crawls, "(no name)")
    if len(pages.sites) > 1:
        heading("Sites")
        _counts(screen, pages.sites, "(no host)")
    counts = statistics.frequencies["fingerprints"]
    if counts:
        different = sum(counts.values())
        total = sum(on * tokens for on, tokens in counts.items())
        heading("Fingerprints")
        screen.echo(f"{total:,} in all, {different:,} different")
        screen.echo(f"{'on pages':>16}  {'fingerprints':>12}  bars are logarithmic")
        for label, tokens in bins(counts):
            share = (1 + math.log10(tokens)) / (1 + math.log10(different)) if tokens else 0
            part = f"  {compact_percent(tokens / different):>5}" if tokens else ""
            screen.echo(f"{label:>16}  {tokens:>12,}  {bar(share, BAR_COLUMNS)}{part}")
        for line in power_law_sentences(figures.power_law):
            screen.echo(line)
    heading("Size")
    for what, size in _sizes(statistics.sizes):
        each = f"{byte_size(size / statistics.pages):>10} per page"
        screen.echo(f"{one_line(what):<16}  {byte_size(size):>10}  {each}")


def show_rows(scheme: Scheme, figures: StoreFigures) -> None:
    """Print tab-separated values, one row for each number: its part, name and value."""
    statistics, pages, law = figures.statistics, figures.pages, figures.power_law
    rows: list[tuple[str, str, object]] = [
        ("scheme", "id", scheme.id),
        ("scheme", "noise", scheme.noise),
        ("scheme", "guarantee", scheme.guarantee),
        ("scheme", "selection", scheme.selection),
        ("scheme", "form", scheme.form),
        ("scheme", "fold_confusables", scheme.fold_confusables),
        ("scheme", "keyed", scheme.key is not None),
        ("count", "pages", statistics.pages),
        ("count", "urls", statistics.urls),
        ("count", "sites", statistics.sites),
        ("count", "undated", pages.undated),
        ("count", "unfilled_revisits", pages.unfilled_revisits),
        *([] if statistics.stale is None else [("count", "stale", statistics.stale)]),
    ]
    rows += [("crawl", name, count) for name, count in pages.crawls.most_common()]
    rows += [("site", name, count) for name, count in pages.sites.most_common(pages.TOP)]
    rows += [("fingerprints on pages", label, tokens) for label, tokens in bins(statistics.frequencies["fingerprints"])]
    if law is not None:
        rows += [("power law", name, f"{value:.4g}") for name, value in law._asdict().items() if value is not None]
    rows += [("bytes", name, size) for name, size in _sizes(statistics.sizes)]
    sys.stdout.write("part\tname\tvalue\n")
    sys.stdout.writelines(f"{part}\t{one_line(name)}\t{value}\n" for part, name, value in rows)


def _sizes(sizes: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    return [*largest, ("all", sum(sizes.values()))]


def _counts(screen: Terminal, counts: Counter[str], nameless: str) -> None:
    top = [
        (shorten_middle(one_line(name) or nameless, MAX_NAME_COLUMNS), count)
        for name, count in counts.most_common(PageCounts.TOP)
    ]
    columns = max(width(name) for name, _ in top)
    digits = len(f"{top[0][1]:,}")
    for name, count in top:
        screen.echo(
            f"{name}{' ' * (columns - width(name))}  {count:>{digits},}  {bar(count / top[0][1], BAR_COLUMNS)}".rstrip()
        )
    rest = counts.total() - sum(count for _, count in top)
    if rest:
        others = len(counts) - len(top)
        screen.echo(screen.paint(f"and {count_of(others, 'other')} with {rest:,}", "dim"))
