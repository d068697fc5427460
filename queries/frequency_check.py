"""Which tokens of a question are worth looking up: those on a great many pages tell little, and cost most."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

FREQUENT = 1_000  # pages, as Broder and others took for the Web
# Of so many tokens in a row one is looked up whatever its frequency is. Else whoever puts a passage on enough pages
# would hide it, and all pages that have it.
IN_A_ROW = 4


def frequency_check(tokens: array[int], frequent: Mapping[int, int]) -> array[int]:
    """The tokens to look up, in their order: those that are not frequent, and the rarest of each few in a row.

    The tokens are in the order of the text, so that every shared run of IN_A_ROW of them is still found. At least one
    is always kept. `frequent` says of each frequent one on how many pages it is.
    """

    def rarity(index: int) -> tuple[int, int]:
        return frequent[tokens[index]], tokens[index]

    kept = array("Q")
    passed: list[int] = []  # indices since the last one that was kept
    for index, token in enumerate(tokens):
        passed.append(index)
        if token not in frequent:
            kept.append(token)
            passed.clear()
        elif len(passed) == IN_A_ROW:
            rarest = min(passed, key=rarity)
            kept.append(tokens[rarest])
            passed = [each for each in passed if each > rarest]
    if passed and not kept:
        kept.append(tokens[min(passed, key=rarity)])
    return kept
