"""Says whose document each one is, so that one's own earlier work is no finding."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

from opensearch_winnow.foundation.errors import WinnowError

Owner = Callable[[str], str]  # from the id of a document; an empty string if the owner is not known


class OwnerError(WinnowError):
    """Owners that cannot be read."""


def owner_by(rule: str) -> Owner:
    """Return the owner of each document by a rule: a regular expression, or a CSV file of ids and owners.

    The owner is the first group of the expression, or all that it matches. The rows of a file are id,owner; a header is
    like any other row. A document that the rule does not name has no owner.
    """
    if Path(rule).is_file():
        owners = _read(Path(rule))
        return lambda id_: owners.get(id_, "")
    try:
        pattern = re.compile(rule)
    except re.error as error:
        raise OwnerError(f"{rule} is neither a file nor a regular expression: {error}") from None

    def owner(id_: str) -> str:
        match = pattern.search(id_)
        return "" if match is None else match[1] or "" if pattern.groups else match[0]

    return owner


def _read(path: Path) -> dict[str, str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OwnerError(f"{path} cannot be read as CSV: {error}") from None
    if wrong := next((number for number, row in enumerate(rows, 1) if len(row) < 2), None):
        raise OwnerError(f"{path}: row {wrong} has no owner; each row is id,owner")
    return {id_.strip(): owner.strip() for id_, owner, *_ in rows}
