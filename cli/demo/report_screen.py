"""The report of the demo, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.answers.asking.compared import Compared
from opensearch_winnow.answers.asking.comparison_words import three_numbers
from opensearch_winnow.answers.demo import report_words as words
from opensearch_winnow.answers.demo.report import DemoReport
from opensearch_winnow.answers.display_text import Span, one_line, wrap
from opensearch_winnow.answers.formatting import count_of, duration, percent
from opensearch_winnow.answers.searching.search_words import more_like_this
from opensearch_winnow.cli.asking.side_by_side import SideBySide
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.cli.text_columns import MIN_TEXT_COLUMNS, heading, wrapped

MAX_LISTED = 5  # entries of each list
MAX_HITS = 3
MAX_PASSAGE_CHARS = 300


def report_lines(screen: Terminal, report: DemoReport) -> Iterator[list[Span]]:
    """Yield the lines of the report."""
    crawled, columns = report.crawled, screen.columns
    yield from wrapped(words.page_sources(crawled), columns, "bold")
    for sentence in (words.unchanged_pages(crawled), words.left_out_modules(crawled), words.text_size(report)):
        if sentence:
            yield from wrapped(sentence, columns)

    yield from heading("Near-copies", columns)
    yield from wrapped(words.near_copies(report), columns)
    digits = max((len(f"{each.pages:,}") for each in report.clusters), default=0)
    for cluster in report.clusters[:MAX_LISTED]:
        what = f"{cluster.representative.name} · {words.likeness(cluster)}"
        yield from _item(columns, f"  {cluster.pages:>{digits},}  ", what)
        yield from _item(columns, " " * (digits + 4), words.names(cluster.others), "dim")
    yield from _more(columns, len(report.clusters), "cluster")

    yield from heading("Contained in another", columns)
    for contained in report.contained[:MAX_LISTED]:
        yield from _item(columns, f"  {count_of(contained.words, 'word'):>12}  ", words.contained_sentence(contained))
    if not report.contained:
        yield from wrapped("No licence is entirely contained in another.", columns)
    yield from _more(columns, len(report.contained), "licence")

    yield from heading("The most copied passages", columns)
    for copied in report.copied:
        yield from wrapped(words.copied_sentence(copied), columns)
        passage = one_line(copied.text)
        yield from _item(columns, "  ", f"“{passage[:MAX_PASSAGE_CHARS]}{'…' * (len(passage) > MAX_PASSAGE_CHARS)}”")
        yield from _item(columns, "  ", words.names(copied.pages), "dim")
    if not report.copied:
        yield from wrapped("No two pages share a passage.", columns)

    yield from heading("A search, with copies grouped", columns)
    yield from wrapped(words.search_sentence(report), columns)
    for hit in report.search.hits[:MAX_HITS]:
        more = f" · {more_like_this(hit, report.threshold)}" if hit.members else ""
        yield from _item(columns, "  ", f"{one_line(hit.card.title or hit.card.url)}{more}")

    if report.comparison is not None:
        yield from heading("Two licences that share many passages", columns)
        yield from _side_by_side(screen, report.comparison)

    parts = ", ".join(f"{part} {duration(seconds)}" for part, seconds in report.seconds.items())
    yield from heading("Report", columns)
    yield from wrapped(f"{report.report}: all of this, and the two texts side by side, for a browser", columns)
    yield from wrapped(f"It took {duration(sum(report.seconds.values()))}: {parts}.", columns)
    yield from heading("Try next", columns)
    yield from ([(f"  {line}", "plain")] for line in report.commands)


def _item(columns: int, left: str, text: str, style: str = "plain") -> Iterator[list[Span]]:
    """Yield an entry of a list, wrapped and indented by the width of `left`."""
    for number, line in enumerate(wrap([(text, style)], max(columns - len(left), MIN_TEXT_COLUMNS))):
        yield [(" " * len(left) if number else left, "plain"), *line]


def _more(columns: int, total: int, what: str) -> Iterator[list[Span]]:
    if total > MAX_LISTED:
        yield from wrapped(f"And {count_of(total - MAX_LISTED, f'more {what}')}: see the report.", columns, "dim")


def _side_by_side(screen: Terminal, pair: Compared) -> Iterator[list[Span]]:
    """Yield one short passage with its surroundings; one that moved, if any did."""
    yield from wrapped(f"{pair.a.title} and {pair.b.title}: {pair.answer}", screen.columns)
    scores = "   ".join(f"{name} {percent(share)}" for name, share in three_numbers(pair.comparison))
    yield from wrapped(scores, screen.columns)
    if pair:
        view = SideBySide(screen, pair)
        short = min(pair, key=lambda each: (not each.moved, each.words))
        yield from ([(line, "plain")] for line in (*view.names(), *view.passage(short)))
