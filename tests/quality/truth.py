"""The truth about pairs of pages, by counting every shingle that two of them share."""

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
    """The exact scores of pairs of URLs, in both orders, from a least score on."""

    resemblances: Pairs
    containments: Pairs  # of the first in the second


def truth_about(corpus: Sequence[Record], scheme: Scheme, least: float) -> Truth:
    """Compare all pairs of pages, and keep the scores of at least `least`.

    Nothing of the store or of its candidates is used, and no shingle is left out. Most come together with others on the
    very same pages, so that what is counted are sets of pages: 16,000 for 1.8 million shingles.
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
    found = Truth({}, {})
    for page, others in enumerate(shared):
        for other, both in others.items():
            a, b = corpus[page].url, corpus[other].url
            resemblance = both / (counts[page] + counts[other] - both)
            if resemblance >= least:
                found.resemblances[a, b] = found.resemblances[b, a] = resemblance
            if both / counts[page] >= least:
                found.containments[a, b] = both / counts[page]
            if both / counts[other] >= least:
                found.containments[b, a] = both / counts[other]
    return found
