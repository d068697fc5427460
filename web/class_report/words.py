"""Explains the numbers of the report in words."""

from __future__ import annotations

from collections import Counter

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.answers.sets.pairs_words import (
    compared_words,
    found_words,
    not_compared_words,
    unit,
)
from opensearch_winnow.queries.sets.pairs import Measure, Pairs
from opensearch_winnow.queries.sets.prepared_document import MAX_WINDOW

__all__ = [
    "always_found",
    "compared_words",
    "found_words",
    "left_out",
    "length",
    "measure_sentence",
    "not_compared_words",
    "title",
]


def length(words: int, pairs: Pairs) -> str:
    """Return the length of a passage with its unit."""
    return count_of(words, unit(pairs).removesuffix("s"))


def always_found(pairs: Pairs) -> int:
    """Return the length from which every passage is found, in canonical characters."""
    return pairs.parameters.noise + min(pairs.parameters.w, MAX_WINDOW) - 1


def measure_sentence(measure: Measure, pairs: Pairs) -> str:
    """Explain the measure by which pairs are ranked."""
    runs = f"runs of {length(pairs.parameters.shingle, pairs)}"
    if measure == "longest":
        return f"Pairs are ranked by their longest shared passage, in {unit(pairs)}."
    if measure == "containment":
        return f"Containment is the share of one document's {runs} that the other has too: the larger of both numbers."
    if measure == "similarity" and pairs.parameters.form == "code":
        return (
            f"Similarity is the share of {runs} that both programs have. Code that few programs of the set have counts"
            " more; equal names count too. Imports, comments and layout do not count."
        )
    return f"{measure.capitalize()} is the share of {runs} that both documents have, of all that either has."


def title(pairs: Pairs) -> str:
    """Return the title of the report: the number of documents not compared, if any, and the findings."""
    first = (line.partition(":")[0] for line in not_compared_words(pairs))
    return ". ".join((*first, found_words(pairs)))


def left_out(pairs: Pairs) -> list[str]:
    """Return each file or row that was not compared, with the reason; without names, the number for each reason."""
    if all(each.name for each in pairs.unread):
        return [f"{each.name}: {each.reason}" for each in pairs.unread]
    return [f"{count:,}: {reason}" for reason, count in Counter(each.reason for each in pairs.unread).most_common()]
