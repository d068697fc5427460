"""Search results in groups, on versions of a manual, beside what brute force makes of the same hits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Filters
from tests.quality.measured import THRESHOLD, Asked
from tests.quality.truth import Pairs

pytestmark = pytest.mark.xdist_group("near-duplicates")

F1 = 0.999  # of pairs in one group; what is measured is 1


def titles(index: Index, where: Filters, number: int) -> list[str]:
    """One to three words in a row of the title of a page, the same each time."""
    source = Random(7)
    every = sorted({card.title for card in index.store.scan(Card, where) if card.title})
    typed: list[str] = []
    while len(typed) < number:
        words = [word for word in source.choice(every).split() if word.isalpha()]
        if words:
            start = source.randrange(len(words))
            typed.append(" ".join(words[start : start + source.randint(1, 3)]))
    return typed


def brute_force(hits: Sequence[str], truth: Pairs) -> list[list[str]]:
    """Each joins the first group whose first hit it resembles; nothing is estimated, and nothing is left out."""
    groups: list[list[str]] = []
    for url in hits:
        group = next((each for each in groups if truth.get((each[0], url), 0.0) >= THRESHOLD), None)
        if group is None:
            groups.append([url])
        else:
            group.append(url)
    return groups


def pairs(groups: Sequence[Sequence[str]]) -> set[tuple[str, ...]]:
    return {pair for group in groups for pair in combinations(sorted(group), 2)}


def test_no_two_resemble_each_other_and_no_group_is_lost(asked: Asked) -> None:
    manual = Filters(site=asked.corpus.site, latest=True)
    found = wanted = right = several = 0
    queries = titles(asked.store, manual, asked.corpus.queries)
    for typed in queries:
        hits = [hit.card.url for hit in asked.store.search(typed, where=manual, limit=10_000).hits]
        expected = brute_force(hits, asked.truth.resemblances)
        whole = asked.store.search(typed, where=manual, group=True, limit=10_000, examine=len(hits) or 1)
        groups = [[hit.card.url, *(member.url for member in hit.members)] for hit in whole.hits]
        assert sorted(url for group in groups for url in group) == sorted(hits)
        assert whole.groups == len(groups)
        found, wanted, right = (
            number + len(more)
            for number, more in (
                (found, pairs(groups)),
                (wanted, pairs(expected)),
                (right, pairs(groups) & pairs(expected)),
            )
        )
        first = asked.store.search(typed, where=manual, group=True).hits
        for one, other in combinations([hit.card.url for hit in first], 2):
            assert asked.truth.resemblances.get((one, other), 0.0) < THRESHOLD, typed
        assert [hit.card.url for hit in first] == [group[0] for group in groups[:10]]
        several += len(hits) > len(groups)
    assert several > len(queries) / 2  # there was something to do
    assert 2 * right / (found + wanted) >= F1
