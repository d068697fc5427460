"""A crawl for clusters of any size: families of copies, most of them small and a few huge, among pages of their own."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import accumulate
from random import Random

from benchmarks.generated_pages import PAGES_OF_A_SITE, TEMPLATE, passage, popularity, words
from opensearch_winnow.ingest.page import Page

MEDIAN = 350  # words of a page; the mean is half as much again
SPREAD = 0.9  # of the logarithm of the length
SHORTEST, LONGEST = 20, 20_000
IN_FAMILIES = 0.4  # of the pages: as many as Broder and others found in clusters
FAMILIES = 60_000  # the n-th has a share of 1 / (n + HEAD): of a million pages the largest has some 4,600
HEAD = 10
MIRRORED = 0.25  # of a family: word by word
MOST_EDITED = 0.7  # of a page; few of them are edited so much
QUOTING = 0.3  # of the pages: a popular passage
START = datetime(2026, 1, 1, tzinfo=UTC)


def generated_crawl(start: int, end: int) -> Iterator[Page]:
    """The pages of these numbers, the same in every run; fetched one a second."""
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
            place = random.randrange(len(own))
            own[place:place] = passage(bisect(popularity(), random.random() * popularity()[-1]))
    else:
        theirs = _original(bisect(_shares(), random.random() * _shares()[-1]))
        if random.random() < MIRRORED:
            return _lines(theirs)
        edited = int(len(theirs) * MOST_EDITED * random.random() ** 2)
        place = random.randrange(len(theirs) - edited + 1)
        own = [*theirs[:place], *words(random, edited), *theirs[place + edited :]]
    return _lines(words(Random(f"site {number // PAGES_OF_A_SITE}"), TEMPLATE)) + "\n" + _lines(own)


def _length(random: Random) -> int:
    return min(max(int(MEDIAN * random.lognormvariate(0, SPREAD)), SHORTEST), LONGEST)


@lru_cache(maxsize=20_000)
def _original(family: int) -> tuple[str, ...]:
    random = Random(f"family {family}")
    return tuple(words(random, _length(random)))


@cache
def _shares() -> list[float]:
    return list(accumulate(1 / (rank + HEAD) for rank in range(FAMILIES)))


def _lines(own: list[str] | tuple[str, ...]) -> str:
    return "\n".join(" ".join(own[at : at + 12]) for at in range(0, len(own), 12))
