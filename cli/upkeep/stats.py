"""winnow stats: show what a store contains, and how much space it takes."""

from __future__ import annotations

import json

import click

from opensearch_winnow.answers.asking.nothing_found import empty_store
from opensearch_winnow.answers.upkeep.statistics_document import statistics_document
from opensearch_winnow.cli.command_group import NOTHING_FOUND, CommandFailedError
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import color_option, json_option, say, terminal
from opensearch_winnow.cli.upkeep.stats_table import show_rows, show_table
from opensearch_winnow.index import Index
from opensearch_winnow.stores.opening import is_address


@click.command("stats", short_help="Show what a store contains, and how much space it takes.")
@store_option()
@click.option("--verify", is_flag=True, help="First read all of a store file, and check its structure and checksums.")
@json_option
@color_option
@click.pass_context
def command(ctx: click.Context, store: str, verify: bool, as_json: bool, color: str) -> None:
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
        name, scheme = index.name, index.scheme
        if verify:
            if is_address(store):
                raise CommandFailedError(
                    "--verify is for a store in a file: OpenSearch checks the files of its indices itself"
                )
            index.verify()
        figures = index.figures()
        if verify:
            say(f"{name} is not damaged")
    if as_json:
        click.echo(json.dumps(statistics_document(name, scheme, figures)))
    elif screen := terminal(color):
        show_table(screen, name, scheme, figures)
    else:
        show_rows(scheme, figures)
    if not figures.statistics.pages:
        say(str(empty_store(name, figures.statistics.stale)))
        ctx.exit(NOTHING_FOUND)
    next_step(ctx, "similar", figures.pages.example)
