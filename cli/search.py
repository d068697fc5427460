"""winnow search: pages of a store that have these words."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import click

from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.filter_options import chosen, filter_options
from opensearch_winnow.cli.hit_list import as_object, show_list, show_rows
from opensearch_winnow.cli.match_words import duration
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.index import Index
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words

MOST = 1_000_000  # hits on a page, and pages of hits: more than anybody reads, and not too many to count
LEFT_OUT = 8  # words; more are not tried one by one


@click.command("search", short_help="Pages of a store that have these words.")
@click.argument("words", nargs=-1, required=True)
@store_option()
@click.option("--no-group", is_flag=True, help="Every page by itself, which is all there is so far.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, MOST), default=10, show_default=True, help="Hits on a page."
)
@click.option(
    "--page", metavar="N", type=click.IntRange(1, MOST), default=1, show_default=True, help="Which page of hits."
)
@filter_options
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    store: str,
    no_group: bool,  # noqa: ARG001 (groups are to come, and who wants none of them can say so now)
    limit: int,
    page: int,
    where: Filters,
    all_captures: bool,
    as_json: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow search mill valley --store crawl.winnow
      winnow search '"weigh a sack" -flour'
      winnow search mill --site example.org --since 2024-03 --limit 50 --json

    The pages of a store that have all these words in their title or text, the best first. "A phrase" is in quotes,
    and -word is what a page must not have. -- before the words ends the options: winnow search -- mill -flour

    The latest capture of each URL is searched; with --all-captures, --crawl or --until every one.
    Exit code 1 if there is no such page.
    """
    typed = " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
    if not any(character.isalnum() for word in Words.of(typed).wanted for character in word):
        raise click.UsageError("say what a page must have: at least one word, without a minus", ctx)
    with Index.open(store, create=False) as index:
        start = time.perf_counter()
        results = index.search(typed, limit=limit, page=page, where=where, all_captures=all_captures)
        seconds = time.perf_counter() - start
        reason = "" if results.hits else why_nothing(index, typed, where, all_captures, limit, results.total)
    if as_json:
        click.echo(json.dumps(as_object(results.total, results.groups, results.hits, seconds)))
    elif not (screen := terminal(color)):
        show_rows(results.hits)
    elif results.hits:
        show_list(screen, results.hits, Words.of(typed), first=(page - 1) * limit + 1)
    if not results.hits:
        say(reason)
        ctx.exit(NOTHING_FOUND)
    remark(f"{results.total:,} page{'s' * (results.total != 1)} · {duration(seconds)}")
    shown_to = (page - 1) * limit + len(results.hits)
    if shown_to < results.total:
        remark(f"showing {shown_to - len(results.hits) + 1:,} to {shown_to:,} (--page {page + 1} has the next)")
    next_step(ctx, "similar", results.hits[0].card.url)


def why_nothing(index: Index, typed: str, where: Filters, all_captures: bool, limit: int, total: int) -> str:
    """Never a silent zero: what stands in the way, and how many pages there are without it."""

    def pages_with(words: Sequence[str]) -> int:
        return index.search(as_typed(words), limit=1, where=where, all_captures=all_captures).total

    if total:
        pages = "There is 1 page" if total == 1 else f"There are {total:,} pages"
        return f"{pages}, and --page {-(-total // limit)} is the last"
    if not index.store.count():
        return f"No page found: {index.name} has none yet; winnow index SOURCE --store {index.name} puts them there"
    options = chosen(where)
    if options:
        anywhere = index.search(typed, limit=1).total
        if anywhere:
            return f"No page has these words with {options}; without, {anywhere:,} {'has' if anywhere == 1 else 'have'}"
    words = Words.of(typed)
    if words.unwanted:
        count = pages_with(words.wanted)
        if count:
            return f"No page has these words without {as_typed(words.unwanted)}; {count:,} with it"
    if len(words.wanted) == 1:
        return f"No page of {index.name} has {as_typed(words.wanted)}"
    fewer = {word: pages_with([each for each in words.wanted if each is not word]) for word in words.wanted[:LEFT_OUT]}
    word = max(fewer, key=lambda each: fewer[each], default="")
    if not word or not fewer[word]:
        return f"No page of {index.name} has all these words, nor all but one of them"
    count = fewer[word]
    return f"No page has all these words; without {as_typed([word])} there {'is' if count == 1 else 'are'} {count:,}"


def as_typed(words: Sequence[str]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in words)
