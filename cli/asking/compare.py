"""winnow compare: show what two texts share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import click

from opensearch_winnow.answers.asking.compared import Compared, ComparedText, DifferenceRow, PassageRow
from opensearch_winnow.answers.asking.comparison_words import comparison_summary, no_passage, three_numbers
from opensearch_winnow.answers.display_text import Span, one_line, shorten
from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.cli.asking.compared_texts import ComparedTexts, compared_texts, is_file
from opensearch_winnow.cli.asking.side_by_side import SideBySide
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import AnswerOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.terminal import Terminal, remark, say, shell_command
from opensearch_winnow.cli.text_file import STDIN, text_file
from opensearch_winnow.cli.typed_options import typed_unless
from opensearch_winnow.foundation.atomic_file import reporting_os_errors
from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.option_kinds import FLAG, LAST_OF_DATE, path, repeated, share
from opensearch_winnow.foundation.options import option
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.foundation.scheme_choice import TextSchemeChoice
from opensearch_winnow.queries.asking.compared_pages import CompareOptions, compare_pages
from opensearch_winnow.queries.compare import Comparison, TextRun


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRun(CompareOptions):
    """The options of the command."""

    at: tuple[datetime, ...] = option(
        (),
        repeated(LAST_OF_DATE),
        "Use the last capture of a page up to the end of DATE. Give it twice to choose captures of A and of B.",
    )
    html: str | None = option(None, path("OUT", "file"), "Write both texts side by side to a self-contained HTML file.")
    fail_above: float | None = option(
        None,
        share(),
        "Exit with 1 if the resemblance is above X, otherwise with 0, even if nothing is shared. For checks in CI.",
    )
    full: bool = option(False, FLAG, "Do not shorten passages.")


@click.command(
    "compare", cls=DescribedCommand, short_help="Compare two texts or pages, and show the passages they share."
)
@text_file("a")
@text_file("b", required=False)
@store_option("The store with the pages: a file (crawl.winnow), or http://host:9200/name.", required=False)
@declared_options(TextSchemeChoice, "choice")
@declared_options(CompareRun, "run")
@declared_options(AnswerOutput, "output")
def command(
    a: str, b: str | None, store: str | None, choice: TextSchemeChoice, run: CompareRun, output: AnswerOutput
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

    Without B, two captures of the page A are compared: at two dates with --at, at one date and the latest, or the last
    two.

    On a terminal, passages appear side by side with their offsets in both texts; in a pipe, as tab-separated values.
    A passage is marked as moved if it is outside the longest series of passages that is in the same order in both.
    With --differences, the runs of words that only A or only B has are listed instead.

    Exits with 1 if nothing is shared.
    """
    if a == b == STDIN:
        raise click.UsageError("only one of A and B can be -")
    files = [name for name in (a, b) if name is not None and is_file(name)]
    if b is None and files:
        raise click.UsageError(f"give B, a text to compare {a} with")
    if len(run.at) > 2:
        raise click.UsageError("give --at at most twice: for A and for B")
    if len(files) + len(run.at) > 2 or (len(files) == 2 and run.at):
        raise click.UsageError(f"--at chooses a capture of a page, but {files[0]} is a file")
    store = typed_unless(store, len(files) == 2)  # WINNOW_STORE does not change how files are compared
    scheme = choice.scheme
    if scheme is None and store is None and b is not None and is_program(a) and is_program(b):
        scheme = PRESETS["programs"]
        say("compared as programs; --preset pages compares them as texts")
    texts = compared_texts(a, b, store, scheme, at=run.at, boilerplate=run.boilerplate)
    say_if_same(texts)
    if run.html is not None:
        check_files({"--html": run.html}, list(map(Path, files)))
    comparison = _compared(texts, differences=run.differences)
    compared = Compared.of(texts.a, texts.b, comparison, texts.scheme)
    if run.html is not None:
        write_html(run.html, compared)
    row, rows = (DifferenceRow, differences(comparison)) if run.differences else (PassageRow, compared.rows())
    output.show(comparison, lambda screen: table(screen, compared, run), row, rows)
    if not (output.json or output.screen or run.differences):
        remark(f"{comparison_summary(compared)}: {scores_line(comparison)}")
        if related := relationship_line(comparison):
            remark(related)
    if not compared:
        say(why_no_passage(texts, compared))
        if hint := disguised(texts):
            say(hint)
    elif run.html is None:
        next_step("compare", _argument(texts.a), _argument(texts.b), "--html", "compare.html")
    found = bool(compared or comparison.resemblance)
    end(0 if (found if run.fail_above is None else comparison.resemblance <= run.fail_above) else NOTHING_FOUND)


def _compared(texts: ComparedTexts, scheme: Scheme | None = None, *, differences: bool = False) -> Comparison:
    return compare_pages(
        texts.a, texts.b, scheme or texts.scheme, boilerplate=texts.boilerplate, differences=differences
    )


def _argument(text: ComparedText) -> str:
    """Return the name of a text on the command line: a file, the URL of a page, or the id of a capture."""
    return text.url if text.url and text.title == text.url else text.id


def say_if_same(texts: ComparedTexts) -> None:
    """Say that A and B are the same capture or the same file, which resembles itself completely."""
    a, b = texts.a, texts.b
    if a.site is not None and b.site is not None and a.id == b.id:
        listed = shell_command("history", a.url or "")
        say(f"A and B are the same capture. Choose another of that page with --at: {listed} lists them")
    elif same_file(a.id, b.id):
        say("A and B are the same file")


def same_file(name: str, other: str) -> bool:
    return STDIN not in (name, other) and Path(name).exists() and Path(other).exists() and Path(name).samefile(other)


def table(screen: Terminal, compared: Compared, run: CompareRun) -> Iterator[list[Span]]:
    """Yield the lines of the answer, with the passages or the differences."""
    yield [(comparison_summary(compared), "bold")]
    yield [(scores_line(compared.comparison), "plain")]
    if related := relationship_line(compared.comparison):
        yield [(related, "plain")]
    if run.html is None and not run.differences and (compared.passages or compared.boilerplate):
        view = SideBySide(screen, compared, full=run.full)
        lines = [view.names(), *map(view.passage, compared.passages), *map(view.boilerplate, compared.boilerplate)]
        yield from ([(line, "plain")] for some in lines for line in ("", *some))
    yield from differences_table(compared.comparison, screen.columns, full=run.full)


def scores_line(comparison: Comparison) -> str:
    return "   ".join(f"{name} {percent(share)}" for name, share in three_numbers(comparison))


def relationship_line(comparison: Comparison) -> str:
    """Return the relationship with its reason; an empty string if the summary already says that nothing is shared."""
    found = comparison.relationship
    return f"{found.kind.capitalize()}: {found.reason}" if found and found.kind != "nothing in common" else ""


def write_html(out: str, compared: Compared) -> None:
    with extra("web"):
        from opensearch_winnow.web.compare_html import compare_html  # noqa: PLC0415 (not needed without --html)

    with reporting_os_errors(Path(out)):
        Path(out).write_text(compare_html(compared), encoding="utf-8")
    remark(f"wrote {out}")


def why_no_passage(texts: ComparedTexts, compared: Compared) -> str:
    """Explain why no passage is shared, and name an option that would find one, if there is one."""
    why = no_passage(compared)
    if why.cause == "short":
        return f"{why.reason} (--noise)"
    if why.cause == "boilerplate":
        return f"{why.reason}, which --no-boilerplate counts"
    scheme = texts.scheme
    finer = replace(PRESETS["passages"], fold_confusables=scheme.fold_confusables)
    if scheme.form == finer.form and scheme.noise <= finer.noise and scheme.guarantee <= finer.guarantee:
        return f"{why.reason}."
    if found := _compared(texts, finer).passages:
        return f"{why.reason}. --preset passages finds {count_of(len(found), 'passage')}."
    return f"{why.reason}; nor does --preset passages find a shorter one."


def disguised(texts: ComparedTexts) -> str:
    """Say that passages are shared if letters that look alike count as one; return an empty string if none are."""
    scheme = texts.scheme
    if scheme.fold_confusables or scheme.form == "code" or (texts.a.text.isascii() and texts.b.text.isascii()):
        return ""
    found = _compared(texts, replace(scheme, fold_confusables=True)).passages
    shared = count_of(len(found), "passage is", "passages are")
    return f"With --fold-confusables, {shared} shared: some letters only look alike." if found else ""


def differences(comparison: Comparison) -> Iterator[DifferenceRow]:
    """Yield the runs of words that only A has, then the runs that only B has."""
    yield from (DifferenceRow("A", run) for run in comparison.removed or ())
    yield from (DifferenceRow("B", run) for run in comparison.added or ())


def differences_table(comparison: Comparison, columns: int, *, full: bool) -> Iterator[list[Span]]:
    """Yield a line for each run, with its offsets: first the runs that only A has, then the runs that only B has."""
    if comparison.removed is None or comparison.added is None:
        return
    offsets = max((len(_offsets(run)) for run in (*comparison.removed, *comparison.added)), default=0)
    for letter, sign, runs in (("A", "−", comparison.removed), ("B", "+", comparison.added)):
        yield [(f"Only in {letter}: {count_of(len(runs), 'run')}", "bold")]
        for run in runs:
            text = one_line(run.text)
            room = columns - len(f"{sign}  ") - offsets
            yield [(f"{sign} {_offsets(run).rjust(offsets)} ", "dim"), (text if full else shorten(text, room), "plain")]


def _offsets(run: TextRun) -> str:
    return f"{run.start:,}–{run.end:,}"
