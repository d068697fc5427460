"""winnow compare: what two texts share."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from opensearch_winnow.canonical import canonical
from opensearch_winnow.cli import scheme_options as choose
from opensearch_winnow.cli.answer import answer, percent, three_numbers
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.numbered_passages import NumberedPassage, numbered_passages
from opensearch_winnow.cli.printable import one_line
from opensearch_winnow.cli.side_by_side import SideBySide
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, suggest, terminal
from opensearch_winnow.cli.text_file import STDIN, FileError, read_text, text_file
from opensearch_winnow.queries.compare import Comparison, compare
from opensearch_winnow.scheme import PRESETS, Scheme


@click.command("compare", short_help="What two texts share.")
@text_file("a")
@text_file("b")
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset)
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
    scheme: Scheme,
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
      winnow compare letter.txt - --preset passages < archive.txt
      winnow compare old.txt new.txt --fail-above 0.8 --json
      winnow compare mine.py theirs.py --preset code

    What the text files A and B (UTF-8; - for text that is piped in) share: their resemblance, how much of A is in B
    and of B in A, exact over runs of ten words, and the passages. With --preset code they are programs, in the
    languages that their names tell, and the words are tokens: other names, comments and layout hide nothing.

    On a terminal the passages stand side by side, with their offsets in both texts; in a pipe they are tab-separated
    values. A passage has moved if it is not in the longest series of passages whose order is the same in both texts.

    Exit code 1 if nothing is shared.
    """
    if a == b == STDIN:
        raise click.UsageError("only one of A and B can be -", ctx)
    text, other = read_text(a), read_text(b)
    if html is not None and any(name != STDIN and Path(html).exists() and Path(html).samefile(name) for name in (a, b)):
        raise FileError(f"--html {html} would overwrite one of the texts; name another file")
    names = (None if a == STDIN else a, None if b == STDIN else b)
    comparison = compare(text, other, scheme, names=names)
    passages = numbered_passages(text, comparison.passages)
    if html is not None:
        write_html(html, (a, text), (b, other), comparison, passages, scheme)
    if as_json:
        click.echo(as_object(comparison))
    elif screen := terminal(color):
        screen.echo(screen.paint(answer(text, other, comparison, passages), "bold"))
        screen.echo(in_one_line(comparison))
        if html is None and passages:
            view = SideBySide(screen, text, other, full=full)
            screen.echo()
            for line in view.names(a, b):
                screen.echo(line)
            for each in passages:
                screen.echo()
                for line in view.passage(each):
                    screen.echo(line)
    else:
        show_rows(text, passages)
        remark(f"{answer(text, other, comparison, passages)}: {in_one_line(comparison)}")
    found = bool(passages or comparison.resemblance)
    if not passages:
        say(why_no_passage(text, other, names, comparison, scheme))
    elif html is None:
        suggest("compare", a, b, "--html", "compare.html")
    if fail_above is None:
        ctx.exit(0 if found else NOTHING_FOUND)
    ctx.exit(NOTHING_FOUND if comparison.resemblance > fail_above else 0)


def in_one_line(comparison: Comparison) -> str:
    return "   ".join(f"{name} {percent(share)}" for name, share in three_numbers(comparison))


def as_object(comparison: Comparison) -> str:
    return json.dumps(
        {
            "resemblance": comparison.resemblance,
            "containment": comparison.containment,
            "contained": comparison.contained,
            "passages": [passage._asdict() for passage in comparison.passages],
        }
    )


def show_rows(text: str, passages: Sequence[NumberedPassage]) -> None:
    sys.stdout.write("passage\twords\tstart\tend\tother_start\tother_end\tmoved\ttext\n")
    for each in passages:
        start, end, *_ = each.passage
        offsets = "\t".join(map(str, each.passage))
        moved = "moved" if each.moved else ""
        sys.stdout.write(f"{each.number}\t{each.words}\t{offsets}\t{moved}\t{one_line(text[start:end])}\n")


def write_html(
    out: str,
    a: tuple[str, str],
    b: tuple[str, str],
    comparison: Comparison,
    passages: Sequence[NumberedPassage],
    scheme: Scheme,
) -> None:
    from opensearch_winnow.cli.compare_html import compare_html  # noqa: PLC0415 (only who asks for HTML waits for it)

    try:
        with Path(out).open("w", encoding="utf-8") as file:
            file.writelines(compare_html(a, b, comparison, passages, scheme))
    except OSError as error:
        raise FileError(f"{out} cannot be written: {error.strerror}") from None
    remark(f"wrote {out}")


def why_no_passage(a: str, b: str, names: tuple[str | None, str | None], comparison: Comparison, scheme: Scheme) -> str:
    """Never a silent zero: what was too short, or what would find something."""
    nothing = "No shared passage" if comparison.resemblance else "Nothing shared"
    for letter, text, name in (("A", a, names[0] or names[1]), ("B", b, names[1] or names[0])):
        length = len(canonical(text, scheme, name=name).chars)
        if length < scheme.noise:
            return (
                f"{nothing}: {letter} has {length:,} canonical characters; "
                f"at least {scheme.noise:,} are needed (--noise)"
            )
    run = f"{scheme.shingle:,} {'tokens' if scheme.form == 'code' else 'words'}"
    if comparison.resemblance:
        nothing += f": runs of {run} are in both, but none of {scheme.guarantee:,} canonical characters"
    else:
        nothing += f": no run of {run}, and none of {scheme.guarantee:,} canonical characters"
    finer = compare(a, b, PRESETS["passages"]).passages
    if finer:
        shorter = "1 passage" if len(finer) == 1 else f"{len(finer):,} passages"
        return f"{nothing}. --preset passages finds {shorter}."
    return f"{nothing}; nor does --preset passages find a shorter one."
