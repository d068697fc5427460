"""Builds queries for the pages that share tokens with a question; `_score` is the number of shared tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from opensearch_winnow.queries.dsl.filters import Clause

# Engines accept 1,024 clauses (indices.query.bool.max_clause_count), including the filters.
MAX_TOKENS_PER_QUERY = 1_000


def distinct_tokens(tokens: str | Collection[str]) -> list[str]:
    """Return the distinct tokens of a collection, or of a string in which spaces separate them, as in a document."""
    return list(dict.fromkeys(tokens.split() if isinstance(tokens, str) else tokens))


def overlap(field: str, tokens: str | Collection[str], *, minimum: int = 1, filters: Sequence[Clause] = ()) -> Clause:
    """Return a query for the pages with at least `minimum` of up to MAX_TOKENS_PER_QUERY distinct tokens.

    The `field` is `fingerprints`, `sketch` or `bands`, or a field of your own with the same mapping. Then `_score` is
    exactly the number of tokens that a page shares.
    """
    return {
        "bool": {
            "should": [{"term": {field: token}} for token in distinct_tokens(tokens)],
            "minimum_should_match": max(minimum, 1),
            "filter": list(filters),
        }
    }


# --- two overlaps in one query ---------------------------------------------------------------------------------------

SCORE_BASE = 1_024  # above MAX_TOKENS_PER_QUERY; a 32-bit float still represents scores up to its square exactly


def either(one: Clause, other: Clause) -> Clause:
    """Return one query for the pages of either overlap, which is quicker than two queries.

    The two have at most MAX_TOKENS_PER_QUERY tokens together. `_score` encodes both counts, and `split_scores` decodes
    them. An overlap whose minimum a page does not reach adds nothing to its score.
    """
    boosted = {"bool": other["bool"] | {"boost": float(SCORE_BASE)}}
    return {"bool": {"should": [one, boosted], "minimum_should_match": 1}}


def split_scores(scores: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the shared tokens by id of the one and of the other overlap, from the scores of `either`."""
    return (
        {id_: score % SCORE_BASE for id_, score in scores.items() if score % SCORE_BASE},
        {id_: score // SCORE_BASE for id_, score in scores.items() if score // SCORE_BASE},
    )


# --- more tokens than a query accepts ---------------------------------------------------------------------------------


class QuestionPart(NamedTuple):
    """A part of the tokens of a question, small enough for one query."""

    tokens: Sequence[str]
    minimum: int

    def overlap(self, field: str, filters: Sequence[Clause] = ()) -> Clause:
        """Return the query for the pages with at least `minimum` tokens of this part."""
        return overlap(field, self.tokens, minimum=self.minimum, filters=filters)

    def overlap_of(self, field: str, pages: Clause) -> Clause:
        """Return the query that counts the tokens of this part on `pages`, which other parts have found."""
        return overlap(field, self.tokens, filters=[pages])


def overlap_parts(
    tokens: Sequence[str], minimum: int = 1, *, max_tokens: int = MAX_TOKENS_PER_QUERY
) -> list[QuestionPart]:
    """Split distinct tokens into as few parts as possible, of about the same size.

    Every page with at least `minimum` of all n tokens is found by some part: if it had fewer than minimum · c / n
    tokens of each part of c tokens, it would have fewer than `minimum` in all.
    """
    count = max(ceil(len(tokens) / max_tokens), 1)
    slices = [tokens[start::count] for start in range(count)]
    return [QuestionPart(some, max(-(-minimum * len(some) // len(tokens)), 1)) for some in slices if some]


def uncounted(
    question_parts: Sequence[QuestionPart], found: Sequence[Mapping[str, int]], minimum: int
) -> list[list[str]]:
    """Return for each part the ids of pages whose tokens of this part still have to be counted.

    These are pages that other parts have found and that may reach `minimum` in all. `found` has, for each part, the
    shared tokens by id of the pages that it has found.
    """
    known: dict[str, int] = {}
    # At most this many in the parts that have not found the page: in each, one less than its minimum.
    may_have: dict[str, int] = {}
    rest = sum(part.minimum - 1 for part in question_parts)
    for part, counts in zip(question_parts, found, strict=True):
        for id_, shared in counts.items():
            known[id_] = known.get(id_, 0) + shared
            may_have[id_] = may_have.get(id_, rest) - (part.minimum - 1)
    promising = [id_ for id_, shared in known.items() if shared + may_have[id_] >= minimum]
    return [
        [id_ for id_ in promising if id_ not in counts] if part.minimum > 1 else []
        for part, counts in zip(question_parts, found, strict=True)
    ]


def put_together(found: Iterable[Mapping[str, int]], minimum: int) -> dict[str, int]:
    """Add up the shared tokens by id of all parts, and return the pages with at least `minimum`."""
    shared: dict[str, int] = {}
    for counts in found:
        for id_, count in counts.items():
            shared[id_] = shared.get(id_, 0) + count
    return {id_: count for id_, count in shared.items() if count >= minimum}
