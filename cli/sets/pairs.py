"""The command winnow pairs, which compares all documents of a set with each other."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.sets.pairs_document import pairs_document
from opensearch_winnow.answers.sets.pairs_words import compared_words, found_words, left_out_words, not_compared_words
from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED
from opensearch_winnow.cli.options import scheme_options as choose
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.field_options import field_options
from opensearch_winnow.cli.options.run_options import overwrite_option, quiet_option
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.sets.pairs_table import JSON, show_rows, show_table, write_pairs
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.foundation.atomic_file import already_there, check_parent
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.operations.sets.pairs import StoredPairOptions, find
from opensearch_winnow.queries.sets.pairs import Pairs
from opensearch_winnow.record_files.answer_table import check_table
from opensearch_winnow.stores.opening import open_store

MANY_FILES = 10  # of a submission: perhaps its sub-folders are the submissions
MAX_ROWS = 25  # of a table on a terminal, unless --limit says otherwise


@click.command("pairs", short_help="Compare all documents of a set with each other: the pairs that share text.")
@click.argument("sources", metavar="[SOURCE]...", nargs=-1, type=click.Path())
@store_option(
    "The store with earlier documents, which sources are compared with too; without sources, all its pages are compared"
    " with each other.",
    required=False,
)
@declared_options(StoredPairOptions)
@field_options
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset_by_names, choose.fold_confusables, optional=True)
@click.option(
    "--to",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write the pairs to this file: .json, .jsonl, .csv or .parquet.",
)
@click.option(
    "--report",
    metavar="R",
    type=click.Path(path_type=Path),
    help="Write a report with the pairs side by side: one file if R ends in .html, otherwise a folder.",
)
@click.option("--anonymise", is_flag=True, help="Replace the names of documents, files and owners in the report.")
@overwrite_option
@quiet_option
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    store: str | None,
    options: StoredPairOptions,
    fields: FieldNames,
    scheme: Scheme | None,
    to: Path | None,
    report: Path | None,
    anonymise: bool,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow pairs homework/
      winnow pairs homework/ --base homework/template --to pairs.csv
      winnow pairs homework/ --report class.html --anonymise
      winnow pairs essays/*.txt --by longest --min 20
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
      2  the command could not be done
    """
    if sources and ctx.get_parameter_source("store") is ParameterSource.ENVIRONMENT:
        store = None
    if not (sources or store):
        raise click.UsageError("name what to compare: files and folders, or --store S", ctx)
    chosen = [ctx.get_parameter_source(name) for name in ("noise", "guarantee")]
    is_changed = any(source is not ParameterSource.DEFAULT for source in chosen)
    if is_changed and ctx.get_parameter_source("preset") is ParameterSource.DEFAULT:
        raise click.UsageError("name the preset too: --preset programs, or pages", ctx)
    if to is not None:
        check_files({"--to": str(to)}, list(map(Path, (*sources, *options.base))))
        check_table(to, overwrite=overwrite, more=[JSON])
    if anonymise and report is None:
        raise click.UsageError("--anonymise is for a report: add --report class.html", ctx)
    if report is not None:
        check_report(report, to, (*sources, *options.base), overwrite=overwrite)
    screen = None if as_json else terminal(color)
    limit = options.limit
    if screen and to is None and report is None and limit is None:
        limit = MAX_ROWS
    try:
        with (
            show_phases(quiet=quiet, color=color) as progress,
            open_store(store, patient=True) if store else nullcontext() as opened,
        ):
            options = replace(options, scheme=scheme, fields=fields, limit=limit, progress=progress)
            found = find(options, sources, opened)
            if report is not None:
                write_class_report(found, report, anonymise=anonymise, progress=progress)
    except Stopped:
        say("Stopped: nothing was written.")
        raise
    if to is not None:
        write_pairs(to, found)
    for line in not_compared_words(found):
        if screen:
            screen.echo(screen.paint(one_line(line), "bold"))
        else:
            say(line)
    if as_json:
        click.echo(json.dumps(pairs_document(found)))
    elif screen:
        screen.echo(screen.paint(compared_words(found), "bold"))
        screen.echo(found_words(found))
        if found.pairs:
            screen.echo()
            show_table(screen, replace(found, pairs=found.pairs[: limit or MAX_ROWS]))
    else:
        show_rows(found)
    for written in filter(None, (to, report)):
        remark(f"wrote {written}")
    if not screen:
        tell = remark if found.pairs else say
        tell(f"{compared_words(found)}. {found_words(found)}.")
    for line in left_out_words(found):
        say(line)
    if options.submissions == "auto" and found.folders and found.documents:
        files = sum(len(each.files) for each in found.documents) / len(found.documents)
        if files >= MANY_FILES:
            say(f"a submission has {files:.0f} files on average; --submissions files compares the files")
    if not found.pairs:
        ctx.exit(NOTHING_FOUND)
    ctx.exit(SOME_FAILED if found.not_compared or any(each.failed for each in found.unread) else 0)


def check_report(report: Path, to: Path | None, inputs: tuple[str, ...], *, overwrite: bool) -> None:
    """Check that the report can be written, before the work starts."""
    files = {"--report": str(report)} | ({"--to": str(to)} if to else {})
    check_files(files, list(map(Path, inputs)))
    check_parent(report)
    if report.exists() and not (report.is_dir() and not any(report.iterdir())) and not overwrite:
        raise already_there(report)


def write_class_report(found: Pairs, report: Path, *, anonymise: bool, progress: Progress) -> None:
    with extra("web"):
        from opensearch_winnow.web.class_report.report import write_report  # noqa: PLC0415 (not needed without --report)

    write_report(found, report, anonymise=anonymise, progress=progress)
