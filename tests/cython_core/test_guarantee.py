"""The guarantee of winnowing: a shared run of t characters is always found, one shorter than k never."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pydoc_data.topics import topics

import pytest

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.fingerprints import SELECTIONS, fingerprints
from opensearch_winnow.cython_core.passages import passages
from tests.cython_core import reference

GUARANTEED = [selection for selection in SELECTIONS if selection != "mod-p"]
SIZES = [(1, 1), (2, 3), (5, 8), (8, 8), (10, 10), (20, 40), (20, 63), (20, 64), (50, 149), (60, 80), (12, 200)]  # k, t


@cache
def prose() -> str:
    return canonical_text(" ".join(topics.values())).chars


@cache
def rising(k: int) -> str:
    """Return a text whose k-gram hashes rise for as long as possible: the worst case for window minima."""
    source = random.Random(k)
    values = [reference.char_value(chr(0x4E00 + i)) for i in range(1_000)]
    base, shift = reference.radix(), 64 - reference.HASH_BITS
    power = pow(base, k, 2**64)
    chars = [source.randrange(1_000) for _ in range(k)]
    hash_ = reference.polynomial([values[c] for c in chars], base)
    for _ in range(700):
        rest = hash_ * base - values[chars[-k]] * power
        following = [((rest + value) & reference.WORD, i) for i, value in enumerate(values)]
        above = [pair for pair in following if pair[0] >> shift > hash_ >> shift]
        hash_, chosen = min(above or following)
        chars.append(chosen)
    return "".join(chr(0x4E00 + c) for c in chars)


# Makes a text from a random source, its length, and the k of its k-grams.
Text = Callable[[random.Random, int, int], str]


def random_letters(source: random.Random, length: int, _k: int) -> str:
    return "".join(source.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=length))


def natural(source: random.Random, length: int, _k: int) -> str:
    start = source.randrange(len(prose()) - length)
    return prose()[start : start + length]


def low_entropy(source: random.Random, length: int, _k: int) -> str:
    if source.random() < 0.5:
        return "".join(source.choices("ab", weights=(9, 1), k=length))
    period = "".join(source.choices("abc", k=source.randint(1, 5)))
    return (period * (length // len(period) + 1))[:length]


def adversarial(source: random.Random, length: int, k: int) -> str:
    start = source.randrange(max(1, len(rising(k)) - length))
    return rising(k)[start : start + length]


TEXTS: list[Text] = [random_letters, natural, low_entropy, adversarial]


def check_pairs(pairs: int, seed: int) -> None:
    source = random.Random(seed)
    for number in range(pairs):
        k, t = SIZES[number % len(SIZES)]
        w = t - k + 1
        around, inside = source.choice(TEXTS), source.choice(TEXTS)
        run = inside(source, t + source.randrange(4) * source.randrange(30), k)
        before, other_before = (around(source, source.randrange(150), k) for _ in range(2))
        a, b = (start + run + around(source, source.randrange(150), k) for start in (before, other_before))
        at, other = len(before), len(other_before)
        selection = GUARANTEED[number % 3]
        case = (seed, number, selection, k, t, a, b, run)
        ours, theirs = prints_in(a, at, len(run), k, w, selection), prints_in(b, other, len(run), k, w, selection)
        assert not ours.isdisjoint(theirs), case
        if number % 4 == 0:
            check_passage(passages(a, b, k, w), at, other, len(run), inside is random_letters and k >= 8)
        if k > 1:
            check_below_k(source, k, w, selection)


def prints_in(text: str, start: int, length: int, k: int, w: int, selection: str) -> set[int]:
    """Return the fingerprints whose k-grams lie completely in one part of the text."""
    hashes, positions = fingerprints(text, k, w, selection)
    places = range(start, start + length - k + 1)
    return {hash_ for hash_, position in zip(hashes, positions, strict=True) if position in places}


def check_passage(found: list[tuple[int, int, int, int]], at: int, other: int, length: int, unique: bool) -> None:
    """Assert that the run is found: whole if its text is unique, else at least a passage that overlaps it."""
    if unique:
        assert any(
            start <= at and at + length <= end and other_start - start == other - at
            for start, end, other_start, _ in found
        )
    else:
        assert any(start < at + length and at < end for start, end, _, _ in found)


def check_below_k(source: random.Random, k: int, w: int, selection: str) -> None:
    """Assert that two texts that share only k - 1 characters have no fingerprint and no passage in common."""
    shared = "".join(source.choices("xyz", k=k - 1))
    a = "".join(source.choices("abcdef", k=w)) + shared + "".join(source.choices("abcdef", k=w))
    b = "".join(source.choices("ghijkl", k=w)) + shared + "".join(source.choices("ghijkl", k=w))
    assert set(fingerprints(a, k, w, selection)[0]).isdisjoint(fingerprints(b, k, w, selection)[0]), (k, w, a, b)
    assert passages(a, b, k, w) == [], (k, w, a, b)


def test_a_shared_run_of_t_is_found_and_none_below_k() -> None:
    check_pairs(5_000, 0)


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(100, 140))
def test_a_million_pairs(seed: int) -> None:
    check_pairs(25_000, seed)
