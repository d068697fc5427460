"""The same as symbols.pyx, in plain Python."""

from __future__ import annotations

import re

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212-"
FULL_WIDTH = {char: char - 0xFEE0 for char in range(0xFF01, 0xFF5F)}
BLANK = " \t\xa0\u2000-\u200a\u202f\u3000"
OPERATORS = r"+*/\\<>=^&|~!%¬±×÷\u2190-\u2211\u2213-\u22ff"
RUN = re.compile(rf"[{OPERATORS}{DASHES}]+|[.,:]+|[$€£¥‰°#²³¹\u2070-\u2089]")
OPERAND_BEFORE, OPERAND_AFTER = r"[^\W]|[)\]}\"']", r"[^\W]|[(\[{\"'\-!~.$]"
UNIT = re.compile("[$€£¥‰°]")


def symbols(text: str) -> list[str]:
    """Return the runs of symbols of `text` that are counted."""
    text = text.translate(FULL_WIDTH)
    return [run.group() for run in RUN.finditer(text) if _is_counted(text, run.start(), run.end())]


def _is_counted(text: str, start: int, end: int) -> bool:
    run, before, after = text[start:end], text[:start], text[end:]
    if run in "²³¹" or "\u2070" <= run[0] <= "\u2089":
        return True
    if run == "#":
        return bool(re.search(r"[^\W0-9]\Z", before))
    if run[0] in ".,:":
        return len(run) == 1 and bool(re.search(r"[0-9]\Z", before) and re.match(r"[0-9]", after))
    if UNIT.fullmatch(run) or run == "%":
        if re.search(rf"[0-9][{BLANK}]?\Z", before):
            return True
        if run != "%":
            return bool(re.match(rf"[{BLANK}\r\n]?[0-9]", after))
    if run == "++" and re.search(r"\w\Z", before):
        return True
    left, right = (
        re.search(rf"({OPERAND_BEFORE})([{BLANK}]*)\Z", before),
        re.match(rf"([{BLANK}\r\n]*)({OPERAND_AFTER})", after),
    )
    if left and right and bool(left[2]) == bool(right[1]):
        return len(run) > 1 or run not in DASHES or left[1] in "0123456789" or right[2] in "0123456789"
    if len(run) > 1 or re.search(r"[\w)\]}\"'.,:;\-]\Z", before):
        return False
    return bool(re.match(r"[0-9]" if run in DASHES else r"\w|\(", after)) and run in DASHES + "~!¬"
