"""A summary of the later pages that have the text of a lost page."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.operations.asking.locate import Change, Located


def located_summary(located: Located) -> str:
    """Sum up where a page went: "last seen on 2024-01-01, found on 2 later pages: 1 moved, 1 copy"."""
    last = f"last seen {f'on {located.last_seen:%Y-%m-%d}' if located.last_seen else 'at an unknown time'}"
    if not located.total:
        return f"{last}, found on no later page"
    pages = f"{last}, found on {count_of(located.total, 'later page')}"
    if len(located) < located.total:
        return pages
    counts = Counter(each.change for each in located)
    changes = ((each, counts[each]) for each in get_args(Change) if counts[each])
    return f"{pages}: {', '.join(count_of(n, each, 'copies' if each == 'copy' else each) for each, n in changes)}"
