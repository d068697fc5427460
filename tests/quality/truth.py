"""Computes the exact scores of all pairs of pages, by counting every shingle that two pages share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record

Pairs = dict[tuple[str, str], float]


class Truth(NamedTuple):
    """The exact scores of pairs of URLs, in both orders, if they reach a minimum."""

    resemblances: Pairs
    containments: Pairs  # of the first page in the second


def truth_about(corpus: Sequence[Record], scheme: Scheme, min_score: float) -> Truth:
    """Compare all pairs of pages and return the scores that reach `min_score`.

    It uses all shingles, and neither a store nor candidates. Most shingles occur on exactly the same pages as others,
    so each distinct set of pages is counted once: 16,000 sets for 1.8 million shingles.
    """
    counts, on = [], defaultdict(list)
    for number, record in enumerate(corpus):
        every = distinct(shingles(canonical(record.text, scheme, name=record.url), scheme.shingle, scheme.seed))
        counts.append(len(every))
        for shingle in every:
            on[shingle].append(number)
    shared: list[Counter[int]] = [Counter() for _ in corpus]
    for pages, times in Counter(map(tuple, on.values())).items():
        for at, page in enumerate(pages):
            for other in pages[at + 1 :]:
                shared[page][other] += times
    truth = Truth({}, {})
    for page, others in enumerate(shared):
        for other, both in others.items():
            a, b = corpus[page].url, corpus[other].url
            resemblance = both / (counts[page] + counts[other] - both)
            if resemblance >= min_score:
                truth.resemblances[a, b] = truth.resemblances[b, a] = resemblance
            if both / counts[page] >= min_score:
                truth.containments[a, b] = both / counts[page]
            if both / counts[other] >= min_score:
                truth.containments[b, a] = both / counts[other]
    return truth
