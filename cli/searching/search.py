"""winnow search: full-text search in a store, with near-duplicate hits grouped."""

from __future__ import annotations

import json
import re
import time
from typing import Any, get_args

import click
from click.core import ParameterSource

from opensearch_winnow.answers.asking.nothing_found import no_hit_words
from opensearch_winnow.answers.formatting import duration
from opensearch_winnow.answers.searching.search_document import member_titles, search_document
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.options.filter_options import filter_option_names, filter_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.searching.hit_list import empty_page, hits_range, show_list, show_rows, total_with_hint
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.index import Index
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.searching.representative_rule import CHOICES
from opensearch_winnow.queries.searching.results import FacetName, GroupBy
from opensearch_winnow.queries.searching.search_request import BEST, DEFAULT_THRESHOLD, MAX_HITS_PER_PAGE, Cursor
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.opening import is_address

MAX_PAGE_NUMBER = 1_000_000  # more pages than anybody reads; a higher number might overflow
SEVERAL_WORDS = re.compile(r'(-?)([^"]*\s[^"]*)')
# Parameters allowed with --cursor, which continues a search with its own words and options.
ALLOWED_WITH_CURSOR = {"store", "cursor", "as_json", "color"}
DEFAULT_EXAMINED = 1_000  # hits; more than in the web UI, because starting a command takes longer than examining them


class FacetNames(click.ParamType[tuple[FacetName, ...]]):
    """The type of an option whose value is a comma-separated list of facets."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[FacetName, ...]:
        if isinstance(value, tuple):
            return value
        known = {str(name): name for name in get_args(FacetName)}
        names = list(dict.fromkeys(name.strip() for name in value.split(",")))
        for name in names:
            if name not in known:
                self.fail(f"{name!r} is not one of {', '.join(known)}", param, ctx)
        return tuple(known[name] for name in names)


@click.command("search", short_help="Search the pages of a store by words, with duplicates grouped.")
@click.argument("words", nargs=-1)
@store_option()
@click.option(
    "--group/--no-group",
    default=True,
    show_default=True,
    help="Show near-duplicates of a hit below it, and not again.",
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=DEFAULT_THRESHOLD,
    show_default=True,
    help="Minimum resemblance of a page to the hit that it is grouped under.",
)
@click.option(
    "--by",
    type=click.Choice(get_args(GroupBy)),
    default="signature",
    show_default=True,
    help="How to group. signature: compare the hits. cluster: use the clusters saved by winnow cluster. both: merge"
    " similar clusters.",
)
@click.option(
    "--examine",
    metavar="N",
    type=click.IntRange(1),
    default=DEFAULT_EXAMINED,
    show_default=True,
    help="Group at least the N best hits.",
)
@click.option("--exact", is_flag=True, help="Compute each resemblance from the texts instead of estimating it.")
@click.option(
    "--representative",
    metavar="RULE",
    default=BEST,
    show_default=True,
    help=f"The page of a group to show: {BEST} (the best hit), {CHOICES}.",
)
@click.option("--any", "any_word", is_flag=True, help="Find pages with any of the words, not only pages with all.")
@click.option(
    "--facets",
    metavar="NAMES",
    type=FacetNames(),
    default=(),
    help=f"Count pages and groups by these facets, separated by commas: {', '.join(get_args(FacetName))}.",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, MAX_HITS_PER_PAGE),
    default=10,
    show_default=True,
    help="Hits per page.",
)
@click.option(
    "--page",
    metavar="N",
    type=click.IntRange(1, MAX_PAGE_NUMBER),
    default=1,
    show_default=True,
    help="Page of hits to show.",
)
@click.option(
    "--stable",
    is_flag=True,
    help="Freeze the results for some minutes, so that --cursor can page through them. Only for a store on OpenSearch.",
)
@click.option("--cursor", metavar="TEXT", help="Show the next page of a --stable search. Give no WORDS.")
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
    by: GroupBy,
    examine: int,
    exact: bool,
    representative: str,
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

    Find the pages with all these words in their title or text, the best first. Use "quotes" for a phrase, -word to
    exclude a word, mil* for words that start with mil, and OR between alternatives. Put -- before words that start with
    a minus: winnow search -- mill -flour

    A page that resembles a better hit by at least X is grouped under that hit, and not shown again. Every page of a
    group resembles its first hit directly: there are no chains.

    Searches the latest capture of each URL; with --all-captures, --crawl or --until, every capture. Prints a list on a
    terminal, and tab-separated values in a pipe, one line per group. Exits with 1 if no page matches.
    """
    screen = None if as_json else terminal(color)
    typed = join_words(words)
    question: dict[str, Any] = {"any_word": any_word, "where": where, "all_captures": all_captures}
    groups: dict[str, Any] = {"group": group, "threshold": threshold, "by": by, "examine": examine, "exact": exact}
    groups["representative"] = representative
    request = question | groups | {"limit": limit, "page": page, "facets": facets, "stable": stable}
    if cursor is not None:
        check_cursor(ctx)
        before = Cursor.of(cursor)
        page, limit, request = before.number + 1, before.request.limit, {"cursor": cursor}
    elif not phrases(Words.of(typed)).wanted:
        raise click.UsageError("give at least one word to search for, without a minus", ctx)
    if stable and not is_address(store):
        raise click.UsageError("--stable works only with a store on OpenSearch", ctx)
    if facets and not (screen or as_json):
        raise click.UsageError("tab-separated values have no room for --facets: add --json", ctx)
    with Index.open(store, create=False) as index:
        start = time.perf_counter()
        results = index.search(typed, **request)
        seconds = time.perf_counter() - start
        titles = member_titles(index, results) if as_json else {}
        reason = ""
        if not results.hits:
            reason = (
                empty_page(results, page, limit)
                if results.total or cursor is not None
                else no_hit_sentence(index, typed, question)
            )
    if results.hits:
        remark(f"{total_with_hint(results)} · {duration(seconds)}")
    if as_json:
        click.echo(json.dumps(search_document(results, seconds, titles)))
    elif not screen:
        show_rows(results.hits)
    else:
        show_list(screen, results, first=(page - 1) * limit + 1)
    if results.cursor and not as_json:
        say(f"next page: --cursor {results.cursor}")
    if not results.hits:
        say(reason)
        ctx.exit(NOTHING_FOUND)
    if position := hits_range(results, page, limit):
        (remark if as_json or results.cursor else say)(position)  # these say otherwise that there is more
    next_step(ctx, "similar", results.hits[0].card.url)


def no_hit_sentence(index: Index, typed: str, question: dict[str, Any]) -> str:
    """Say why no page was found, and what would find some."""
    why = index.why_no_hit(typed, **question)
    return str(no_hit_words(why, name=index.name, filters=filter_option_names(question["where"])))


def join_words(words: tuple[str, ...]) -> str:
    """Join the arguments into one query; an argument with spaces was quoted in the shell, so it is a phrase."""
    phrases_typed = (SEVERAL_WORDS.fullmatch(word) for word in words)
    return " ".join(
        f'{phrase[1]}"{phrase[2]}"' if phrase else word for word, phrase in zip(words, phrases_typed, strict=True)
    )


def check_cursor(ctx: click.Context) -> None:
    """Refuse words and options beside --cursor, which would be ignored: the cursor contains the whole search."""
    if ctx.params["words"]:
        raise click.UsageError("--cursor contains the words of its search: give WORDS or --cursor, not both", ctx)
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name not in ALLOWED_WITH_CURSOR and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{parameter.opts[0]} cannot be combined with --cursor, which continues a search with its own options",
                ctx,
            )
