"""Sentences of the report: what was found, and what the numbers mean."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.pairs import Measure, Pair, Pairs


def value(pair: Pair, measure: Measure) -> float:
    """Return the number that pairs are ranked by: a share, or with the measure longest a number of words."""
    if measure == "containment":
        return max(pair.containment, pair.contained)
    return {"similarity": pair.similarity, "resemblance": pair.resemblance, "longest": pair.longest}[measure]


def unit(scheme: Scheme) -> str:
    return "token" if scheme.form == "code" else "word"


def findings_sentence(pairs: Pairs, scheme: Scheme) -> str:
    """Say how many pairs were found, as a sentence without its full stop."""
    found = max(pairs.total, len(pairs.pairs))
    documents = count_of(len(pairs.documents), "document")
    number = count_of(found, "pair") if found else "No pair"
    verb = "has" if found <= 1 else "have"
    if pairs.measure == "longest":
        return f"{number} of {documents} {verb} a passage of {count_of(round(pairs.threshold), unit(scheme))} in common"
    if not pairs.threshold:
        return f"{number} of {documents} {verb} text in common"
    return f"{number} of {documents} {verb} a {pairs.measure} of {percent(pairs.threshold)} or more"


def measure_sentence(measure: Measure, scheme: Scheme) -> str:
    """Say what the number means that pairs are ranked by."""
    runs = f"runs of {count_of(scheme.shingle, unit(scheme))}"
    if measure == "longest":
        return f"Pairs are ranked by their longest shared passage, in {unit(scheme)}s."
    if measure == "containment":
        return f"Containment is the share of one document's {runs} that the other has too: the larger of both numbers."
    return f"{measure.capitalize()} is the share of {runs} that both documents have, of all that either has."
