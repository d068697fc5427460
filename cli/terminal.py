"""The terminal: whether there is one, its width, colours and bars; and messages on stderr."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from opensearch_winnow.answers.display_text import Span, printable, width
from opensearch_winnow.cli.key_file_option import key_file_words
from opensearch_winnow.foundation.credentials import hide_credentials

# Light backgrounds from the fixed part of the 256 colours, which themes do not change. Under black text they are
# readable on dark and light terminals. There are eight because more are hard to tell apart; each comes with a number.
BACKGROUNDS = (223, 153, 157, 218, 229, 189, 159, 187)
BLACK = 16
TYPED_WORDS = "opensearch_winnow.typed_words"  # key in click's context: the words that the user has typed
EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Terminal:
    """Paints and prints lines for a terminal of this width."""

    columns: int
    colour: bool

    def paint(self, text: str, style: str) -> str:
        """Return `text` in a style: plain, bold, dim, or the number of a passage, which has a colour."""
        if not self.colour or style == "plain":
            return text
        if style in ("bold", "dim"):
            return click.style(text, bold=style == "bold" or None, dim=style == "dim" or None)
        return click.style(text, fg=BLACK, bg=BACKGROUNDS[(int(style) - 1) % len(BACKGROUNDS)])

    def line(self, spans: list[Span], columns: int = 0) -> str:
        """Return the painted spans as one line, padded with spaces to at least `columns`."""
        padding = columns - sum(width(text) for text, _ in spans)
        return "".join(self.paint(text, style) for text, style in spans) + " " * padding

    def echo(self, line: str = "") -> None:
        click.echo(line, color=self.colour)


def terminal(color: str) -> Terminal | None:
    """Return the terminal to format for: None if stdout is a pipe or a file, unless `color` is "always"."""
    if color != "always" and not sys.stdout.isatty():
        return None
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Terminal(shutil.get_terminal_size().columns, colour=color == "always" or (color == "auto" and not plain))


def bar(share: float, columns: int = 10) -> str:
    """Return a bar that fills this share of the columns, to an eighth of a column, padded with spaces.

    Only a share of 0 gives an empty bar, and only a share of 1 a full one.
    """
    whole = 8 * columns
    eighths = whole if share >= 1 else min(max(round(share * whole), share > 0), whole - 1)
    full, rest = divmod(eighths, 8)
    return ("█" * full + EIGHTHS[rest]).ljust(columns)[:columns]


def say(message: str) -> None:
    """Print a message to stderr, after everything printed to stdout so far."""
    sys.stdout.flush()
    click.echo(presentable(message), err=True)


def presentable(message: str) -> str:
    """Return a message without control characters, and without the credentials in the words that the user has typed."""
    context = click.get_current_context(silent=True)
    return printable(hide_credentials(message, context.meta.get(TYPED_WORDS, []) if context else []))


def remark(message: str) -> None:
    """Print a message to stderr if that is a terminal: people want it, scripts do not."""
    if sys.stderr.isatty():
        say(message)


def suggest(*words: str) -> None:
    """Print the `winnow` command that the user may want to run next."""
    remark(f"→ {next_command(*words)}")


def next_command(*words: str) -> str:
    """Return a `winnow` command to run next, with the key file that this one has named."""
    return shell_command(*words, *key_file_words())


def shell_command(*words: str) -> str:
    """Return a `winnow` command to paste into a shell: with its path if `winnow` is not on the PATH."""
    program = Path(sys.argv[0])
    on_path = shutil.which("winnow")
    by_name = program.name != "winnow" or (on_path and Path(on_path).resolve() == program.resolve())
    return shlex.join(("winnow" if by_name else os.path.relpath(program), *words))
