"""winnow compare: show what two texts share."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from opensearch_winnow.answers.comparison_document import comparison_document
from opensearch_winnow.answers.comparison_words import comparison_summary, no_passage, three_numbers
from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.cli import scheme_options as choose
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.compared_texts import ComparedTexts, compared_texts, is_file
from opensearch_winnow.cli.side_by_side import SideBySide
from opensearch_winnow.cli.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, remark, say, terminal
from opensearch_winnow.cli.text_file import STDIN, FileError, text_file
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.queries.compare import Comparison, Passage, compare
from opensearch_winnow.queries.numbered_passages import NumberedPassage, numbered_passages


@click.command("compare", short_help="Compare two texts or pages, and show the passages they share.")
@text_file("a")
@text_file("b")
@store_option("The store with the pages: a file (crawl.winnow), or http://host:9200/name.", required=False)
@click.option("--no-boilerplate", is_flag=True, help="Treat the store's boilerplate as ordinary text.")
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset, optional=True)
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
    b: str,
    store: str | None,
    no_boilerplate: bool,
    scheme: Scheme | None,
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
      winnow compare draft.html http://example.org/a --store crawl.winnow
      winnow compare letter.txt - --preset passages < archive.txt
      winnow compare old.txt new.txt --fail-above 0.8 --json
      winnow compare mine.py theirs.py --preset code

    Compare the texts A and B: how much they resemble each other, how much of A is in B and of B in A, and which
    passages they share. The scores are exact, counted in runs of ten words. A and B are UTF-8 files; - reads from a
    pipe. With --preset code they are source code, and words are tokens: renaming, comments and layout make no
    difference. The file name tells the language.

    With --store, a name that is not a file is the URL of a page in the store. HTML files are read as the store's pages
    were. Its scheme is used unless you choose another, and its boilerplate is listed but does not count.

    On a terminal, passages appear side by side with their offsets in both texts; in a pipe, as tab-separated values.
    A passage is marked as moved if it is outside the longest series of passages that is in the same order in both.

    Exits with 1 if nothing is shared.
    """
    if a == b == STDIN:
        raise click.UsageError("only one of A and B can be -", ctx)
    if is_file(a) and is_file(b) and ctx.get_parameter_source("store") is not ParameterSource.COMMANDLINE:
        store = None  # WINNOW_STORE is for pages: it does not change how files are compared
    texts = compared_texts(a, b, store, scheme, boilerplate=not no_boilerplate)
    say_if_same(a, b)
    text, other = texts.a.text, texts.b.text
    if html is not None and any(same_file(html, name) for name in (a, b)):
        raise FileError(f"--html {html} would overwrite one of the texts; choose another name")
    comparison = compare_texts(texts)
    passages = numbered_passages(text, comparison.passages)
    if html is not None:
        write_html(html, (a, text), (b, other), comparison, passages, texts.scheme)
    if as_json:
        click.echo(json.dumps(comparison_document(comparison, boilerplate=store is not None)))
    elif screen := terminal(color):
        show(screen, (a, text), (b, other), comparison, passages, full=full, passages_too=html is None)
    else:
        show_rows(text, passages, comparison.boilerplate)
        remark(f"{comparison_summary(text, other, comparison, passages)}: {scores_line(comparison)}")
    found = bool(passages or comparison.resemblance)
    if not passages:
        say(why_no_passage(texts, comparison))
    elif html is None:
        next_step(ctx, "compare", a, b, "--html", "compare.html")
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


def say_if_same(a: str, b: str) -> None:
    """Say that A and B are the same page or the same file, which resembles itself completely."""
    if a == b and not is_file(a):
        say(f"A and B are the same page. To compare its captures: winnow history {a}")
    elif same_file(a, b):
        say("A and B are the same file")


def same_file(name: str, other: str) -> bool:
    return STDIN not in (name, other) and Path(name).exists() and Path(other).exists() and Path(name).samefile(other)


def show(
    screen: Terminal,
    a: tuple[str, str],
    b: tuple[str, str],
    comparison: Comparison,
    passages: Sequence[NumberedPassage],
    *,
    full: bool,
    passages_too: bool,
) -> None:
    """Print the answer, and the passages if `passages_too`. `a` and `b` are pairs of a name and a text."""
    (name, text), (other_name, other) = a, b
    screen.echo(screen.paint(comparison_summary(text, other, comparison, passages), "bold"))
    screen.echo(scores_line(comparison))
    if not passages_too or not (passages or comparison.boilerplate):
        return
    view = SideBySide(screen, text, other, full=full)
    screen.echo()
    for line in view.names(name, other_name):
        screen.echo(line)
    for each in passages:
        screen.echo()
        for line in view.passage(each):
            screen.echo(line)
    for run in comparison.boilerplate:
        screen.echo()
        for line in view.boilerplate(run):
            screen.echo(line)


def scores_line(comparison: Comparison) -> str:
    return "   ".join(f"{name} {percent(share)}" for name, share in three_numbers(comparison))


def show_rows(text: str, passages: Sequence[NumberedPassage], boilerplate: Sequence[Passage]) -> None:
    sys.stdout.write("passage\twords\tstart\tend\tother_start\tother_end\tmoved\ttext\n")
    for each in passages:
        start, end, *_ = each.passage
        offsets = "\t".join(map(str, each.passage))
        moved = "moved" if each.moved else ""
        sys.stdout.write(f"{each.number}\t{each.words}\t{offsets}\t{moved}\t{one_line(text[start:end])}\n")
    for each in numbered_passages(text, boilerplate):
        start, end, *_ = each.passage
        offsets = "\t".join(map(str, each.passage))
        sys.stdout.write(f"boilerplate\t{each.words}\t{offsets}\t\t{one_line(text[start:end])}\n")


def write_html(
    out: str,
    a: tuple[str, str],
    b: tuple[str, str],
    comparison: Comparison,
    passages: Sequence[NumberedPassage],
    scheme: Scheme,
) -> None:
    with extra("web"):
        from opensearch_winnow.web.compare_html import compare_html  # noqa: PLC0415 (not needed without --html)

    try:
        Path(out).write_text(compare_html(a, b, comparison, passages, scheme), encoding="utf-8")
    except OSError as error:
        raise FileError(f"{out} cannot be written: {error.strerror}") from None
    remark(f"wrote {out}")


def why_no_passage(texts: ComparedTexts, comparison: Comparison) -> str:
    """Explain why no passage is shared, and name the option that would find one, if any would."""
    a, b = texts.a, texts.b
    why = no_passage(a.text, b.text, comparison, texts.scheme, (a.name, b.name))
    if why.cause == "short":
        return f"{why.reason} (--noise)"
    if why.cause == "boilerplate":
        return f"{why.reason}, which --no-boilerplate counts"
    if finer := compare_texts(texts, PRESETS["passages"]).passages:
        return f"{why.reason}. --preset passages finds {count_of(len(finer), 'passage')}."
    return f"{why.reason}; nor does --preset passages find a shorter one."
