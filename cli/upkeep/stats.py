"""winnow stats: show what a store contains, and how much space it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from opensearch_winnow.answers.asking.nothing_found import empty_store
from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle
from opensearch_winnow.answers.formatting import bins, byte_size, count_of
from opensearch_winnow.answers.upkeep.statistics import figures_summary, power_law_sentences
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import AnswerOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import bar, say
from opensearch_winnow.cli.text_columns import MAX_COUNT_BAR_COLUMNS, TextColumn, count_lines, heading, joined
from opensearch_winnow.index import Index
from opensearch_winnow.operations.upkeep.store_figures import FigureOptions, StoreFigures

MAX_LISTED = 10  # crawls or sites
MAX_NAME_COLUMNS = 40  # of one of them


@click.command("stats", cls=DescribedCommand, short_help="Show what a store contains, and how much space it takes.")
@store_option()
@declared_options(FigureOptions, "options")
@declared_options(AnswerOutput, "output")
def command(store: str, options: FigureOptions, output: AnswerOutput) -> None:
    """\b
    Examples:
      winnow stats --store crawl.winnow
      winnow stats --store crawl.winnow --json | jq .sizes
      winnow stats --store crawl.winnow --verify

    Show how many pages, URLs, sites and crawls a store has, how common its fingerprints are, and its size in bytes.

    On the Web, the number of pages that have a fingerprint follows a power law: most fingerprints are on one page, and
    a few are on thousands. The exponent is a maximum likelihood estimate. The slope next to it is the one that the
    winnowing paper plots, frequency over rank: about -0.7 for Web pages (Schleimer, Wilkerson and Aiken 2003, section
    5.1). Collections with many whole copies, such as versions of a manual, deviate from the law.

    Exits with 1 if the store is empty.
    """
    with Index.open(store, create=False, patient=True) as index:
        name, figures = index.name, index.figures(options)
    if options.verify:
        say(f"{name} is not damaged")
    output.show(figures, lambda screen: table(name, figures, screen.columns))
    if not figures.pages:
        end(NOTHING_FOUND, str(empty_store(name, figures.stale)))
    next_step("similar", figures.example)


def table(name: str, figures: StoreFigures, columns: int) -> Iterator[list[Span]]:
    """Yield the lines of the figures."""
    yield [(one_line(name), "bold")]
    yield from ([(line, "plain")] for line in figures_summary(figures))
    if not figures.pages:
        return
    if set(figures.crawls) != {""}:
        yield from _counts("Crawls", figures.crawls, "(no name)", figures.pages, len(figures.crawls), columns)
    if figures.sites > 1:
        yield from _counts("Sites", figures.top_sites, "(no host)", figures.pages, figures.sites, columns)
    tokens = figures.tokens["fingerprints"]
    if tokens.total:
        yield from heading("Fingerprints", columns)
        yield [(f"{tokens.total:,} in all, {tokens.different:,} different", "plain")]
        yield from count_lines(bins(dict(tokens.frequencies)), ("on pages", "fingerprints"), columns)
        yield from ([(line, "plain")] for line in power_law_sentences(figures.power_law))
    yield from heading("Size", columns)
    sizes = [*sorted(figures.sizes.items(), key=lambda item: (-item[1], item[0])), ("all", figures.bytes)]
    written = [
        TextColumn("", [one_line(part) for part, _ in sizes]),
        TextColumn("", [byte_size(size) for _, size in sizes], right=True),
        TextColumn("", [f"{byte_size(size / figures.pages)} per page" for _, size in sizes], right=True),
    ]
    yield from ([(line, "plain")] for line in joined(written)[1])


def _counts(
    title: str, counts: Mapping[str, int], nameless: str, pages: int, all_names: int, columns: int
) -> Iterator[list[Span]]:
    """Yield the largest of these counts. All counts sum up to `pages`, and belong to `all_names` names."""
    yield from heading(title, columns)
    top = dict(list(counts.items())[:MAX_LISTED])
    most = max(top.values())
    listed = [
        TextColumn("", [shorten_middle(one_line(name) or nameless, MAX_NAME_COLUMNS) for name in top]),
        TextColumn("", [f"{count:,}" for count in top.values()], right=True),
        TextColumn("", [bar(count / most, MAX_COUNT_BAR_COLUMNS) for count in top.values()]),
    ]
    yield from ([(line.rstrip(), "plain")] for line in joined(listed)[1])
    if rest := pages - sum(top.values()):
        yield [(f"and {count_of(all_names - len(top), 'other')} with {rest:,}", "dim")]
