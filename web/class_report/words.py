"""What the numbers of the report mean, in words."""

from __future__ import annotations

from collections import Counter

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.answers.pairs_words import compared_words, found_words, unit
from opensearch_winnow.queries.pairs import Measure, Pair, Pairs
from opensearch_winnow.queries.prepared_document import MAX_WINDOW

__all__ = [
    "always_found",
    "compared_words",
    "empty_submissions",
    "found_words",
    "length",
    "measure_sentence",
    "unread_files",
    "value",
]

MAX_NAMED = 10  # files that were not compared


def value(pair: Pair, measure: Measure) -> float:
    """Return the number that pairs are ranked by: a share, or with the measure longest a number of words."""
    if measure == "containment":
        return max(pair.containment, pair.contained)
    return {"similarity": pair.similarity, "resemblance": pair.resemblance, "longest": pair.longest}[measure]


def length(words: int, pairs: Pairs) -> str:
    """Return the length of a passage with its unit."""
    return count_of(words, unit(pairs).removesuffix("s"))


def always_found(pairs: Pairs) -> int:
    """Return the length from which every passage is found, in canonical characters."""
    return pairs.parameters.noise + min(pairs.parameters.w, MAX_WINDOW) - 1


def measure_sentence(measure: Measure, pairs: Pairs) -> str:
    """Say what the number means that pairs are ranked by."""
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


def unread_files(pairs: Pairs) -> str:
    """Say which files or rows were not compared, and why; without names, how many."""
    if not all(each.name for each in pairs.unread):
        reasons = Counter(each.reason for each in pairs.unread).most_common()
        return "; ".join(f"{count:,}: {reason}" for reason, count in reasons)
    named = [f"{each.name}: {each.reason}" for each in pairs.unread[:MAX_NAMED]]
    more = len(pairs.unread) - len(named)
    return "; ".join((*named, f"and {more:,} more") if more else named)


def empty_submissions(pairs: Pairs) -> str:
    """Name the submissions of which no file was compared."""
    if not pairs.folders:
        return ""
    compared = {each.id.partition("/")[0] for each in pairs.documents}
    found = dict.fromkeys(
        each.name.partition("/")[0] for each in pairs.unread if "/" in each.name and not each.name.startswith("/")
    )
    empty = [name for name in found if name not in compared and not name.endswith(":")]
    more = len(empty) - MAX_NAMED
    return ", ".join(empty[:MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")
