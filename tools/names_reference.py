"""Writes docs/names.md: every public parameter and every key of a JSON answer, with what takes or has it.

`make docs` runs it; tests/test_docs_names.py fails when the page is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.public_names import Meaning, keys, parameters

PAGE = Path(__file__).resolve().parent.parent / "docs" / "names.md"
BEGIN = "<!-- Below is written by tools/names_reference.py. -->\n"
MAX_LISTED = 8  # things that take a parameter; of more, the page says how many there are


def parameter_lines() -> Iterator[str]:
    yield "## Parameters\n"
    yield "| name | option | values | default | meaning | of |\n|---|---|---|---|---|---|"
    for name, meanings in parameters().items():
        for each in sorted(meanings, key=_order):
            takers = "; ".join(filter(None, map(_listed, (each.python, each.commands, each.api))))
            yield _row(f"`{name}`", _codes(each.flags), each.values, each.default, each.sentence, takers)
    yield ""


def key_lines() -> Iterator[str]:
    yield "## Keys of answers\n"
    yield "| key | values | meaning | answers |\n|---|---|---|---|"
    for name, meanings in keys().items():
        for each in sorted(meanings, key=lambda each: (-len(each.answers), each.sentence)):
            yield _row(f"`{name}`", each.values, each.sentence, _listed(each.answers))
    yield ""


def _order(each: Meaning) -> tuple[bool, int, str, str]:
    """Sort meanings: those with a sentence first, the one that most things have at the top."""
    return not each.sentence, -len(each.python) - len(each.commands) - len(each.api), each.sentence, each.values


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _listed(names: Iterable[str]) -> str:
    listed = [*names]
    return _codes(listed[:MAX_LISTED]) + (f" and {len(listed) - MAX_LISTED} more" if len(listed) > MAX_LISTED else "")


def _row(*cells: str) -> str:
    return f"| {' | '.join(re.sub(r'[|*<]', _escaped, cell.replace(chr(10), ' ')) for cell in cells)} |"


def _escaped(found: re.Match[str]) -> str:
    return "&lt;" if found[0] == "<" else f"\\{found[0]}"


def updated(page: str) -> str:
    """Return `page` with its generated part written anew. The part above it stays as it is."""
    return page.partition(BEGIN)[0] + BEGIN + "\n" + "\n".join([*parameter_lines(), *key_lines()])


if __name__ == "__main__":
    sys.stdout.write(f"{PAGE}\n")
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
