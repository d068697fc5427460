"""Pages for stores of any size: words at random, with copies among them as the Web has them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from random import Random

from opensearch_winnow.ingest.page import Page

WORDS = 50_000  # different ones, the n-th as frequent as 1/n
LENGTH = 960  # words of a page: about 100 fingerprints
PAGES_OF_A_SITE = 50  # about what large crawls have of a host
TEMPLATE = 40  # words, on every page of a site: a fingerprint or two
PASSAGE = 60  # words, that one page in three has from elsewhere: the n-th most popular one as often as 1/n
PASSAGES = 10_000
COPIES = 10  # one page in so many is a near-duplicate of an earlier one


def generated_pages(start: int, end: int) -> Iterator[Page]:
    """The pages of these numbers; the same in every run."""
    for number in range(start, end):
        yield Page(url(number), text=text(number))


def url(number: int) -> str:
    return f"https://site{number // PAGES_OF_A_SITE}.example/{number}"


def text(number: int) -> str:
    random = Random(number)
    own = body(random, number)
    if number % COPIES == COPIES - 1:  # of a page that is no copy: early ones have many
        original = int(number * random.random() ** 2) // COPIES * COPIES
        place = random.randrange(LENGTH * 3 // 4)
        theirs = body(Random(original), original)
        theirs[place : place + LENGTH // 8] = own[: LENGTH // 8]
        own = theirs
    lines = [" ".join(own[at : at + 12]) for at in range(0, len(own), 12)]
    return "\n".join([" ".join(words(Random(f"site {number // PAGES_OF_A_SITE}"), TEMPLATE)), *lines])


def body(random: Random, number: int) -> list[str]:
    own = words(random, LENGTH)
    if number % 3 == 0:
        place = random.randrange(LENGTH - PASSAGE)
        own[place : place + PASSAGE] = passage(bisect(popularity(), random.random() * popularity()[-1]))
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
    """Each word as often as a text has it, so that drawing takes no weights: that is a tenth of the time."""
    random = Random("words")
    vowels, consonants = "aeiou", "bcdfghklmnprstvwz"
    pool = []
    for rank in range(1, WORDS + 1):
        syllables = 1 + (rank > 20) + (rank > 400) + (rank > 8_000)
        word = "".join(random.choice(consonants) + random.choice(vowels) for _ in range(syllables))
        pool += [word + random.choice(("", "n", "s", "r"))] * max(WORDS // rank, 1)
    return pool
