"""The report of the demo, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

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


class Lines:
    """Prints headings and sentences, wrapped to the width of the screen."""

    def __init__(self, screen: Terminal) -> None:
        self._screen = screen

    def heading(self, text: str) -> None:
        self._print(heading(text, self._screen.columns))

    def say(self, text: str, style: str = "plain") -> None:
        self._print(wrapped(text, self._screen.columns, style))

    def _print(self, lines: Iterable[list[Span]]) -> None:
        for line in lines:
            self._screen.echo(self._screen.line(line))


def show(screen: Terminal, report: DemoReport) -> None:
    lines = Lines(screen)
    crawled = report.crawled
    lines.say(words.page_sources(crawled), "bold")
    for sentence in (words.unchanged_pages(crawled), words.left_out_modules(crawled), words.text_size(report)):
        if sentence:
            lines.say(sentence)

    lines.heading("Near-copies")
    lines.say(words.near_copies(report))
    digits = max((len(f"{each.pages:,}") for each in report.clusters), default=0)
    for cluster in report.clusters[:MAX_LISTED]:
        what = f"{cluster.representative.name} · {words.likeness(cluster)}"
        _item(screen, f"  {cluster.pages:>{digits},}  ", what)
        _item(screen, " " * (digits + 4), words.names(cluster.others), "dim")
    _more(lines, len(report.clusters), "cluster")

    lines.heading("Contained in another")
    for contained in report.contained[:MAX_LISTED]:
        _item(screen, f"  {count_of(contained.words, 'word'):>12}  ", words.contained_sentence(contained))
    if not report.contained:
        lines.say("No licence is entirely contained in another.")
    _more(lines, len(report.contained), "licence")

    lines.heading("The most copied passages")
    for copied in report.copied:
        lines.say(words.copied_sentence(copied))
        passage = one_line(copied.text)
        _item(screen, "  ", f"“{passage[:MAX_PASSAGE_CHARS]}{'…' * (len(passage) > MAX_PASSAGE_CHARS)}”")
        _item(screen, "  ", words.names(copied.pages), "dim")
    if not report.copied:
        lines.say("No two pages share a passage.")

    lines.heading("A search, with copies grouped")
    lines.say(words.search_sentence(report))
    for hit in report.search.hits[:MAX_HITS]:
        more = f" · {more_like_this(hit, report.threshold)}" if hit.members else ""
        _item(screen, "  ", f"{one_line(hit.card.title or hit.card.url)}{more}")

    if report.comparison is not None:
        lines.heading("Two licences that share many passages")
        _side_by_side(screen, report.comparison)

    parts = ", ".join(f"{part} {duration(seconds)}" for part, seconds in report.seconds.items())
    lines.heading("Report")
    lines.say(f"{report.report}: all of this, and the two texts side by side, for a browser")
    lines.say(f"It took {duration(sum(report.seconds.values()))}: {parts}.")
    lines.heading("Try next")
    for line in report.commands:
        screen.echo(f"  {line}")


def _item(screen: Terminal, left: str, text: str, style: str = "plain") -> None:
    """Print an entry of a list, wrapped and indented by the width of `left`."""
    for number, line in enumerate(wrap([(text, style)], max(screen.columns - len(left), MIN_TEXT_COLUMNS))):
        screen.echo((" " * len(left) if number else left) + screen.line(line))


def _more(lines: Lines, total: int, what: str) -> None:
    if total > MAX_LISTED:
        lines.say(f"And {count_of(total - MAX_LISTED, f'more {what}')}: see the report.", "dim")


def _side_by_side(screen: Terminal, pair: Compared) -> None:
    """Print one short passage with its surroundings; one that moved, if any did."""
    Lines(screen).say(f"{pair.a.title} and {pair.b.title}: {pair.answer}")
    Lines(screen).say("   ".join(f"{name} {percent(share)}" for name, share in three_numbers(pair.comparison)))
    if pair:
        view = SideBySide(screen, pair)
        short = min(pair, key=lambda each: (not each.moved, each.words))
        for line in (*view.names(), *view.passage(short)):
            screen.echo(line)
