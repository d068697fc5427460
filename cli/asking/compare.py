"""winnow compare: show what two texts share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from opensearch_winnow.answers.asking.comparison_document import comparison_document
from opensearch_winnow.answers.asking.comparison_words import comparison_summary, no_passage, three_numbers
from opensearch_winnow.answers.display_text import Span, one_line, shorten
from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.cli.asking.compared_texts import ComparedTexts, compared_texts, is_file
from opensearch_winnow.cli.asking.side_by_side import SideBySide
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.options import scheme_options as choose
from opensearch_winnow.cli.options.filter_options import TimePeriodType
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, remark, say, shell_command, terminal
from opensearch_winnow.cli.text_file import STDIN, text_file
from opensearch_winnow.foundation.answers import json_values
from opensearch_winnow.foundation.atomic_file import reporting_os_errors
from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.foundation.time_period import TimePeriod
from opensearch_winnow.queries.asking.changed_passages import changed_passages
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage, numbered_passages
from opensearch_winnow.queries.compare import Comparison, TextRun, compare
from opensearch_winnow.queries.scores import Passage

Runs = tuple[list[TextRun], list[TextRun]]  # only in A, and only in B
MARKS = ("−", "A"), ("+", "B")


@click.command("compare", short_help="Compare two texts or pages, and show the passages they share.")
@text_file("a")
@text_file("b", required=False)
@store_option("The store with the pages: a file (crawl.winnow), or http://host:9200/name.", required=False)
@click.option(
    "--at",
    metavar="DATE",
    type=TimePeriodType(),
    multiple=True,
    help="Use the last capture of a page up to the end of DATE. Give it twice to choose that of A and that of B.",
)
@click.option("--no-boilerplate", is_flag=True, help="Treat the store's boilerplate as ordinary text.")
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset_by_names, choose.fold_confusables, optional=True)
@click.option("--differences", is_flag=True, help="Show what only one of the texts has, instead of what both have.")
@click.option("--html", metavar="OUT", help="Write both texts side by side to a self-contained HTML file.")
@json_option
@click.option(
    "--fail-above",
    metavar="X",
    type=click.FloatRange(0, 1),
    help="Exit with 1 if the resemblance is above X, otherwise with 0, even if nothing is shared. For checks in CI.",
)
@click.option("--full", is_flag=True, help="Do not shorten passages.")
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    a: str,
    b: str | None,
    store: str | None,
    at: tuple[TimePeriod, ...],
    no_boilerplate: bool,
    scheme: Scheme | None,
    differences: bool,
    html: str | None,
    as_json: bool,
    fail_above: float | None,
    full: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow compare draft.txt published.txt
      winnow compare draft.txt published.txt --html compare.html
      winnow compare http://example.org/a http://example.org/b --store crawl.winnow
      winnow compare http://example.org/a --at 2023 --at 2024-03-01 --differences --store crawl.winnow
      winnow compare draft.html http://example.org/a --store crawl.winnow
      winnow compare letter.txt - --preset passages < archive.txt
      winnow compare old.txt new.txt --fail-above 0.8 --json
      winnow compare mine.py theirs.py

    Compare the texts A and B: how much they resemble each other, how much of A is in B and of B in A, and which
    passages they share. The scores are exact, counted in runs of ten words. A and B are UTF-8 files; - reads from a
    pipe. Two programs are compared by their tokens, so that renaming, comments and layout make no difference: the
    names of the files tell the language, and the preset is programs. The other presets compare them as texts, except
    for code.

    With --store, a name that is not a file is a page in the store: its URL, for the latest capture, or the id of a
    capture, which history prints in a pipe. HTML files are read as the store's pages were. Its scheme is used unless
    you choose another, and its boilerplate is listed but does not count. WINNOW_STORE is ignored if A and B are files.

    Without B, two captures of the page A are compared: those of two dates, that of one date with the latest, or the
    last two.

    On a terminal, passages appear side by side with their offsets in both texts; in a pipe, as tab-separated values.
    A passage is marked as moved if it is outside the longest series of passages that is in the same order in both.
    With --differences, the runs of words that only A or only B has are listed instead.

    Exits with 1 if nothing is shared.
    """
    if a == b == STDIN:
        raise click.UsageError("only one of A and B can be -", ctx)
    files = [name for name in (a, b) if name is not None and is_file(name)]
    if b is None and files:
        raise click.UsageError(f"give B, a text to compare {a} with", ctx)
    if len(at) > 2:
        raise click.UsageError("give --at at most twice: for A and for B", ctx)
    if len(files) + len(at) > 2 or (len(files) == 2 and at):
        raise click.UsageError(f"--at chooses a capture of a page, but {files[0]} is a file", ctx)
    if len(files) == 2 and ctx.get_parameter_source("store") is not ParameterSource.COMMANDLINE:
        store = None  # WINNOW_STORE is for pages: it does not change how files are compared
    if scheme is None and store is None and b is not None and is_program(a) and is_program(b):
        scheme = PRESETS["programs"]
        say("compared as programs; --preset pages compares them as texts")
    texts = compared_texts(a, b, store, scheme, at=at, boilerplate=not no_boilerplate)
    say_if_same(texts)
    text, other = texts.a.text, texts.b.text
    if html is not None:
        check_files({"--html": html}, list(map(Path, files)))
    comparison = compare_texts(texts)
    passages = numbered(texts, comparison.passages)
    if html is not None:
        write_html(html, texts, comparison, passages)
    runs = changed_passages(text, other, texts.scheme, name=texts.a.name) if differences else None
    if as_json:
        pages = texts.a.page, texts.b.page
        document = comparison_document(comparison, *pages, boilerplate=store is not None)
        if runs:
            document["removed"], document["added"] = map(json_values, runs)
        click.echo(json.dumps(document))
    elif screen := terminal(color):
        show(screen, texts, comparison, passages, full=full, passages_too=html is None and not runs)
        for line in differences_table(runs, screen.columns, full=full) if runs else ():
            screen.echo(screen.line(line))
    elif runs:
        show_difference_rows(runs)
    else:
        show_rows(text, passages, numbered(texts, comparison.boilerplate))
        remark(f"{comparison_summary(text, other, comparison, passages)}: {scores_line(comparison)}")
        if related := relationship_line(comparison):
            remark(related)
    found = bool(passages or comparison.resemblance)
    if not passages:
        say(why_no_passage(texts, comparison))
        if hint := disguised(texts):
            say(hint)
    elif html is None:
        next_step(ctx, "compare", texts.a.argument, texts.b.argument, "--html", "compare.html")
    if fail_above is None:
        ctx.exit(0 if found else NOTHING_FOUND)
    ctx.exit(NOTHING_FOUND if comparison.resemblance > fail_above else 0)


def compare_texts(texts: ComparedTexts, scheme: Scheme | None = None) -> Comparison:
    a, b = texts.a, texts.b
    return compare(
        a.text,
        b.text,
        scheme or texts.scheme,
        names=(a.name, b.name),
        boilerplate=texts.boilerplate or (),
        sites=(a.site, b.site),
    )


def numbered(texts: ComparedTexts, passages: Sequence[Passage]) -> list[NumberedPassage]:
    return numbered_passages(texts.a.text, passages, texts.scheme, name=texts.a.name or texts.b.name)


def say_if_same(texts: ComparedTexts) -> None:
    """Say that A and B are the same capture or the same file, which resembles itself completely."""
    a, b = texts.a, texts.b
    if a.page is not None and b.page is not None and a.page.id == b.page.id:
        listed = shell_command("history", a.page.url)
        say(f"A and B are the same capture. Choose another of that page with --at: {listed} lists them")
    elif same_file(a.argument, b.argument):
        say("A and B are the same file")


def same_file(name: str, other: str) -> bool:
    return STDIN not in (name, other) and Path(name).exists() and Path(other).exists() and Path(name).samefile(other)


def show(
    screen: Terminal,
    texts: ComparedTexts,
    comparison: Comparison,
    passages: Sequence[NumberedPassage],
    *,
    full: bool,
    passages_too: bool,
) -> None:
    """Print the answer, and the passages if `passages_too`."""
    text, other = texts.a.text, texts.b.text
    screen.echo(screen.paint(comparison_summary(text, other, comparison, passages), "bold"))
    screen.echo(scores_line(comparison))
    if line := relationship_line(comparison):
        screen.echo(line)
    if not passages_too or not (passages or comparison.boilerplate):
        return
    view = SideBySide(screen, text, other, full=full, code=texts.scheme.form == "code")
    screen.echo()
    for line in view.names(texts.a.label, texts.b.label):
        screen.echo(line)
    for each in passages:
        screen.echo()
        for line in view.passage(each):
            screen.echo(line)
    for run in numbered(texts, comparison.boilerplate):
        screen.echo()
        for line in view.boilerplate(run):
            screen.echo(line)


def scores_line(comparison: Comparison) -> str:
    return "   ".join(f"{name} {percent(share)}" for name, share in three_numbers(comparison))


def relationship_line(comparison: Comparison) -> str:
    """Return the relationship with its reason; an empty string where the summary says all: that nothing is shared."""
    found = comparison.relationship
    return f"{found.kind.capitalize()}: {found.reason}" if found and found.kind != "nothing in common" else ""


def show_rows(text: str, passages: Sequence[NumberedPassage], boilerplate: Sequence[NumberedPassage]) -> None:
    sys.stdout.write("passage\twords\tstart\tend\tother_start\tother_end\tmoved\ttext\n")
    for each in passages:
        start, end, *_ = each.passage
        offsets = "\t".join(map(str, each.passage))
        moved = "moved" if each.moved else ""
        sys.stdout.write(f"{each.number}\t{each.words}\t{offsets}\t{moved}\t{one_line(text[start:end])}\n")
    for each in boilerplate:
        start, end, *_ = each.passage
        offsets = "\t".join(map(str, each.passage))
        sys.stdout.write(f"boilerplate\t{each.words}\t{offsets}\t\t{one_line(text[start:end])}\n")


def write_html(out: str, texts: ComparedTexts, comparison: Comparison, passages: Sequence[NumberedPassage]) -> None:
    with extra("web"):
        from opensearch_winnow.web.compare_html import compare_html  # noqa: PLC0415 (not needed without --html)

    a, b = ((each.label, each.text) for each in (texts.a, texts.b))
    with reporting_os_errors(Path(out)):
        Path(out).write_text(compare_html(a, b, comparison, passages, texts.scheme), encoding="utf-8")
    remark(f"wrote {out}")


def why_no_passage(texts: ComparedTexts, comparison: Comparison) -> str:
    """Explain why no passage is shared, and name the option that would find one, if any would."""
    a, b = texts.a, texts.b
    why = no_passage(a.text, b.text, comparison, texts.scheme, (a.name, b.name))
    if why.cause == "short":
        return f"{why.reason} (--noise)"
    if why.cause == "boilerplate":
        return f"{why.reason}, which --no-boilerplate counts"
    scheme = texts.scheme
    finer = replace(PRESETS["passages"], fold_confusables=scheme.fold_confusables)
    if scheme.form == finer.form and scheme.noise <= finer.noise and scheme.guarantee <= finer.guarantee:
        return f"{why.reason}."
    if found := compare_texts(texts, finer).passages:
        return f"{why.reason}. --preset passages finds {count_of(len(found), 'passage')}."
    return f"{why.reason}; nor does --preset passages find a shorter one."


def disguised(texts: ComparedTexts) -> str:
    """Say that passages are shared if letters that look alike are one; return an empty string if none are."""
    scheme = texts.scheme
    if scheme.fold_confusables or scheme.form == "code" or (texts.a.text.isascii() and texts.b.text.isascii()):
        return ""
    found = compare_texts(texts, replace(scheme, fold_confusables=True)).passages
    shared = count_of(len(found), "passage is", "passages are")
    return f"With --fold-confusables, {shared} shared: some letters only look alike." if found else ""


def differences_table(runs: Runs, columns: int, *, full: bool) -> Iterator[list[Span]]:
    """Yield a line for each run, with its offsets: first those that B lacks, then those that A lacks."""
    offsets = max((len(_offsets(run)) for some in runs for run in some), default=0)
    for (sign, letter), some in zip(MARKS, runs, strict=True):
        yield [(f"Only in {letter}: {count_of(len(some), 'run')}", "bold")]
        for run in some:
            text = one_line(run.text)
            room = columns - len(f"{sign}  ") - offsets
            yield [(f"{sign} {_offsets(run).rjust(offsets)} ", "dim"), (text if full else shorten(text, room), "plain")]


def show_difference_rows(runs: Runs) -> None:
    """Print tab-separated values for programs, with nothing shortened."""
    sys.stdout.write("only_in\tstart\tend\ttext\n")
    for (_, letter), some in zip(MARKS, runs, strict=True):
        for run in some:
            sys.stdout.write(f"{letter}\t{run.start}\t{run.end}\t{one_line(run.text)}\n")


def _offsets(run: TextRun) -> str:
    return f"{run.start:,}–{run.end:,}"
