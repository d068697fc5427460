"""How many columns of a terminal a text takes, and its lines when it has only so many."""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import groupby

Span = tuple[str, str]  # a text and the name of its style


@cache
def cells(char: str) -> int:
    """0 for what is drawn over its neighbour, 2 for ideographs, kana, full-width forms and most emoji, else 1."""
    if char == "\u00ad":
        return 1  # a format character by category, but terminals draw the hyphen
    # The vowels and finals of conjoining Hangul join the consonant before them.
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(cells, text))


def shorten(text: str, columns: int) -> str:
    """The text, or as much of its beginning as fits with an ellipsis."""
    if width(text) <= columns:
        return text
    used = 1
    for end, char in enumerate(text):
        used += cells(char)
        if used > columns:
            return text[:end].rstrip() + "…"
    return text


def shorten_middle(text: str, columns: int) -> str:
    """The text, or both its ends: the names of two files often differ only there."""
    if width(text) <= columns:
        return text
    head = shorten(text, (columns + 1) // 2)
    return head + shorten(text[::-1], columns - width(head) + 1)[-2::-1]


def wrap(spans: list[Span], columns: int) -> list[list[Span]]:
    """Lines of at most so many columns, broken at spaces, around wide characters, and in words that are too long."""
    lines: list[list[Span]] = []
    line: list[Span] = []  # one character each
    used = breakable = 0
    for text, style in spans:
        for char in text:
            size = cells(char)
            if used + size > columns:
                end = len(line) if char == " " else breakable or len(line)
                lines.append(line[:end])
                line = line[end:]
                used, breakable = sum(cells(each) for each, _ in line), 0
            if char == " " and not line:
                continue  # no line begins with the space that it was broken at
            if size == 2 and line:
                breakable = len(line)
            line.append((char, style))
            used += size
            if char == " " or size == 2:
                breakable = len(line)
    if line:
        lines.append(line)
    return [_joined(each) for each in lines]


def _joined(line: list[Span]) -> list[Span]:
    runs = [("".join(char for char, _ in run), style) for style, run in groupby(line, key=lambda span: span[1])]
    if runs and runs[-1][0].endswith(" "):
        runs[-1] = (runs[-1][0].rstrip(" "), runs[-1][1])
    return runs
