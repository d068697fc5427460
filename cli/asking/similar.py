"""winnow similar: list the pages of a store that resemble a page, quote it, or share a passage with it."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from opensearch_winnow.answers.asking.nothing_found import no_match_words
from opensearch_winnow.answers.asking.similar_words import (
    below_guarantee_sentence,
    matches_summary,
    uncompared_sentence,
    unscored_sentence,
)
from opensearch_winnow.answers.asking.too_short import TOO_SHORT
from opensearch_winnow.answers.display_text import printable
from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.asking.match_table import table
from opensearch_winnow.cli.asking.similar_batch import answer_batch, batch_questions
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.filter_options import filter_option_names
from opensearch_winnow.cli.options.question_options import PageOrText, question_options
from opensearch_winnow.cli.options.run_output import RunTableOutput
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.text_file import STDIN, file_option
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.rows import FieldNames
from opensearch_winnow.operations.asking.nothing_found import Offer
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.asking.similar_options import SimilarOptions, SimilarQuestion


@click.command("similar", cls=DescribedCommand, short_help="List pages that resemble or quote a page, file or text.")
@question_options("batch", "batch_urls", hint="; or several with --batch")
@file_option(
    "--batch",
    metavar="ROWS",
    help="Ask a question for every row of ROWS, a JSONL, CSV or Parquet file, a folder of files, or - for a pipe.",
)
@file_option("--batch-urls", help="Ask a question for every line of F, the URL of a page in the store.")
@store_option()
@declared_options(SimilarOptions)
@declared_options(FieldNames, "fields")
@declared_options(RunTableOutput, "output")
def command(
    about: PageOrText,
    batch: str | None,
    batch_urls: str | None,
    store: str,
    options: SimilarOptions,
    fields: FieldNames,
    output: RunTableOutput,
) -> None:
    """\b
    Examples:
      winnow similar http://example.org/page --store crawl.winnow
      winnow similar http://example.org/page --min-containment 0
      winnow similar --file press-release.txt --min-containment 0.3
      curl -s http://example.org/page | winnow similar --file - --json
      winnow similar --text "Nobody in the valley has ever seen him weigh a sack" --all-captures
      winnow similar --batch questions.jsonl --min-containment 0.3 --to answers.csv

    List the pages of a store that are similar to a question: the page URL, the file F, or the text T. For URL you can
    give the id of a capture, which history prints in a pipe.

    With --batch, every row is a question, by its text or HTML; its id names it. --text-field and the like name
    these fields. All options apply to each question. The answers come in order: on a terminal a line for each
    question with its best match, and otherwise all matches. A question that cannot be answered is named, and the others
    are answered.

    X is a share from 0 to 1. The default for a URL is --min-resemblance 0.5, which finds near-duplicates. The default
    for a file or a text is --min-containment 0.5, which finds pages that quote half of it. If you give several
    thresholds, a page must meet all of them, and the first orders the matches.

    \b
    A is the question, and B a page:
      resemblance   the runs of ten words in both, as a share of those in either
      A in B        the share of the question that is in the page (containment)
      B in A        the share of the page that is in the question (contained)

    A question below the noise threshold of the store (50 letters and digits, unless you chose another) is too short to
    check for copies, since other pages have its words by chance. Search for it instead.

    Scores are exact, computed from both texts, unless you --estimate. Prints a table on a terminal, tab-separated
    values in a pipe. Exits with 1 if no page matches, or if a question of a batch cannot be answered or is too short;
    with 2 if the store has no page with this URL.
    """
    if batch is None and fields != FieldNames():
        raise click.UsageError("--id-field, --text-field and --html-field name fields of rows: give --batch")
    if output.to is not None:
        check_files({"--to": output.to}, [Path(name) for name in (about.file, batch, batch_urls) if name is not None])
    if batch is not None or batch_urls is not None:
        with Index.open(store, create=False) as index, batch_questions(batch, batch_urls, fields) as questions:
            counts = answer_batch(index, questions, options, output)
        end(0 if counts.found and not counts.failed and not counts.too_short else NOTHING_FOUND)
    question = options.extended(SimilarQuestion, **about.keywords())
    with Index.open(store, create=False) as index:
        matches = find_matches(index, question)
        reasons = [] if matches else no_match_lines(index, question, matches)
        scheme = index.scheme
    output.show(matches, lambda screen: table(matches, screen.columns, full=output.full))
    for reason in reasons:
        say(reason)
    say_summary(matches, scheme)
    if not matches:
        end(NOTHING_FOUND)
    best = matches[0].url
    named = about.url or (about.file if about.file != STDIN else None)
    next_step(*(("similar", best) if named in (None, best) else ("compare", named, best)))


def find_matches(index: Index, question: SimilarQuestion) -> Matches:
    try:
        return index.similar(question)
    except QuestionError as error:
        name = question.url
        if name is not None and Path(name).is_file():
            raise QuestionError(f"{error}; to use the file of this name: --file {name}") from None
        raise


def no_match_lines(index: Index, question: SimilarQuestion, matches: Matches) -> list[str]:
    """Say that nothing matches, with the reason and the options that would find something."""
    filters = filter_option_names(question.where)
    why = index.why_no_match(matches, question)
    said = no_match_words(why, matches, name=index.name, scheme=index.scheme, filters=filters)
    offers = [": ".join(filter(None, (clause, _options(offer)))) for clause, offer in said.offers]
    if said.reason:
        offers[:1] = ["; ".join((said.reason, *offers[:1]))]
    summary = [] if matches.too_short else [matches_summary(matches)]
    return [*summary, *(line[0].upper() + line[1:] for line in offers)]


def say_summary(matches: Matches, scheme: Scheme) -> None:
    """Print a summary if stderr is a terminal; always say which pages were left out."""
    if matches:
        remark(
            f"{matches_summary(matches)} · {count_of(matches.candidates, 'candidate')} · {duration(matches.seconds)}"
        )
        if matches.unscored:
            say(f"{unscored_sentence(matches)}.")
        if matches.uncompared:
            say(f"{uncompared_sentence(matches)}: a higher --limit compares more.")
    if matches.too_short and matches:
        say(f"The question is {TOO_SHORT}: these pages resemble it as a whole.")
    if matches.below_guarantee and not matches.too_short:
        say(f"{below_guarantee_sentence(scheme)}.")
    if matches.ignored:
        say(
            f"{matches.ignored:,} of {matches.tokens:,} hashes were ignored because each is on more than"
            f" {matches.frequent:,} pages"
        )
    if len(matches) < matches.total:
        say(f"showing {len(matches):,} of {matches.total:,} matches; --limit shows more")


def _options(offer: Offer) -> str:
    if offer.words is not None:
        return f"winnow search {shlex.quote(printable(offer.words.query))}"
    minima = {score: value for score, value in offer.minima.items() if value is not None}
    return " ".join(f"--min-{score} {value:g}" for score, value in minima.items())
