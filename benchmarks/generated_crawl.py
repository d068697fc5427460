"""Generates a crawl of any size for clustering: families of copies, most of them small, and single pages."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import accumulate
from random import Random

from benchmarks.generated_pages import PAGES_OF_A_SITE, TEMPLATE, passage, popularity, words
from opensearch_winnow.ingest.page import Page

MEDIAN = 350  # words of a page; the mean is 1.5 times that
SIGMA = 0.9  # standard deviation of the logarithm of the length
MIN_WORDS, MAX_WORDS = 20, 20_000
IN_FAMILIES = 0.4  # share of the pages, as many as Broder et al. found in clusters
FAMILIES = 60_000  # the n-th has a weight of 1 / (n + HEAD); the largest has about 4,600 of a million pages
HEAD = 10
MIRRORED = 0.25  # share of a family that is copied word for word
MAX_EDITED = 0.7  # share of a copy that is edited; most are edited far less
QUOTING = 0.3  # share of the single pages that quote a popular passage
START = datetime(2026, 1, 1, tzinfo=UTC)


def generated_crawl(start: int, end: int) -> Iterator[Page]:
    """Yield the pages with these numbers, one fetched every second. They are the same in every run."""
    for number in range(start, end):
        random = Random(number)
        yield Page(
            f"https://site{number // PAGES_OF_A_SITE}.example/{number}",
            text=_text(number, random),
            fetched_at=START + timedelta(seconds=number),
        )


def _text(number: int, random: Random) -> str:
    if random.random() >= IN_FAMILIES:
        own = words(random, _length(random))
        if random.random() < QUOTING:
            start = random.randrange(len(own))
            own[start:start] = passage(bisect(popularity(), random.random() * popularity()[-1]))
    else:
        theirs = _original(bisect(_shares(), random.random() * _shares()[-1]))
        if random.random() < MIRRORED:
            return _lines(theirs)
        edited = int(len(theirs) * MAX_EDITED * random.random() ** 2)
        start = random.randrange(len(theirs) - edited + 1)
        own = [*theirs[:start], *words(random, edited), *theirs[start + edited :]]
    return _lines(words(Random(f"site {number // PAGES_OF_A_SITE}"), TEMPLATE)) + "\n" + _lines(own)


def _length(random: Random) -> int:
    return min(max(int(MEDIAN * random.lognormvariate(0, SIGMA)), MIN_WORDS), MAX_WORDS)


@lru_cache(maxsize=20_000)
def _original(family: int) -> tuple[str, ...]:
    random = Random(f"family {family}")
    return tuple(words(random, _length(random)))


@cache
def _shares() -> list[float]:
    return list(accumulate(1 / (rank + HEAD) for rank in range(FAMILIES)))


def _lines(own: list[str] | tuple[str, ...]) -> str:
    return "\n".join(" ".join(own[at : at + 12]) for at in range(0, len(own), 12))
