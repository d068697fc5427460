"""winnow compare: what two texts share."""

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
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.side_by_side import SideBySide
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, remark, say, terminal
from opensearch_winnow.cli.text_file import STDIN, FileError, text_file
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.queries.compare import Comparison, Passage, compare
from opensearch_winnow.queries.numbered_passages import NumberedPassage, numbered_passages


@click.command("compare", short_help="What two texts share.")
@text_file("a")
@text_file("b")
@store_option("The store that has the pages: a file (crawl.winnow).", required=False)
@click.option("--no-boilerplate", is_flag=True, help="Count the boilerplate of the store as any other text.")
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset, optional=True)
@click.option("--html", metavar="OUT", help="Write both texts side by side as one HTML file that needs no other.")
@json_option
@click.option(
    "--fail-above",
    metavar="X",
    type=click.FloatRange(0, 1),
    help="Exit code 1 if the resemblance is above X (0 to 1), else 0 whatever was found: for checks in CI.",
)
@click.option("--full", is_flag=True, help="Shorten no passage.")
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

    What the text files A and B (UTF-8; - for text that is piped in) share: their resemblance, how much of A is in B
    and of B in A, exact over runs of ten words, and the passages. With --preset code they are programs, in the
    languages that their names tell, and the words are tokens: other names, comments and layout hide nothing.

    With a store, what is not a file is the URL of a page in it, HTML files are read as its pages were, its scheme is
    taken unless the options choose another, and its boilerplate counts for nothing: it is listed apart.

    On a terminal the passages stand side by side, with their offsets in both texts; in a pipe they are tab-separated
    values. A passage has moved if it is not in the longest series of passages whose order is the same in both texts.

    Exit code 1 if nothing is shared.
    """
    if a == b == STDIN:
        raise click.UsageError("only one of A and B can be -", ctx)
    if is_file(a) and is_file(b) and ctx.get_parameter_source("store") is not ParameterSource.COMMANDLINE:
        store = None  # a store of the environment is for its pages
    texts = compared_texts(a, b, store, scheme, boilerplate=not no_boilerplate)
    text, other = texts.a.text, texts.b.text
    if html is not None and any(same_file(html, name) for name in (a, b)):
        raise FileError(f"--html {html} would overwrite one of the texts; name another file")
    comparison = compared(texts)
    passages = numbered_passages(text, comparison.passages)
    if html is not None:
        write_html(html, (a, text), (b, other), comparison, passages, texts.scheme)
    if as_json:
        click.echo(json.dumps(comparison_document(comparison, boilerplate=store is not None)))
    elif screen := terminal(color):
        show(screen, (a, text), (b, other), comparison, passages, full=full, passages_too=html is None)
    else:
        show_rows(text, passages, comparison.boilerplate)
        remark(f"{comparison_summary(text, other, comparison, passages)}: {in_one_line(comparison)}")
    found = bool(passages or comparison.resemblance)
    if not passages:
        say(why_no_passage(texts, comparison))
    elif html is None:
        next_step(ctx, "compare", a, b, "--html", "compare.html")
    if fail_above is None:
        ctx.exit(0 if found else NOTHING_FOUND)
    ctx.exit(NOTHING_FOUND if comparison.resemblance > fail_above else 0)


def compared(texts: ComparedTexts, scheme: Scheme | None = None) -> Comparison:
    a, b = texts.a, texts.b
    return compare(
        a.text,
        b.text,
        scheme or texts.scheme,
        names=(a.name, b.name),
        boilerplate=texts.boilerplate or (),
        sites=(a.site, b.site),
    )


def same_file(name: str, other: str) -> bool:
    return other != STDIN and Path(name).exists() and Path(other).exists() and Path(name).samefile(other)


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
    """The answer, and below it the passages of A and B, which are names and texts."""
    (name, text), (other_name, other) = a, b
    screen.echo(screen.paint(comparison_summary(text, other, comparison, passages), "bold"))
    screen.echo(in_one_line(comparison))
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


def in_one_line(comparison: Comparison) -> str:
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
        from opensearch_winnow.web.compare_html import compare_html  # noqa: PLC0415 (only HTML needs it)

    try:
        Path(out).write_text(compare_html(a, b, comparison, passages, scheme), encoding="utf-8")
    except OSError as error:
        raise FileError(f"{out} cannot be written: {error.strerror}") from None
    remark(f"wrote {out}")


def why_no_passage(texts: ComparedTexts, comparison: Comparison) -> str:
    """Never a silent zero: what was too short, what does not count, or what would find something."""
    a, b = texts.a, texts.b
    why = no_passage(a.text, b.text, comparison, texts.scheme, (a.name, b.name))
    if why.cause == "short":
        return f"{why.reason} (--noise)"
    if why.cause == "boilerplate":
        return f"{why.reason}, which --no-boilerplate counts"
    if finer := compared(texts, PRESETS["passages"]).passages:
        return f"{why.reason}. --preset passages finds {count_of(len(finer), 'passage')}."
    return f"{why.reason}; nor does --preset passages find a shorter one."
