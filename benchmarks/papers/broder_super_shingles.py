"""How often two real pages share super shingles, by their resemblance, compared with theory."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import comb
from statistics import fmean

from benchmarks.papers.broder_pairs import Pair, shingle_set
from opensearch_winnow.cython_core.minhash import bands, minhash
from opensearch_winnow.cython_core.sketches import mod_sketch
from opensearch_winnow.foundation.scheme import Scheme

MODULUS = 25  # of the sketch, as in the paper
RUNS = (4, 8)  # shingles in a super shingle; the paper leaves it open
GROUPS, ROWS, ENOUGH = 6, 14, 2  # as AltaVista chose later: 2 of 6 super shingles of 14 minima each
STEPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # of resemblance


@dataclass(slots=True)
class Shared:
    """Counts comparisons, those that shared enough, and those that should have in theory."""

    compared: int = 0
    found: int = 0
    expected: float = 0.0

    def add(self, found: bool, probability: float) -> None:
        self.compared += 1
        self.found += found
        self.expected += probability

    @property
    def share(self) -> float:
        return self.found / self.compared

    @property
    def theory(self) -> float:
        return self.expected / self.compared


def super_shingles(sketch: array[int], run: int) -> set[tuple[int, ...]]:
    """Return every `run` consecutive shingles of a sketch, which is sorted."""
    return {tuple(sketch[at : at + run]) for at in range(len(sketch) - run + 1)}


@lru_cache(maxsize=100_000)
def run_probability(n: int, r: float, run: int) -> float:
    """Return the probability that n trials, each a success with probability r, have `run` successes in a row.

    The trials are the shingles of both sketches together, in order; a success is a shingle of both pages. Two pages
    share a super shingle exactly if `run` of these in a row are successes.
    """
    none = [1.0, *[0.0] * (run - 1)]  # probability of no run so far, by the successes at the end
    for _ in range(n):
        none = [sum(none) * (1 - r), *(each * r for each in none[:-1])]
    return 1 - sum(none)


def at_least(enough: int, groups: int, p: float) -> float:
    """Return the probability that `enough` or more of `groups` are equal, each with probability p."""
    return sum(comb(groups, n) * p**n * (1 - p) ** (groups - n) for n in range(enough, groups + 1))


def runs_shared(a: array[int], b: array[int], pair: Pair, run: int) -> tuple[bool, float]:
    """Compare the super shingles of the paper: runs of shingles of the sorted sketches."""
    one, two = mod_sketch(a, MODULUS), mod_sketch(b, MODULUS)
    equal = not super_shingles(one, run).isdisjoint(super_shingles(two, run))
    return equal, run_probability(len(set(one) | set(two)), pair.resemblance, run)


def groups_shared(a: array[int], b: array[int], pair: Pair) -> tuple[bool, float]:
    """Compare 6 super shingles, each a hash of 14 minima."""
    one, two = (bands(minhash(page, GROUPS * ROWS), GROUPS, ROWS) for page in (a, b))
    equal = sum(x == y for x, y in zip(one, two, strict=True))
    return equal >= ENOUGH, at_least(ENOUGH, GROUPS, pair.resemblance**ROWS)


def bands_shared(a: array[int], b: array[int], pair: Pair, scheme: Scheme = Scheme()) -> tuple[bool, float]:
    """Compare the bands by which this software finds candidates."""
    one, two = (bands(minhash(page, scheme.bins), scheme.bands, scheme.rows) for page in (a, b))
    return not set(one).isdisjoint(two), at_least(1, scheme.bands, pair.resemblance**scheme.rows)


Rule = Callable[["array[int]", "array[int]", Pair], tuple[bool, float]]
RULES: dict[str, Rule] = {
    **{f"1 run of {run} shingles": partial(runs_shared, run=run) for run in RUNS},
    f"{ENOUGH} of {GROUPS} super shingles of {ROWS}": groups_shared,
    f"1 of {Scheme().bands} bands of {Scheme().rows}": bands_shared,
}


def step_of(resemblance: float) -> float:
    return max(step for step in STEPS if step <= resemblance)


def shared_by_resemblance(pairs: Sequence[Pair], permutations: Iterable[int]) -> dict[str, dict[float, Shared]]:
    """Count, for each rule and step of resemblance, the comparisons that share enough."""
    counted: dict[str, dict[float, Shared]] = {rule: defaultdict(Shared) for rule in RULES}
    for key in permutations:
        for pair in pairs:
            a, b = shingle_set(pair.a, key), shingle_set(pair.b, key)
            for name, rule in RULES.items():
                counted[name][step_of(pair.resemblance)].add(*rule(a, b, pair))
    return counted


def mean_resemblances(pairs: Sequence[Pair]) -> dict[float, float]:
    """Return the mean resemblance of the pairs in each step."""
    by_step: dict[float, list[float]] = defaultdict(list)
    for pair in pairs:
        by_step[step_of(pair.resemblance)].append(pair.resemblance)
    return {step: fmean(by_step[step]) for step in sorted(by_step)}


def shared_of(rule: Rule, pairs: Sequence[Pair], permutations: Iterable[int]) -> Shared:
    """Count the comparisons of all pairs that share enough by one rule."""
    counted = Shared()
    for key in permutations:
        for pair in pairs:
            counted.add(*rule(shingle_set(pair.a, key), shingle_set(pair.b, key), pair))
    return counted
