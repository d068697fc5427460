"""The errors of estimates from sketches of many sizes, on real pages, compared with theory."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from benchmarks.papers.broder_pairs import Pair, shingle_set
from opensearch_winnow.cython_core.estimates import (
    min_resemblance,
    minhash_resemblance,
    mod_containment,
    mod_resemblance,
)
from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.sketches import min_sketch, mod_sketch, sketch_scale

SHINGLE_BYTES = 5  # 40 bits, as the paper stores a shingle; ours have 64, which makes no difference to the error
MIN_SIZES = (25, 50, 100, 200, 400)
MODULI = (100, 50, 25, 10, 5)
SHIFTS = (2, 1, 0, -1)  # of the i of V_i: 1 has the 50 to 100 shingles that the paper names
BINS = (128, 256, 512, 1024, 2048)
BITS = 4  # of a bin

Key = tuple[str, int]  # method, parameter


class Sample(NamedTuple):
    """One estimate of one pair, with one permutation."""

    error: float
    variance: float  # in theory, for the number of shingles that the sketches have
    sampled: int  # shingles, or bins
    size: float  # of a page's sketch, in bytes


@dataclass(slots=True)
class Samples:
    """The estimates of one kind of sketch, by permutation."""

    by_permutation: dict[int, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    empty: int = 0  # estimates that could not be made, since the sketch was empty

    def all(self) -> Iterator[Sample]:
        for some in self.by_permutation.values():
            yield from some

    @property
    def count(self) -> int:
        return sum(map(len, self.by_permutation.values()))

    @property
    def rms(self) -> float:
        return sqrt(fmean(sample.error**2 for sample in self.all()))

    @property
    def theory(self) -> float:
        """The root mean square error that follows from the number of shingles sampled."""
        return sqrt(fmean(sample.variance for sample in self.all()))

    @property
    def sampled(self) -> float:
        return fmean(sample.sampled for sample in self.all())

    @property
    def size(self) -> float:
        return fmean(sample.size for sample in self.all())

    @property
    def bias(self) -> float:
        return fmean(sample.error for sample in self.all())

    @property
    def bias_in_errors(self) -> float:
        """The bias in standard errors of the mean. Estimates with one permutation are not independent of each other."""
        means = [fmean(sample.error for sample in some) for some in self.by_permutation.values()]
        error = stdev(means) / sqrt(len(means))
        return fmean(means) / error if error else 0.0


def share_variance(share: float, sampled: int, population: int) -> float:
    """The variance of a share in a sample without replacement, which is hypergeometric."""
    if population < 2:
        return 0.0
    return share * (1 - share) / sampled * (population - sampled) / (population - 1)


def bins_variance(resemblance: float, bins: int) -> float:
    """The variance of a MinHash with independent bins, of which unequal ones agree with probability 2**-BITS."""
    chance = 2.0**-BITS
    equal = resemblance + (1 - resemblance) * chance
    return equal * (1 - equal) / bins / (1 - chance) ** 2


def resemblance_errors(pairs: Sequence[Pair], permutations: Iterable[int]) -> dict[Key, Samples]:
    """Estimate the resemblance of all pairs with sketches of every kind and size, once for each permutation."""
    made: dict[Key, Samples] = defaultdict(Samples)
    for key in permutations:
        for pair in pairs:
            a, b = shingle_set(pair.a, key), shingle_set(pair.b, key)
            for s in MIN_SIZES:
                one, two = min_sketch(a, s), min_sketch(b, s)
                error = min_resemblance(one, two, s).value - pair.resemblance
                sampled = min(s, pair.union)
                variance = share_variance(pair.resemblance, sampled, pair.union)
                sample = Sample(error, variance, sampled, SHINGLE_BYTES * (len(one) + len(two)) / 2)
                made["MIN_s", s].by_permutation[key].append(sample)
            for m in MODULI:
                _add(made["MOD_m", m], key, pair, mod_sketch(a, m), mod_sketch(b, m), m)
            for shift in SHIFTS:
                one, two, m = scaled(a, b, shift)
                _add(made["V_i", shift], key, pair, one, two, m)
            for bins in BINS:
                error = minhash_resemblance(packed(a, bins), packed(b, bins), BITS).value - pair.resemblance
                sample = Sample(error, bins_variance(pair.resemblance, bins), bins, bins * BITS / 8)
                made["MinHash", bins].by_permutation[key].append(sample)
    return made


def containment_errors(
    pairs: Sequence[Pair],
    permutations: Iterable[int],
    moduli: Sequence[int] = MODULI,
    shifts: Sequence[int] = SHIFTS,
) -> dict[Key, Samples]:
    """Estimate the containment of all pairs with MOD_m and V_i, once for each permutation."""
    made: dict[Key, Samples] = defaultdict(Samples)
    for key in permutations:
        for pair in pairs:
            a, b = shingle_set(pair.a, key), shingle_set(pair.b, key)
            for m in moduli:
                _add(made["MOD_m", m], key, pair, mod_sketch(a, m), mod_sketch(b, m), m, containment=True)
            for shift in shifts:
                one, two, m = scaled(a, b, shift)
                _add(made["V_i", shift], key, pair, one, two, m, containment=True)
    return made


def scaled(a: array[int], b: array[int], shift: int = 0) -> tuple[array[int], array[int], int]:
    """Return V_i of two pages, each at its own scale, and the modulus of the larger one, at which they are compared."""
    moduli = [2 ** max(sketch_scale(len(page)) + shift, 0) for page in (a, b)]
    return mod_sketch(a, moduli[0]), mod_sketch(b, moduli[1]), max(moduli)


def packed(page: array[int], bins: int) -> bytes:
    return pack(minhash(page, bins), BITS)


def _add(
    samples: Samples, key: int, pair: Pair, a: array[int], b: array[int], modulus: int, *, containment: bool = False
) -> None:
    """Add the estimate of one pair from two MOD_m sketches, if there is one."""
    kept_a, kept_b = ({value for value in sketch if value % modulus == 0} for sketch in (a, b))
    sampled = len(kept_a) if containment else len(kept_a | kept_b)
    if not sampled:
        samples.empty += 1
        return
    if containment:
        error = mod_containment(a, b, modulus).value - pair.containment
        variance = share_variance(pair.containment, sampled, pair.count_a)
    else:
        error = mod_resemblance(a, b, modulus).value - pair.resemblance
        variance = share_variance(pair.resemblance, sampled, pair.union)
    samples.by_permutation[key].append(Sample(error, variance, sampled, SHINGLE_BYTES * (len(a) + len(b)) / 2))


def estimates_of_copies(pairs: Sequence[Pair]) -> list[float]:
    """Compare pages with themselves: all estimates have to be 1."""
    found = []
    for pair in pairs:
        page = shingle_set(pair.a)
        one, two, m = scaled(page, page)
        found += [min_resemblance(min_sketch(page, s), min_sketch(page, s), s).value for s in MIN_SIZES]
        found += [mod_resemblance(one, two, m).value, mod_containment(one, two, m).value]
        found += [minhash_resemblance(packed(page, bins), packed(page, bins), BITS).value for bins in BINS]
    return found
