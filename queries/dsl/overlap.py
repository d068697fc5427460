"""Pages that share tokens with a question: `_score` is how many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from opensearch_winnow.queries.dsl.filters import Clause

# Of a query. Engines take 1,024 clauses (indices.query.bool.max_clause_count), and filters are among them.
MAX_TOKENS_PER_QUERY = 1_000


def different(tokens: str | Collection[str]) -> list[str]:
    """Tokens as a document has them, in one text, or one by one: each once."""
    return list(dict.fromkeys(tokens.split() if isinstance(tokens, str) else tokens))


def overlap(field: str, tokens: str | Collection[str], *, minimum: int = 1, filters: Sequence[Clause] = ()) -> Clause:
    """A query for the pages that have at least `minimum` of these tokens, at most MAX_TOKENS_PER_QUERY different ones.

    The field is one of `fingerprints`, `sketch` and `bands`, as the mapping has them (or wherever a mapping of your own
    has them): then `_score` is exactly the number of tokens that a page shares.
    """
    return {
        "bool": {
            "should": [{"term": {field: token}} for token in different(tokens)],
            "minimum_should_match": max(minimum, 1),
            "filter": list(filters),
        }
    }


# --- two overlaps in one query ---------------------------------------------------------------------------------------

APART = 1_024  # more than MAX_TOKENS_PER_QUERY; its square is a score that 32 bits still hold exactly


def either(one: Clause, other: Clause) -> Clause:
    """A query for the pages of either overlap, at most MAX_TOKENS_PER_QUERY in both, which is quicker than two queries.

    `_score` has both numbers: `apart` tells them. An overlap whose minimum a page does not reach adds nothing.
    """
    again = {"bool": other["bool"] | {"boost": float(APART)}}
    return {"bool": {"should": [one, again], "minimum_should_match": 1}}


def apart(scores: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """From the scores of `either`, by id, those of the one and of the other."""
    return (
        {id_: score % APART for id_, score in scores.items() if score % APART},
        {id_: score // APART for id_, score in scores.items() if score // APART},
    )


# --- more tokens than a query takes -----------------------------------------------------------------------------------


class Part(NamedTuple):
    """Some of many tokens: what one query asks for."""

    tokens: Sequence[str]
    minimum: int

    def overlap(self, field: str, filters: Sequence[Clause] = ()) -> Clause:
        """Finds the pages that this part has to find."""
        return overlap(field, self.tokens, minimum=self.minimum, filters=filters)

    def overlap_of(self, field: str, ids: Iterable[str]) -> Clause:
        """Counts the tokens of this part on pages that other parts have found."""
        return overlap(field, self.tokens, filters=[{"ids": {"values": list(ids)}}])


def parts(tokens: Sequence[str], minimum: int = 1, *, most: int = MAX_TOKENS_PER_QUERY) -> list[Part]:
    """Different tokens, as few parts of about the same size as there can be.

    A page that has `minimum` of n tokens has at least minimum · c / n of some part of c, or all of them would not come
    to the minimum. So each such page is found by a part.
    """
    count = max(ceil(len(tokens) / most), 1)
    each = [tokens[start::count] for start in range(count)]
    return [Part(some, max(-(-minimum * len(some) // len(tokens)), 1)) for some in each if some]


def uncounted(asked: Sequence[Part], found: Sequence[Mapping[str, int]], minimum: int) -> list[list[str]]:
    """For each part the ids of pages that other parts have found, and whose tokens of this part are to be counted.

    `found` has for each part what it has found: shared tokens by id.
    """
    known: dict[str, int] = {}
    may_have: dict[str, int] = {}  # in the parts that have not found it: each less than would have been enough
    rest = sum(part.minimum - 1 for part in asked)
    for part, counts in zip(asked, found, strict=True):
        for id_, shared in counts.items():
            known[id_] = known.get(id_, 0) + shared
            may_have[id_] = may_have.get(id_, rest) - (part.minimum - 1)
    worth = [id_ for id_, shared in known.items() if shared + may_have[id_] >= minimum]
    return [
        [id_ for id_ in worth if id_ not in counts] if part.minimum > 1 else []
        for part, counts in zip(asked, found, strict=True)
    ]


def put_together(found: Iterable[Mapping[str, int]], minimum: int) -> dict[str, int]:
    """The shared tokens by id, from what the parts have found and what was counted then: those with enough of them."""
    shared: dict[str, int] = {}
    for counts in found:
        for id_, count in counts.items():
            shared[id_] = shared.get(id_, 0) + count
    return {id_: count for id_, count in shared.items() if count >= minimum}
