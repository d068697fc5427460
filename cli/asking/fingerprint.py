"""winnow fingerprint: list the fingerprints of a text."""

from __future__ import annotations

import json
import sys

import click

from opensearch_winnow.answers.display_text import one_line, shorten
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options import scheme_options as choose
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, remark, say, suggest, terminal
from opensearch_winnow.cli.text_file import STDIN, read_text, text_file
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.fingerprint import Fingerprints, fingerprint


@click.command("fingerprint", short_help="List the fingerprints of a text.")
@text_file("file")
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset, choose.selection, choose.fold_confusables)
@key_file_option
@json_option
@color_option
@click.pass_context
def command(ctx: click.Context, file: str, scheme: Scheme, as_json: bool, color: str) -> None:
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
    prints = fingerprint(read_text(file), scheme, name=None if file == STDIN else file)
    scheme = prints.scheme  # with the key
    screen = terminal(color)
    if as_json:
        # As texts: JavaScript and jq round numbers above 2^53.
        listed = list(zip(map(str, prints.hashes), prints.positions, strict=True))
        click.echo(json.dumps({"scheme": scheme.id, "fingerprints": listed}))
    elif screen and len(prints):
        show_table(screen, prints)
    elif not screen:
        show_rows(prints)
    length = len(prints.canonical.chars)
    if not len(prints):
        needed = f"at least {scheme.noise:,} are needed (--noise)"
        say(f"No fingerprint: the text has {length:,} canonical characters; {needed}")
        ctx.exit(NOTHING_FOUND)
    remark(f"{len(prints):,} fingerprints of {length:,} canonical characters, scheme {scheme.id}")
    suggest("compare", file, "OTHER")


def show_table(screen: Terminal, prints: Fingerprints) -> None:
    text = prints.canonical.text
    digits = max(len("position"), len(str(prints.positions[-1])))
    room = max(screen.columns - 16 - digits - 4, 10)
    screen.echo(screen.paint(f"{'hash':16}  {'position':>{digits}}  k-gram", "bold"))
    for hash_, position, (start, end) in zip(prints.hashes, prints.positions, prints.spans, strict=True):
        screen.echo(f"{hash_:016x}  {position:>{digits}}  {shorten(one_line(text[start:end]), room)}")


def show_rows(prints: Fingerprints) -> None:
    text = prints.canonical.text
    sys.stdout.write("hash\tposition\tstart\tend\ttext\n")  # not click.echo, which flushes every line
    for hash_, position, (start, end) in zip(prints.hashes, prints.positions, prints.spans, strict=True):
        sys.stdout.write(f"{hash_:016x}\t{position}\t{start}\t{end}\t{one_line(text[start:end])}\n")
