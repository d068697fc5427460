"""What to say on a terminal when a question has no match."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.answers.nothing_found import no_match
from opensearch_winnow.answers.similar_words import matches_summary
from opensearch_winnow.cli.filter_options import chosen
from opensearch_winnow.index import Index
from opensearch_winnow.queries.matches import Matches


def no_match_lines(index: Index, question: dict[str, Any], matches: Matches) -> list[str]:
    """Say that nothing matches, why, and which options would find something."""
    why = no_match(index, question, matches, filters=chosen(question["where"]))
    offers = [": ".join(filter(None, (offer.text, _options(offer.change)))) for offer in why.offers]
    if why.reason:
        offers[:1] = ["; ".join((why.reason, *offers[:1]))]
    summary = matches_summary(0, matches.score, matches.threshold)
    return [summary, *(line[0].upper() + line[1:] for line in offers)]


def _options(change: dict[str, Any]) -> str:
    minima = {name: value for name, value in change.items() if name.startswith("min_") and value is not None}
    return " ".join(f"--{name.replace('_', '-')} {value:g}" for name, value in minima.items())
