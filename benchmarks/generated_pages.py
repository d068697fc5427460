"""Generates pages for stores of any size: random words, with copies among them as on the Web."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from random import Random

from opensearch_winnow.ingest.page import Page

WORDS = 50_000  # different words; the frequency of the n-th is proportional to 1/n
LENGTH = 960  # words of a page: about 100 fingerprints
PAGES_OF_A_SITE = 50  # about the mean of large crawls
TEMPLATE = 40  # words on every page of a site: one or two fingerprints
PASSAGE = 60  # words that one page in three quotes; the n-th passage has a frequency proportional to 1/n
PASSAGES = 10_000
COPIES = 10  # every tenth page is a near-duplicate of an earlier one


def generated_pages(start: int, end: int) -> Iterator[Page]:
    """Yield the pages with these numbers. They are the same in every run."""
    for number in range(start, end):
        yield Page(url(number), text=text(number))


def url(number: int) -> str:
    return f"https://site{number // PAGES_OF_A_SITE}.example/{number}"


def text(number: int) -> str:
    random = Random(number)
    own = body(random, number)
    if number % COPIES == COPIES - 1:  # the original is not a copy itself; early pages have many copies
        original = int(number * random.random() ** 2) // COPIES * COPIES
        start = random.randrange(LENGTH * 3 // 4)
        theirs = body(Random(original), original)
        theirs[start : start + LENGTH // 8] = own[: LENGTH // 8]
        own = theirs
    lines = [" ".join(own[at : at + 12]) for at in range(0, len(own), 12)]
    return "\n".join([" ".join(words(Random(f"site {number // PAGES_OF_A_SITE}"), TEMPLATE)), *lines])


def body(random: Random, number: int) -> list[str]:
    own = words(random, LENGTH)
    if number % 3 == 0:
        start = random.randrange(LENGTH - PASSAGE)
        own[start : start + PASSAGE] = passage(bisect(popularity(), random.random() * popularity()[-1]))
    return own


@cache
def popularity() -> list[float]:
    return list(accumulate(1 / rank for rank in range(1, PASSAGES + 1)))


def passage(rank: int) -> list[str]:
    return words(Random(f"passage {rank}"), PASSAGE)


def words(random: Random, count: int) -> list[str]:
    return random.choices(_pool(), k=count)


@cache
def _pool() -> list[str]:
    """Return each word as often as it is drawn: drawing without weights takes a tenth of the time."""
    random = Random("words")
    vowels, consonants = "aeiou", "bcdfghklmnprstvwz"
    pool = []
    for rank in range(1, WORDS + 1):
        syllables = 1 + (rank > 20) + (rank > 400) + (rank > 8_000)
        word = "".join(random.choice(consonants) + random.choice(vowels) for _ in range(syllables))
        pool += [word + random.choice(("", "n", "s", "r"))] * max(WORDS // rank, 1)
    return pool
