"""Groups of search results on versions of a manual, compared with the groups that brute force makes of the hits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Filters
from tests.quality.measured import THRESHOLD, CorpusStore
from tests.quality.truth import Pairs

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("near-duplicates")]

F1 = 0.999  # lowest F1 of pairs in one group; measured: 1


def title_queries(index: Index, where: Filters, number: int) -> list[str]:
    """Return queries of one to three consecutive words from titles of pages, the same in each run."""
    source = Random(7)
    titles = sorted({card.title for card in index.store.scan(Card, where) if card.title})
    queries: list[str] = []
    while len(queries) < number:
        words = [word for word in source.choice(titles).split() if word.isalpha()]
        if words:
            start = source.randrange(len(words))
            queries.append(" ".join(words[start : start + source.randint(1, 3)]))
    return queries


def brute_force(hits: Sequence[str], truth: Pairs) -> list[list[str]]:
    """Put each hit into the first group whose first hit it resembles, by exact scores, leaving none out."""
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


def test_no_two_representatives_resemble_each_other_and_no_group_is_lost(corpus_store: CorpusStore) -> None:
    manual = Filters(site=corpus_store.corpus.site, latest=True)
    found = wanted = right = several = 0
    queries = title_queries(corpus_store.index, manual, corpus_store.corpus.queries)
    for typed in queries:
        hits = [hit.card.url for hit in corpus_store.index.search(typed, where=manual, limit=10_000).hits]
        expected = brute_force(hits, corpus_store.truth.resemblances)
        whole = corpus_store.index.search(typed, where=manual, group=True, limit=10_000, examine=len(hits) or 1)
        groups = [[hit.card.url, *(member.url for member in hit.members)] for hit in whole.hits]
        assert sorted(url for group in groups for url in group) == sorted(hits)
        assert whole.groups == len(groups)
        ours, theirs = pairs(groups), pairs(expected)
        found, wanted, right = found + len(ours), wanted + len(theirs), right + len(ours & theirs)
        first = corpus_store.index.search(typed, where=manual, group=True).hits
        for one, other in combinations([hit.card.url for hit in first], 2):
            assert corpus_store.truth.resemblances.get((one, other), 0.0) < THRESHOLD, typed
        assert [hit.card.url for hit in first] == [group[0] for group in groups[:10]]
        several += len(hits) > len(groups)
    assert several > len(queries) / 2  # most queries have groups of several pages
    assert 2 * right / (found + wanted) >= F1
