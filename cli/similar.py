"""winnow similar: which pages of a store are like this one, have it in them, or share a passage with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.answers.matches_document import matches_document
from opensearch_winnow.answers.similar_words import matches_summary
from opensearch_winnow.answers.time_period import MICROSECOND, TimePeriod
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.filter_options import filter_options
from opensearch_winnow.cli.match_table import show_rows, show_table
from opensearch_winnow.cli.match_words import no_match_lines
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.cli.text_file import STDIN, not_waiting_for_a_terminal
from opensearch_winnow.cli.text_or_html import read_text_or_html
from opensearch_winnow.cli.time_period import TimePeriodType
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Matches

SHARE = click.FloatRange(0, 1)


@click.command("similar", short_help="Pages of a store that are like this one, or quote it.")
@click.argument("url", required=False)
@click.option(
    "--file",
    metavar="F",
    type=click.Path(allow_dash=True),
    callback=not_waiting_for_a_terminal,
    help="Ask about a file instead, of text (UTF-8) or HTML; - for what is piped in.",
)
@click.option("--text", metavar="T", help="Ask about this text.")
@store_option()
@click.option(
    "--min-resemblance", metavar="X", type=SHARE, help="Pages that resemble it: of all that is in either, X is in both."
)
@click.option(
    "--min-containment", metavar="X", type=SHARE, help="Pages that have X of it in them. 0: all that share a passage."
)
@click.option("--min-contained", metavar="X", type=SHARE, help="Pages of which X is in it.")
@click.option(
    "--estimate", is_flag=True, help="Take the scores from sketches: quick, with a standard error, no passages."
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 1_000_000), default=100, show_default=True, help="Show the N best."
)
@filter_options
@click.option(
    "--at", metavar="DATE", type=TimePeriodType(), help="Ask about the capture of URL that was the last on DATE."
)
@click.option(
    "--guarantee",
    metavar="T",
    type=click.IntRange(1, 2_000_000),
    help="Be sure of shared runs of T canonical characters only: fewer look-ups.  [default: the store's]",
)
@click.option("--no-boilerplate", is_flag=True, help="Count boilerplate as any other text.")
@json_option
@click.option("-w", "--full", is_flag=True, help="Shorten no URL.")
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    url: str | None,
    file: str | None,
    text: str | None,
    store: str,
    min_resemblance: float | None,
    min_containment: float | None,
    min_contained: float | None,
    estimate: bool,
    limit: int,
    where: Filters,
    all_captures: bool,
    at: TimePeriod | None,
    guarantee: int | None,
    no_boilerplate: bool,
    as_json: bool,
    full: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow similar http://example.org/page --store crawl.winnow
      winnow similar http://example.org/page --min-containment 0
      winnow similar --file press-release.txt --min-containment 0.3
      curl -s http://example.org/page | winnow similar --file - --json
      winnow similar --text "Nobody in the valley has ever seen him weigh a sack" --all-captures

    Pages of a store that are like the page URL, the file F, or the text T. X is a share from 0 to 1. Without one, URL
    asks for its near-duplicates (--min-resemblance 0.5), a file or a text for the pages that have half of it
    (--min-containment 0.5). If there are several, all must hold, and the first orders the matches.

    \b
    A is what you ask about, and B the page:
      resemblance   of the runs of ten words in either, how many are in both
      A in B        how much of it is in the page (containment)
      B in A        how much of the page is in it (contained)

    Scores are exact, from both texts, unless you --estimate. On a terminal a table; in a pipe tab-separated values.
    Exit code 1 if there is no such page.
    """
    if sum(each is not None for each in (url, file, text)) != 1:
        raise click.UsageError("name one thing to ask about: a URL of the store, --file or --text", ctx)
    if at is not None and url is None:
        raise click.UsageError("--at tells captures of a URL apart: name the URL", ctx)
    html = None
    if file is not None:
        text, html = read_text_or_html(file)
    minima = {"min_resemblance": min_resemblance, "min_containment": min_containment, "min_contained": min_contained}
    question: dict[str, Any] = {
        "url": url,
        "text": text,
        "html": html,
        "exact": not estimate,
        "where": where,
        "all_captures": all_captures,
        "at": None if at is None else at.end - MICROSECOND,
        "guarantee": guarantee,
        "boilerplate": not no_boilerplate,
    }
    with Index.open(store, create=False) as index:
        matches = asked(index, question | minima | {"limit": limit})
        reasons = [] if matches.matches else no_match_lines(index, question | minima, matches)
    if as_json:
        click.echo(json.dumps(matches_document(matches)))
    elif not (screen := terminal(color)):
        show_rows(matches)
    elif matches.matches:
        show_table(screen, matches, full=full)
    for reason in reasons:
        say(reason)
    tell_the_rest(matches)
    if not matches.matches:
        ctx.exit(NOTHING_FOUND)
    best = matches[0].url
    if url is not None and best != url:
        next_step(ctx, "compare", url, best)
    elif file is not None and file != STDIN:
        next_step(ctx, "compare", file, best)
    else:
        next_step(ctx, "similar", best)


def asked(index: Index, question: dict[str, Any]) -> Matches:
    try:
        return index.similar(**question)
    except QuestionError as error:
        name = question["url"]
        if name is not None and Path(name).is_file():
            raise QuestionError(f"{error}; or ask about the file of this name: --file {name}") from None
        raise


def tell_the_rest(matches: Matches) -> None:
    """What a reader wants to know, and what was left out, which all want to know."""
    if matches.matches:
        remark(
            f"{matches_summary(matches.total, matches.score, matches.threshold)}"
            f" · {count_of(matches.candidates, 'candidate')} · {duration(matches.seconds)}"
        )
    if matches.ignored:
        say(
            f"{matches.ignored:,} of {matches.tokens:,} hashes ignored: they are on more than"
            f" {matches.frequent:,} pages each"
        )
    if len(matches) < matches.total:
        say(f"showing {len(matches):,} of {matches.total:,} (--limit)")
