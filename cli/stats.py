"""winnow stats: how much is in a store, how it is distributed, and what it takes."""

from __future__ import annotations

import json

import click

from opensearch_winnow.answers.nothing_found import empty_store
from opensearch_winnow.answers.page_counts import page_counts
from opensearch_winnow.answers.power_law import power_law
from opensearch_winnow.answers.statistics_document import statistics_document
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.stats_table import show_rows, show_table
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import color_option, json_option, say, terminal
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card


@click.command("stats", short_help="How much is in a store, and what it takes.")
@store_option()
@json_option
@color_option
@click.pass_context
def command(ctx: click.Context, store: str, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow stats --store crawl.winnow
      winnow stats --store crawl.winnow --json | jq .sizes

    The pages, URLs, sites and crawls of a store; on how many pages its fingerprints are; and the bytes it takes.

    On how many pages a fingerprint is follows a power law on the Web: most are on one page, and a few on thousands.
    The exponent is the one of greatest likelihood. Beside it stands the slope that the winnowing paper plots
    (Schleimer, Wilkerson and Aiken 2003, section 5.1), the frequency over the rank: about -0.7 for pages of the Web.
    Texts that were copied as a whole, such as the versions of a manual, make bumps in it.

    Exit code 1 if there is no page.
    """
    with Index.open(store, create=False) as index:
        statistics = index.statistics()
        pages = page_counts(index.store.scan(Card))
        name, scheme = index.name, index.scheme
    law = power_law(statistics.frequencies["fingerprints"])
    if as_json:
        click.echo(json.dumps(statistics_document(name, scheme, statistics, pages, law)))
    elif screen := terminal(color):
        show_table(screen, name, scheme, statistics, pages, law)
    else:
        show_rows(scheme, statistics, pages, law)
    if not statistics.pages:
        say(str(empty_store(name)))
        ctx.exit(NOTHING_FOUND)
    next_step(ctx, "similar", pages.example)
