"""winnow search: pages of a store that have these words, each with the pages that are like it."""

from __future__ import annotations

import json
import re
import time
from typing import Any, get_args

import click
from click.core import ParameterSource

from opensearch_winnow.answers.formatting import duration
from opensearch_winnow.answers.nothing_found import no_hit
from opensearch_winnow.answers.search_document import search_document
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.filter_options import chosen, filter_options
from opensearch_winnow.cli.hit_list import show_list, show_rows
from opensearch_winnow.cli.hit_words import all_in_groups, past_the_end, which_are_shown
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.index import Index
from opensearch_winnow.queries.cursors import DEFAULT_THRESHOLD, MAX_HITS_PER_PAGE, Cursor
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.results import FacetName, Way
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.opening import is_address

FARTHEST = 1_000_000  # page of results: farther than anybody reads, and not too far to count
SEVERAL_WORDS = re.compile(r'(-?)([^"]*\s[^"]*)')
# What may be said beside a cursor. The rest of a search is as it was.
BESIDE_CURSOR = {"store", "cursor", "as_json", "color"}
MANY = 1_000  # hits that are examined: a command takes its time to start, and an exact number is worth more


class FacetNames(click.ParamType[tuple[FacetName, ...]]):
    """Some of them, with commas in between."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[FacetName, ...]:
        if isinstance(value, tuple):
            return value
        known = {str(name): name for name in get_args(FacetName)}
        names = list(dict.fromkeys(name.strip() for name in value.split(",")))
        for name in names:
            if name not in known:
                self.fail(f"{name!r} is none of {', '.join(known)}", param, ctx)
        return tuple(known[name] for name in names)


@click.command("search", short_help="Pages of a store that have these words.")
@click.argument("words", nargs=-1)
@store_option()
@click.option(
    "--group/--no-group", default=True, show_default=True, help="Show what is like a better hit below that one only."
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=DEFAULT_THRESHOLD,
    show_default=True,
    help="How much a page resembles the hit that it is shown below, at least.",
)
@click.option(
    "--by",
    type=click.Choice(get_args(Way)),
    default="signature",
    show_default=True,
    help="signature: find the groups among the hits. cluster: take the clusters of the store. both: put clusters"
    " together that are alike.",
)
@click.option(
    "--examine",
    metavar="N",
    type=click.IntRange(1),
    default=MANY,
    show_default=True,
    help="Put at least the N best hits into groups.",
)
@click.option("--exact", is_flag=True, help="Show no estimate: compute each resemblance from the texts.")
@click.option("--any", "any_word", is_flag=True, help="Pages that have one of the words, or more.")
@click.option(
    "--facets",
    metavar="NAMES",
    type=FacetNames(),
    default=(),
    help=f"Count pages, and groups, by some of {', '.join(get_args(FacetName))}.",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, MAX_HITS_PER_PAGE),
    default=10,
    show_default=True,
    help="Hits on a page.",
)
@click.option(
    "--page", metavar="N", type=click.IntRange(1, FARTHEST), default=1, show_default=True, help="Which page of hits."
)
@click.option(
    "--stable", is_flag=True, help="Keep the results of this moment for some minutes, on a cluster: see --cursor."
)
@click.option("--cursor", metavar="TEXT", help="The next page of hits of a search that was --stable. Without WORDS.")
@filter_options
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    store: str,
    group: bool,
    threshold: float,
    by: Way,
    examine: int,
    exact: bool,
    any_word: bool,
    facets: tuple[FacetName, ...],
    limit: int,
    page: int,
    stable: bool,
    cursor: str | None,
    where: Filters,
    all_captures: bool,
    as_json: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow search mill valley --store crawl.winnow
      winnow search '"weigh a sack" mil* -flour'
      winnow search mill OR watermill --threshold 0.8 --facets site,month
      winnow search mill --no-group --site example.org --since 2024-03 --limit 50 --json

    The pages of a store that have all these words in their title or text, the best first. "A phrase" is in quotes,
    -word is what a page must not have, mil* is any word that starts so, and with OR between two words either will do.
    -- before the words ends the options: winnow search -- mill -flour

    Pages that are like a better hit are shown below it, and not again: a group. Each resembles the first of its group
    at least X, and there are no chains.

    The latest capture of each URL is searched; with --all-captures, --crawl or --until every one. On a terminal a list;
    in a pipe tab-separated values, a line for each group. Exit code 1 if there is no such page.
    """
    screen = None if as_json else terminal(color)
    typed = as_one(words)
    question: dict[str, Any] = {"any_word": any_word, "where": where, "all_captures": all_captures}
    groups: dict[str, Any] = {"group": group, "threshold": threshold, "by": by, "examine": examine, "exact": exact}
    asked = question | groups | {"limit": limit, "page": page, "facets": facets, "stable": stable}
    if cursor is not None:
        check_cursor(ctx)
        before = Cursor.of(cursor)
        page, limit, asked = before.number + 1, before.request.limit, {"cursor": cursor}
    elif not phrases(Words.of(typed)).wanted:
        raise click.UsageError("say what a page must have: at least one word, without a minus", ctx)
    if stable and not is_address(store):
        raise click.UsageError("--stable is for a store on a cluster: results of a file end with this command", ctx)
    if facets and not (screen or as_json):
        raise click.UsageError("--facets are no part of tab-separated values: add --json", ctx)
    with Index.open(store, create=False) as index:
        start = time.perf_counter()
        results = index.search(typed, **asked)
        seconds = time.perf_counter() - start
        reason = ""
        if not results.hits:
            found = results.total or cursor is not None
            reason = (
                past_the_end(results, page, limit)
                if found
                else str(no_hit(index, typed, **question, filters=chosen(where)))
            )
    if results.hits:
        remark(f"{all_in_groups(results)} · {duration(seconds)}")
    if as_json:
        click.echo(json.dumps(search_document(results, seconds)))
    elif not screen:
        show_rows(results.hits)
    else:
        show_list(screen, results, first=(page - 1) * limit + 1)
    if results.cursor and not as_json:
        say(f"--cursor {results.cursor} has the next")
    if not results.hits:
        say(reason)
        ctx.exit(NOTHING_FOUND)
    if these := which_are_shown(results, page, limit):
        remark(these)
    next_step(ctx, "similar", results.hits[0].card.url)


def as_one(words: tuple[str, ...]) -> str:
    """What was typed, after a shell has taken the quotes away: one word of the shell is a word or a phrase."""
    several = (SEVERAL_WORDS.fullmatch(word) for word in words)
    return " ".join(f'{found[1]}"{found[2]}"' if found else word for word, found in zip(words, several, strict=True))


def check_cursor(ctx: click.Context) -> None:
    """It has the whole search in it; anything else beside it would be ignored."""
    if ctx.params["words"]:
        raise click.UsageError("a --cursor knows its words: give one of them, not both", ctx)
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name not in BESIDE_CURSOR and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{parameter.opts[0]} cannot be changed: --cursor goes on with a search as it was", ctx
            )
