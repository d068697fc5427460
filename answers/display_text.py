"""Makes untrusted text safe to show, and fits it into the columns of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from rich.cells import cell_len, set_cell_size, split_graphemes, split_text

Span = tuple[str, str]  # a text and the name of its style

# C0 and C1 controls (escape sequences begin with one), the bidirectional controls that can make a line read as another,
# and lone surrogates, which no stream can encode.
UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
SPACES = re.compile(r"\s+")


def printable(text: str) -> str:
    """Replace each unsafe character with a visible one, so that offsets stay. Tabs and newlines are kept."""
    return UNSAFE.sub(_control_picture, text)


def one_line(text: str) -> str:
    """Return the printable text with every run of white space, even at its ends, as one space."""
    return printable(SPACES.sub(" ", text))


def width(text: str) -> int:
    """Return how many terminal columns a text takes: an ideograph two, a combining mark none, an emoji sequence two."""
    return len(text) if text.isascii() else cell_len(text)


def shorten(text: str, columns: int) -> str:
    """Return the text, or as much of its beginning as fits before an ellipsis."""
    columns = max(columns, 1)  # room for the ellipsis
    return text if width(text) <= columns else set_cell_size(text, columns - 1).rstrip() + "…"


def shorten_middle(text: str, columns: int) -> str:
    """Return the text, or both its ends around an ellipsis: long file names and URLs often differ only at the end."""
    total, columns = width(text), max(columns, 1)
    if total <= columns:
        return text
    head = shorten(text, (columns + 1) // 2)
    _, tail = split_text(text, total - (columns - width(head)))
    return head + tail.lstrip()


def wrap(spans: list[Span], columns: int) -> list[list[Span]]:
    """Break styled text into lines of at most `columns`: at spaces, around wide characters, and inside long words."""
    lines: list[list[Span]] = []
    line: list[Span] = []  # one grapheme each
    used = breakable = 0
    for grapheme, size, style in _graphemes(spans):
        if used + size > columns:
            end = len(line) if grapheme == " " else breakable or len(line)
            lines.append(line[:end])
            line = line[end:]
            used, breakable = sum(width(each) for each, _ in line), 0
        if grapheme == " " and not line:
            continue  # a line does not begin with the space it was broken at
        if size == 2 and line:
            breakable = len(line)
        line.append((grapheme, style))
        used += size
        if grapheme == " " or size == 2:
            breakable = len(line)
    if line:
        lines.append(line)
    return [_joined(each) for each in lines]


def _graphemes(spans: list[Span]) -> Iterator[tuple[str, int, str]]:
    for text, style in spans:
        for start, end, size in split_graphemes(text)[0]:
            yield text[start:end], size, style


def _joined(line: list[Span]) -> list[Span]:
    runs = [("".join(text for text, _ in run), style) for style, run in groupby(line, key=lambda span: span[1])]
    if runs and runs[-1][0].endswith(" "):
        runs[-1] = (runs[-1][0].rstrip(" "), runs[-1][1])
    return runs


def _control_picture(unsafe: re.Match[str]) -> str:
    code = ord(unsafe[0])
    if code < 0x20:
        return chr(0x2400 + code)  # U+2400 onwards: the pictures of control characters, in their order
    return "␡" if code == 0x7F else "\ufffd"
