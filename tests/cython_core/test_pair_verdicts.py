"""Verdicts on pairs, compared with single estimates and with RepresentativeAssignment."""

from __future__ import annotations

from array import array
from itertools import combinations
from math import nan
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.estimates import minhash_resemblance
from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.pair_representatives import PairRepresentatives
from opensearch_winnow.cython_core.pair_verdicts import ALIKE, DIFFERENT, UNCERTAIN, pair_verdicts
from opensearch_winnow.cython_core.representatives import REPRESENTATIVE, RepresentativeAssignment
from tests.cython_core.reference import Pair, pair_verdict
from tests.cython_core.signed_pages import BINS, SignedPages, families, thresholds, widths
from tests.refused import refused

VERDICTS = {DIFFERENT: "different", ALIKE: "alike", UNCERTAIN: "uncertain"}

clears = st.sampled_from([0.0, 1.0, 5.0])


class Pages(SignedPages):
    @property
    def pairs(self) -> list[Pair]:
        return list(combinations(range(len(self.shingles)), 2))

    def verdicts(self, threshold: float, clear: float = 5) -> list[tuple[float, float, int]]:
        """Return the estimate, error and verdict of every pair."""
        packed, keys = b"".join(self.minhashes), array("Q", [a << 32 | b for a, b in self.pairs])
        options: dict[str, Any] = {"threshold": threshold, "bits": self.bits, "clear": clear}
        return list(zip(*pair_verdicts(keys, packed, self.counts, BINS * self.bits // 8, **options), strict=True))


shingles = st.builds(families, st.integers(0, 2**32), st.integers(0, 12), st.just(2))
pages = st.builds(Pages, shingles, widths)


@given(pages, thresholds, clears)
def test_compiled_is_reference(pages: Pages, threshold: float, clear: float) -> None:
    minhashes, counts = pages.minhashes, pages.counts
    for (a, b), (value, error, verdict) in zip(pages.pairs, pages.verdicts(threshold, clear), strict=True):
        signatures, sizes = (minhashes[a], minhashes[b]), (counts[a], counts[b])
        expected = pair_verdict(signatures, sizes, threshold, pages.bits, clear)
        assert (value, error) == pytest.approx(expected[:2])
        if VERDICTS[verdict] != expected[2]:  # then it depends on rounding
            near = {pair_verdict(signatures, sizes, threshold + d, pages.bits, clear)[2] for d in (-1e-12, 1e-12)}
            assert VERDICTS[verdict] in near


@given(pages, thresholds)
def test_the_estimate_is_that_of_minhash_resemblance(pages: Pages, threshold: float) -> None:
    """They are equal to the last bit, after clipping to the possible range."""
    minhashes, counts = pages.minhashes, pages.counts
    for (a, b), (value, error, _) in zip(pages.pairs, pages.verdicts(threshold), strict=True):
        expected = minhash_resemblance(minhashes[a], minhashes[b], pages.bits)
        most = min(counts[a], counts[b]) / max(counts[a], counts[b], 1)
        assert (value, error) == (min(max(expected.value, 0.0), most), expected.error)


@given(st.builds(Pages, shingles, st.sampled_from([1, 2, 4, 8])), thresholds, clears)
def test_representatives_are_those_of_representative_assignment(pages: Pages, threshold: float, clear: float) -> None:
    """Both find the same representatives if estimates decide the uncertain pairs.

    MinHashes have no more bytes than RepresentativeAssignment compares first; longer ones may already differ there.
    """
    found, alike = PairRepresentatives(len(pages.shingles)), []
    for (a, b), (value, _, verdict) in zip(pages.pairs, pages.verdicts(threshold, clear), strict=True):
        if verdict == ALIKE or (verdict == UNCERTAIN and value >= threshold):
            alike.append(a << 32 | b)
    found.add(array("Q", alike))
    packed = b"".join(pages.minhashes)
    joins = RepresentativeAssignment(packed, pages.counts, 0, threshold=threshold, bits=pages.bits, clear=clear)
    known = array("Q")
    while uncertain := joins.decide(known, array("d", [nan]) * len(known), 20):
        known = array("Q", sorted([*known, *uncertain]))
    joined = enumerate(joins.representatives)
    assert found.representatives.tolist() == [page if each == REPRESENTATIVE else each for page, each in joined]


def test_equal_pages_are_alike_and_unrelated_ones_are_not() -> None:
    random = Random(5)
    one, other = (array("Q", random.randbytes(8 * 300)) for _ in range(2))
    signatures = [pack(minhash(each)) for each in (one, other, one)]
    pairs = array("Q", [0 << 32 | 2, 0 << 32 | 1])
    values, errors, verdicts = pair_verdicts(pairs, b"".join(signatures), array("I", [300] * 3), 512, threshold=0.9)
    assert verdicts.tolist() == [ALIKE, DIFFERENT]
    assert values[0] == 1
    assert 0 <= values[1] < 0.1
    assert max(errors) < 0.05


def test_sizes_alone_can_rule_out_the_threshold() -> None:
    """A page with 49 of 100 shingles cannot reach a resemblance of 0.5; one with 50 can."""
    every = array("Q", Random(1).randbytes(800))
    for kept, verdict in ((49, DIFFERENT), (50, UNCERTAIN)):
        packed = pack(minhash(every)) + pack(minhash(every[:kept]))
        assert pair_verdicts(array("Q", [1]), packed, array("I", [100, kept]), 512, threshold=0.5)[2][0] == verdict


@pytest.mark.check
def test_short_pages_need_a_larger_margin() -> None:
    random = Random(7)
    for _ in range(2_000):
        page = array("Q", random.randbytes(16))
        packed = pack(minhash(page)) + pack(minhash(page[:1]))
        assert pair_verdicts(array("Q", [1]), packed, array("I", [2, 1]), 512, threshold=0.5)[2][0] == UNCERTAIN


def test_a_size_of_which_a_multiple_overflows_is_rejected() -> None:
    """The first was read from beyond the MinHashes; the second gave a SystemError; the third took years."""
    one, no_pairs, counts = array("Q", [1]), array("Q"), array("I", [5, 5, 5, 5])
    refused(ValueError, f"4 bits, got {2**62} bytes", pair_verdicts, one, b"", counts, 2**62, threshold=0.5)
    none, most = array("I"), 2**63 - 1
    refused(ValueError, f"8 bits, got {most} bytes", pair_verdicts, no_pairs, b"", none, most, threshold=0.5, bits=8)
    assert pair_verdicts(no_pairs, b"", none, 2**59, threshold=0.5) == (array("d"), array("d"), array("B"))


def test_errors_name_what_was_expected() -> None:
    good = {"pairs": array("Q", [1]), "minhashes": bytes(16), "counts": array("I", [3, 3]), "size": 8, "threshold": 0.5}

    def verdicts(pairs: Any, minhashes: Any, counts: Any, size: int, **options: Any) -> object:
        return pair_verdicts(pairs, minhashes, counts, size, **options)

    def wrong(words: str, error: type[Exception] = ValueError, **changes: Any) -> None:
        refused(error, words, verdicts, **(good | changes))

    wrong("64-bit unsigned integers .* got list", TypeError, pairs=[1])
    for other, name in ((None, "NoneType"), ([b""], "list"), (array("I", [1]), "an array of typecode 'I'")):
        wrong(f"MinHashes as bytes, got {name}", TypeError, minhashes=other)
    wrong("32-bit unsigned integers .* got an array of typecode 'Q'", TypeError, counts=array("Q", [3, 3]))
    for size, bits in ((0, 4), (4, 4), (-8, 4), (-1, 8)):  # the last was a SystemError
        wrong(f"2 MinHashes of {size} bytes, got 16 bytes", size=size, bits=bits)
    wrong("whole bins of 16 bits, got 3 bytes", size=3, bits=16)
    wrong("1, 2, 4, 8 or 16 bits per bin, not 3", bits=3)
    for threshold in (0.0, 1.1, nan):
        wrong(f"a threshold above 0 and up to 1, got {threshold}", threshold=threshold)
    wrong("0 or more standard errors, got -1", clear=-1)
    for a, b in ((0, 2), (2, 0), (2**32 - 1, 1)):
        wrong(f"the pair {a}, {b} is not of the 2 pages", pairs=array("Q", [a << 32 | b]))
