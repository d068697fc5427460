"""The command winnow pairs, which compares all documents of a set with each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from opensearch_winnow.answers.display_text import Span, one_line
from opensearch_winnow.answers.sets.pairs_words import compared_words, found_words, left_out_words, not_compared_words
from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunTableOutput
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.phase_progress import all_or_nothing
from opensearch_winnow.cli.sets.pairs_table import table
from opensearch_winnow.cli.terminal import Terminal, remark, say
from opensearch_winnow.cli.typed_options import typed_options, typed_unless
from opensearch_winnow.foundation.scheme_choice import TextSchemeChoice
from opensearch_winnow.index import Index
from opensearch_winnow.operations.sets.pairs import PairsQuestion, find
from opensearch_winnow.web.class_report.report_options import ReportOptions

MANY_FILES = 10  # of a submission: perhaps its sub-folders are the submissions
MAX_ROWS = 25  # of a table on a terminal, unless --limit says otherwise


@click.command(
    "pairs",
    cls=DescribedCommand,
    short_help="Compare all documents of a set with each other: the pairs that share text.",
)
@click.argument("sources", metavar="[SOURCE]...", nargs=-1, type=click.Path())
@store_option(
    "The store with earlier documents, which sources are compared with too; without sources, all its pages are compared"
    " with each other.",
    required=False,
)
@declared_options(PairsQuestion, "question")
@declared_options(TextSchemeChoice, "choice")
@declared_options(ReportOptions, "report")
@declared_options(RunTableOutput, "output")
def command(
    sources: tuple[str, ...],
    store: str | None,
    question: PairsQuestion,
    choice: TextSchemeChoice,
    report: ReportOptions,
    output: RunTableOutput,
) -> None:
    """\b
    Examples:
      winnow pairs homework/
      winnow pairs homework/ --base homework/template --to pairs.csv
      winnow pairs homework/ --report class.html --anonymise
      winnow pairs essays/*.txt --min-longest 20
      winnow pairs 2026/ --store earlier.winnow --owner '([a-z]+)_'
      winnow pairs answers.jsonl --json
      winnow pairs --store crawl.winnow --by containment --limit 100

    Compares every document with every other, exactly, and lists the pairs that have much in common, the most similar
    first. Documents are files of text, HTML or programs, and rows of JSON lines, CSV and Parquet; a zip file is read
    like a folder. If the files of a folder are in sub-folders, as class/alice/Main.java, each sub-folder is one
    submission; the summary says what was decided.

    Programs are compared by their tokens, so that renaming, comments and layout make no difference; the names of the
    files tell the language, and other files in a folder of programs are left out. PDF and office files are not read.

    Prints a table on a terminal, and tab-separated values in a pipe. Submissions that could not be compared, or only in
    part, are named first, all of them; in a pipe, on stderr.

    \b
    Exit codes
      0  a pair was found, and every submission was compared
      1  no pair was found; or a submission was not compared, or a file failed
      2  the command failed
    """
    store, typed = typed_unless(store, sources), typed_options()
    if not (sources or store):
        raise click.UsageError("name what to compare: files and folders, or --store S")
    if {"noise", "guarantee"} & typed.keys() and "preset" not in typed:
        raise click.UsageError("name the preset too: --preset programs, or pages")
    written = {"--to": output.to, "--report": report.report}
    check_files(written, list(map(Path, (*sources, *question.base))))
    report.check(overwrite=output.overwrite)
    limit = question.limit or (MAX_ROWS if output.screen and report.report is None else None)
    with (
        all_or_nothing(output.progress()) as progress,
        Index.open(store, create=False, patient=True) if store else nullcontext() as index,
    ):
        question = replace(question, sources=sources, scheme=choice.scheme, limit=limit, progress=progress)
        found = index.pairs(question) if index else find(question, None)
        report.write(found, progress)

    def lines(screen: Terminal) -> Iterator[list[Span]]:
        yield from ([(one_line(line), "bold")] for line in (*not_compared_words(found), compared_words(found)))
        yield [(found_words(found), "plain")]
        if found:
            yield []
            yield from table(replace(found, pairs=found.pairs[: limit or MAX_ROWS]), screen.columns, full=output.full)

    if not output.screen:
        for line in not_compared_words(found):
            say(line)
    output.show(found, lines)
    for file in filter(None, written.values()):
        remark(f"wrote {file}")
    if not output.screen:
        (remark if found else say)(f"{compared_words(found)}. {found_words(found)}.")
    for line in left_out_words(found):
        say(line)
    if question.submissions == "auto" and found.folders and found.documents:
        files = sum(len(each.files) for each in found.documents) / found.document_count
        if files >= MANY_FILES:
            say(f"a submission has {files:.0f} files on average; --submissions files compares the files")
    if not found:
        end(NOTHING_FOUND)
    end(SOME_FAILED if found.not_compared or any(each.failed for each in found.unread) else 0)
