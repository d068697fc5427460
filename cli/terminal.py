"""The terminal: whether there is one, how wide it is, and its colours."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from opensearch_winnow.answers.display_text import Span, printable, width

# Light backgrounds of the fixed part of the 256 colours, which no theme changes, under black text: readable on a dark
# and on a light terminal. Eight, because more cannot be told apart; a number goes with each.
BACKGROUNDS = (223, 153, 157, 218, 229, 189, 159, 187)
BLACK = 16

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="auto: on a terminal, unless NO_COLOR is set. always: in a pipe too, and as on a terminal, for less -R.",
)


@dataclass(frozen=True, slots=True)
class Terminal:
    columns: int
    colour: bool

    def paint(self, text: str, style: str) -> str:
        """Style is plain, bold, dim, or the number of a passage."""
        if not self.colour or style == "plain":
            return text
        if style in ("bold", "dim"):
            return click.style(text, bold=style == "bold" or None, dim=style == "dim" or None)
        return click.style(text, fg=BLACK, bg=BACKGROUNDS[(int(style) - 1) % len(BACKGROUNDS)])

    def line(self, spans: list[Span], columns: int = 0) -> str:
        """The painted spans, filled with spaces up to so many columns."""
        padding = columns - sum(width(text) for text, _ in spans)
        return "".join(self.paint(text, style) for text, style in spans) + " " * padding

    def echo(self, line: str = "") -> None:
        click.echo(line, color=self.colour)


def terminal(color: str) -> Terminal | None:
    """The terminal that stdout is, or is to be treated as; None for a pipe or a file."""
    if color != "always" and not sys.stdout.isatty():
        return None
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Terminal(shutil.get_terminal_size().columns, colour=color == "always" or (color == "auto" and not plain))


def say(message: str) -> None:
    """Say something beside the answer, after what was answered so far."""
    sys.stdout.flush()
    click.echo(printable(message), err=True)


def remark(message: str) -> None:
    """Say something that only a reader may want to know."""
    if sys.stderr.isatty():
        say(message)


def suggest(*words: str) -> None:
    """Name the command that a reader may want next."""
    remark(f"→ {shell_command(*words)}")


def shell_command(*words: str) -> str:
    """A command of ours to paste into this shell: by its name where the shell would find it, else by its path."""
    program = Path(sys.argv[0])
    found = shutil.which("winnow")
    by_name = program.name != "winnow" or (found and Path(found).resolve() == program.resolve())
    return shlex.join(("winnow" if by_name else os.path.relpath(program), *words))
