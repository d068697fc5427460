"""Chooses the tokens of a question that are worth a lookup: frequent ones cost the most and tell the least."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

DEFAULT_FREQUENT = 1_000  # pages, as Broder and others took for the Web
# Of this many frequent tokens in a row, the rarest is looked up. Otherwise, putting a passage on enough pages would
# hide it, and all pages that have it.
MAX_FREQUENT_RUN = 4


def frequency_check(tokens: array[int], frequent: Mapping[int, int]) -> array[int]:
    """Return the tokens to look up, in order: all rare ones, and the rarest of every MAX_FREQUENT_RUN frequent ones.

    The tokens come in the order of the text, so every shared run of MAX_FREQUENT_RUN tokens is still found. The result
    is empty only if `tokens` is. `frequent` gives the number of pages of each frequent token.
    """

    def rarity(index: int) -> tuple[int, int]:
        return frequent[tokens[index]], tokens[index]

    selected = array("Q")
    skipped: list[int] = []  # indices since the last token that was selected
    for index, token in enumerate(tokens):
        skipped.append(index)
        if token not in frequent:
            selected.append(token)
            skipped.clear()
        elif len(skipped) == MAX_FREQUENT_RUN:
            rarest = min(skipped, key=rarity)
            selected.append(tokens[rarest])
            skipped = [each for each in skipped if each > rarest]
    if skipped and not selected:
        selected.append(tokens[min(skipped, key=rarity)])
    return selected
