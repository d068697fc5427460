"""Assigns owners to documents. Two documents of one owner are not compared."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.queries.sets.pairs import Document, Unread

HEADER = "id"  # of the first column, if a file has a header


class OwnerError(WinnowError):
    """Owners that cannot be read."""


def with_owners(documents: Sequence[Document], rule: str) -> tuple[list[Document], list[Unread]]:
    """Return the documents with their owners by a rule: a regular expression, or a CSV file of ids and owners.

    The owner is the first group of the expression, or all that it matches if it has no group. The rows of a file are
    id,owner; rows with an unknown id are returned, too. A document that the rule does not name keeps its owner.
    """
    if Path(rule).is_file():
        owners = _read(Path(rule))
        by_id = {each.id for each in documents}
        reason = f"named in {Path(rule).name}, but not among the documents"
        unknown = [Unread(id_, reason) for id_ in owners if id_ not in by_id and id_.lower() != HEADER]
    else:
        owners, unknown = _matched(rule, documents), []
    named = [replace(each, owner=owners.get(each.id) or each.owner) for each in documents]
    if documents and not any(owners.get(each.id) for each in documents):
        raise OwnerError(f"owner {rule} matches 0 of {len(documents):,} documents, such as {documents[0].id}")
    return named, unknown


def _matched(rule: str, documents: Sequence[Document]) -> dict[str, str]:
    try:
        pattern = re.compile(rule)
    except re.error as error:
        raise OwnerError(f"{rule} is neither a file nor a regular expression: {error}") from None
    matches = ((each.id, pattern.search(each.id)) for each in documents)
    return {id_: match[min(pattern.groups, 1)] or "" for id_, match in matches if match}


def _read(path: Path) -> dict[str, str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OwnerError(f"{path} cannot be read as CSV: {error}") from None
    if wrong := next((number for number, row in enumerate(rows, 1) if len(row) < 2), None):
        raise OwnerError(f"{path}: row {wrong} has no owner; each row is id,owner")
    return {id_.strip(): owner.strip() for id_, owner, *_ in rows}
