"""winnow search: full-text search in a store, with near-duplicate hits grouped."""

from __future__ import annotations

import re
from dataclasses import replace

import click

from opensearch_winnow.answers.asking.nothing_found import no_hit_words
from opensearch_winnow.answers.formatting import duration
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import JSON, TableOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.filter_options import filter_option_names
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.searching.hit_list import empty_page, hits_range, result_lines, total_with_hint
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.typed_options import typed_options
from opensearch_winnow.index import Index
from opensearch_winnow.queries.phrases import phrases
from opensearch_winnow.queries.searching.search_request import Cursor, SearchQuestion
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.opening import is_address

SEVERAL_WORDS = re.compile(r'(-?)([^"]*\s[^"]*)')
DEFAULT_EXAMINED = 1_000  # hits; more than in the web UI, because starting a command takes longer than examining them


@click.command(
    "search", cls=DescribedCommand, short_help="Search the pages of a store by words, with duplicates grouped."
)
@click.argument("words", nargs=-1)
@store_option()
@declared_options(SearchQuestion, "question", group=True, examine=DEFAULT_EXAMINED)
@declared_options(TableOutput, "output")
def command(words: tuple[str, ...], store: str, question: SearchQuestion, output: TableOutput) -> None:
    """\b
    Examples:
      winnow search mill valley --store crawl.winnow
      winnow search '"weigh a sack" mil* -flour'
      winnow search mill OR watermill --min-resemblance 0.8 --facets site,month
      winnow search mill --no-group --site example.org --since 2024-03 --limit 50 --json

    Find the pages with all these words in their title or text, the best first. Use "quotes" for a phrase, -word to
    exclude a word, mil* for words that start with mil, and OR between alternatives. Put -- before words that start with
    a minus: winnow search -- mill -flour

    A page that resembles a better hit by at least X is grouped under that hit, and not shown again. Every page of a
    group resembles its first hit directly: there are no chains.

    Searches the latest capture of each URL; with --all-captures, --crawl or --until, every capture. Prints a list on a
    terminal, and tab-separated values in a pipe, one line per page, with the number of its group. Exits with 1 if no
    page matches.
    """
    question = replace(question, words=join_words(words))
    page, limit = question.page, question.limit
    if question.cursor is not None:
        check_cursor(words)
        before = Cursor.of(question.cursor)
        page, limit, question = before.number + 1, before.request.limit, SearchQuestion(cursor=question.cursor)
    elif not phrases(Words.of(question.words)).wanted:
        raise click.UsageError("give at least one word to search for, without a minus")
    if question.stable and not is_address(store):
        raise click.UsageError("--stable works only with a store on OpenSearch")
    if question.facets and not (output.screen or output.json or (output.to or "").lower().endswith(JSON)):
        raise click.UsageError("a table has no room for --facets: add --json")
    with Index.open(store, create=False) as index:
        results = index.search(question)
        is_empty_page = results.total or question.cursor is not None
        reason = "" if results else empty_page(results, page, limit) if is_empty_page else why_no_hit(index, question)
    if results:
        remark(f"{total_with_hint(results)} · {duration(results.seconds)}")
    first = (page - 1) * limit + 1
    output.show(results, lambda screen: result_lines(results, screen.columns, first=first, full=output.full))
    if results.cursor and not output.json:
        say(f"next page: --cursor {results.cursor}")
    if not results:
        end(NOTHING_FOUND, reason)
    if position := hits_range(results, page, limit):
        (remark if output.json or results.cursor else say)(position)  # JSON and the cursor say that more follows
    next_step("similar", results[0].url)


def why_no_hit(index: Index, question: SearchQuestion) -> str:
    """Explain why no page was found, and which change of the search would find some."""
    why = index.why_no_hit(question)
    return str(no_hit_words(why, name=index.name, filters=filter_option_names(question.where)))


def join_words(words: tuple[str, ...]) -> str:
    """Join the arguments into one query; an argument with spaces was quoted in the shell, so it is a phrase."""
    phrases_typed = (SEVERAL_WORDS.fullmatch(word) for word in words)
    return " ".join(
        f'{phrase[1]}"{phrase[2]}"' if phrase else word for word, phrase in zip(words, phrases_typed, strict=True)
    )


def check_cursor(words: tuple[str, ...]) -> None:
    """Refuse words and options beside --cursor, which would be ignored: the cursor contains the whole search."""
    if words:
        raise click.UsageError("--cursor contains the words of its search: give WORDS or --cursor, not both")
    ignored = {each.name for each in SearchQuestion.options()} - {"cursor"}
    for flag in (flag for name, flag in typed_options().items() if name in ignored):
        raise click.UsageError(
            f"{flag} cannot be combined with --cursor, which continues a search with its own options"
        )
