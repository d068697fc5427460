"""Text of others, made safe to show: no control reaches a terminal or a page."""

from __future__ import annotations

import re

# C0 and C1 controls (escape sequences begin with one), the bidirectional controls that can make a line read as another,
# and lone surrogates, which no stream can encode.
UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
SPACES = re.compile(r"\s+")


def printable(text: str) -> str:
    """The text with a visible character for each that is unsafe, so that offsets stay. Tabs and newlines stay too."""
    return UNSAFE.sub(_picture, text)


def one_line(text: str) -> str:
    """The printable text with every run of white space as one space, at its ends too."""
    return printable(SPACES.sub(" ", text))


def _picture(unsafe: re.Match[str]) -> str:
    code = ord(unsafe[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the pictures of control characters are in their order
    return "␡" if code == 0x7F else "\ufffd"
