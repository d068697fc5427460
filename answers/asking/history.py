"""A summary of the history of a URL."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.operations.asking.history import History


def history_summary(history: History) -> str:
    """Sum up a history: "4 captures from 2024-01-01 to 2024-06-01, 2 of them changed"."""
    days = [f"{each.card.fetched_at:%Y-%m-%d}" for each in history if each.card.fetched_at]
    when = ""
    if days:
        when = f" on {days[0]}" if days[0] == days[-1] else f" from {days[0]} to {days[-1]}"
    left_out = f"; {history.unchanged:,} unchanged left out" if history.unchanged else ""
    if len(history) == 1 and not history.earlier:
        return f"1 capture{when or ' at an unknown time'}{left_out}"
    latest = "the latest " * history.earlier
    resemblances = [each.resemblance for each in history if each.resemblance is not None]
    if not resemblances:
        changes = "not compared, because no text is stored"
    elif changed := sum(resemblance < 1 for resemblance in resemblances):
        changes = f"{changed:,} of them changed"
    else:
        changes = "none of them changed"
    return f"{latest}{count_of(len(history), 'capture')}{when}, {changes}{left_out}"
