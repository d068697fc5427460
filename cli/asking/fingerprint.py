"""winnow fingerprint: list the fingerprints of a text."""

from __future__ import annotations

from collections.abc import Iterator

import click

from opensearch_winnow.answers.display_text import Span, one_line, shorten, width
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options.answer_output import AnswerOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.terminal import remark, suggest
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined
from opensearch_winnow.cli.text_file import STDIN, read_text, text_file
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.scheme_choice import SchemeChoice
from opensearch_winnow.ingest.fingerprint import Fingerprints, fingerprint

MIN_TEXT_COLUMNS = 10


@click.command("fingerprint", cls=DescribedCommand, short_help="List the fingerprints of a text.")
@text_file("file")
@declared_options(SchemeChoice, "choice")
@key_file_option
@declared_options(AnswerOutput, "output")
def command(file: str, choice: SchemeChoice, output: AnswerOutput) -> None:
    """\b
    Examples:
      winnow fingerprint page.txt
      winnow fingerprint page.txt --noise 20 --guarantee 40
      winnow fingerprint - --json < page.txt
      winnow fingerprint program.py --preset code

    List the fingerprints of FILE, a UTF-8 text file (- reads from a pipe): the hash of each selected k-gram, and its
    position in the canonical text. With --preset code, FILE is source code in the language of its file name, and the
    canonical text consists of its tokens.

    Prints a table on a terminal; in a pipe, tab-separated values with the offsets of each k-gram in the text. A hash
    has 16 hexadecimal digits; with --json it is a string of decimal digits, because many programs round large numbers.
    Exits with 1 if the text is too short to have a fingerprint.
    """
    prints = fingerprint(read_text(file), choice.scheme or Scheme(), name=None if file == STDIN else file)
    scheme = prints.scheme  # with the key
    output.show(prints, lambda screen: table(prints, screen.columns))
    length = len(prints.canonical.chars)
    if not len(prints):
        needed = f"at least {scheme.noise:,} are needed (--noise)"
        end(NOTHING_FOUND, f"No fingerprint: the text has {length:,} canonical characters; {needed}")
    remark(f"{len(prints):,} fingerprints of {length:,} canonical characters, scheme {scheme.id}")
    suggest("compare", file, "OTHER")


def table(prints: Fingerprints, columns: int) -> Iterator[list[Span]]:
    """Yield the lines of the table: the hash, the position and the text of each fingerprint."""
    if not prints:
        return
    hashes = TextColumn("hash", [each.hash for each in prints])
    head, lines = joined([hashes, TextColumn("position", [str(each.position) for each in prints], right=True)])
    room = max(columns - width(head) - len(GAP), MIN_TEXT_COLUMNS)
    yield [(f"{head}{GAP}k-gram", "bold")]
    for line, each in zip(lines, prints, strict=True):
        yield [(f"{line}{GAP}{shorten(one_line(each.text), room)}", "plain")]
