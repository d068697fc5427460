"""winnow stats: how much is in a store, how it is distributed, and what it takes."""

from __future__ import annotations

import json
from typing import Any

import click

from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.page_counts import PageCounts, page_counts
from opensearch_winnow.cli.power_law import PowerLaw, power_law
from opensearch_winnow.cli.stats_table import show_rows, show_table
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import color_option, json_option, say, terminal
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.sqlite_schema import MIGRATIONS
from opensearch_winnow.scheme import Scheme
from opensearch_winnow.stores.store import Statistics


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
        pages = page_counts(index.store.cards())
        name, scheme = index.name, index.scheme
    law = power_law(statistics.frequencies["fingerprints"])
    if as_json:
        click.echo(json.dumps(as_object(name, scheme, statistics, pages, law)))
    elif screen := terminal(color):
        show_table(screen, name, scheme, statistics, pages, law)
    else:
        show_rows(scheme, statistics, pages, law)
    if not statistics.pages:
        say(f"No page: {name} has none yet; winnow index SOURCE --store {name} puts them there")
        ctx.exit(NOTHING_FOUND)
    next_step(ctx, "similar", pages.example)


def as_object(
    name: str, scheme: Scheme, statistics: Statistics, pages: PageCounts, law: PowerLaw | None
) -> dict[str, Any]:
    """All of it; what is on so many pages as pairs, since the keys of a JSON object are no numbers."""
    return {
        "store": name,
        "format": len(MIGRATIONS),
        "scheme": {
            "id": scheme.id,
            "noise": scheme.noise,
            "guarantee": scheme.guarantee,
            "selection": scheme.selection,
            "form": scheme.form,
            "shingle": scheme.shingle,
        },
        "pages": statistics.pages,
        "urls": statistics.urls,
        "sites": statistics.sites,
        "crawls": dict(pages.crawls.most_common()),
        "top_sites": dict(pages.sites.most_common(pages.TOP)),
        "first": pages.first,
        "last": pages.last,
        "duplicates": dict(pages.duplicates.most_common()),
        "tokens": {
            field: {
                "total": sum(on * tokens for on, tokens in counts.items()),
                "different": sum(counts.values()),
                "frequencies": sorted(counts.items()),
            }
            for field, counts in statistics.frequencies.items()
        },
        "power_law": None if law is None else law._asdict(),
        "sizes": statistics.sizes,
        "bytes": sum(statistics.sizes.values()),
        "bytes_per_page": sum(statistics.sizes.values()) / max(statistics.pages, 1),
    }
