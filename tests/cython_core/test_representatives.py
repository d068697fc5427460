from __future__ import annotations

from array import array
from math import nan
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.representatives import REPRESENTATIVE, UNDECIDED, RepresentativeAssignment
from tests.cython_core import reference
from tests.cython_core.reference import assign_representatives
from tests.cython_core.signed_pages import SignedPages, families, thresholds, widths
from tests.refused import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    Exact = Callable[[int, int], float | None]


class Pages(SignedPages):
    def joins(self, threshold: float, *, ready: int = 0, clear: float = 5) -> RepresentativeAssignment:
        packed = b"".join(self.minhashes)
        return RepresentativeAssignment(packed, self.counts, ready, threshold=threshold, bits=self.bits, clear=clear)

    def exact(self, a: int, b: int) -> float | None:
        """Return the exact resemblance, or None (unknown) for one pair in seven."""
        ours, theirs = set(self.shingles[a]), set(self.shingles[b])
        return len(ours & theirs) / len(ours | theirs) if (3 * a + b) % 7 else None


pages = st.builds(Pages, st.builds(families, st.integers(0, 2**32), st.integers(0, 16), st.just(3)), widths)


def decide_all(assignment: RepresentativeAssignment, exact: Exact, at_most: int) -> list[list[int]]:
    """Decide all pages; return the uncertain pairs of each call."""
    known: dict[int, float] = {}
    requested: list[list[int]] = []
    while True:
        resemblances = array("d", [known[pair] for pair in sorted(known)])
        uncertain = assignment.decide(array("Q", sorted(known)), resemblances, at_most).tolist()
        if not uncertain:
            return requested
        assert not known.keys() & set(uncertain)
        for pair in uncertain:
            value = exact(pair & 0xFFFFFFFF, pair >> 32)
            known[pair] = nan if value is None else value
        requested.append(uncertain)


@given(pages, thresholds, st.sampled_from([0.0, 1.0, 5.0]), st.integers(1, 20))
@example(Pages([], 4), 0.5, 5.0, 1)
@example(Pages([array("Q")] * 3, 4), 0.5, 5.0, 1)
def test_compiled_is_reference(pages: Pages, threshold: float, clear: float, at_most: int) -> None:
    assignment = pages.joins(threshold, clear=clear)
    decide_all(assignment, pages.exact, at_most)
    found = zip(assignment.representatives, assignment.resemblances, assignment.errors, strict=True)
    expected = assign_representatives(pages.minhashes, pages.counts, threshold, pages.bits, clear, pages.exact)
    for (representative, *estimate), each in zip(found, expected, strict=True):
        joined, *likeness = each or (REPRESENTATIVE, nan, nan)
        assert representative == joined
        assert estimate == pytest.approx(likeness, nan_ok=True)


@given(pages, thresholds, st.integers(1, 5))
def test_only_uncertain_pairs_are_returned(pages: Pages, threshold: float, at_most: int) -> None:
    for uncertain in decide_all(pages.joins(threshold), pages.exact, at_most):
        assert uncertain == sorted(uncertain)
        later = [pair >> 32 for pair in uncertain]
        assert all(later.count(page) <= at_most for page in later)
        for pair in uncertain:
            a, b = pair & 0xFFFFFFFF, pair >> 32
            assert a < b
            value, error = reference.minhash_resemblance(pages.minhashes[a], pages.minhashes[b], pages.bits)
            sizes = sorted((pages.counts[a], pages.counts[b]))
            assert abs(value - threshold) <= (10 if sizes[0] < 20 else 5) * error + 1e-12
            assert sizes[0] / sizes[1] >= threshold


@given(pages, thresholds, st.data())
def test_ready_representatives_stand_for_the_pages_before(pages: Pages, threshold: float, data: st.DataObject) -> None:
    """Pages after a cut join the same representatives if only the representatives before the cut are given."""
    whole = pages.joins(threshold)
    decide_all(whole, pages.exact, 3)
    cut = data.draw(st.integers(0, len(pages.shingles)))
    places = range(len(pages.shingles))
    kept = [place for place in places if place >= cut or whole.representatives[place] == REPRESENTATIVE]
    ready = sum(place < cut for place in kept)
    rest = Pages([pages.shingles[place] for place in kept], pages.bits).joins(threshold, ready=ready)
    decide_all(rest, lambda a, b: pages.exact(kept[a], kept[b]), 3)
    joined = [each if each == REPRESENTATIVE else kept[each] for each in rest.representatives]
    assert joined == [whole.representatives[place] for place in kept]


@pytest.mark.parametrize(
    ("exact", "decided"), [(0.6, [REPRESENTATIVE, 0, REPRESENTATIVE, 0]), (0.4, [REPRESENTATIVE, REPRESENTATIVE, 1, 0])]
)
def test_a_page_waits_for_an_undecided_representative(exact: float, decided: list[int]) -> None:
    """The second page is uncertain, so the third, which resembles it, waits; the fourth joins the first."""
    random = Random(5)
    first = [random.getrandbits(64) for _ in range(300)]
    second = first[:200] + [random.getrandbits(64) for _ in range(100)]
    third = second[60:] + [random.getrandbits(64) for _ in range(60)]
    packed = [pack(minhash(array("Q", each))) for each in (first, second, third, first)]
    assignment = RepresentativeAssignment(b"".join(packed), array("I", [300] * 4), 0, threshold=0.5)
    uncertain = assignment.decide(array("Q"), array("d"), 9)
    assert uncertain.tolist() == [1 << 32 | 0]
    assert assignment.representatives.tolist() == [REPRESENTATIVE, UNDECIDED, UNDECIDED, 0]
    assert not assignment.decide(uncertain, array("d", [exact]), 9)
    assert assignment.representatives.tolist() == decided


def test_sizes_at_the_threshold_are_not_ruled_out() -> None:
    """55 / 100 equals 0.55 to the last bit, although 0.55 * 100 may not be 55."""
    every = [Random(seed).getrandbits(64) for seed in range(100)]
    family = Pages([array("Q", every), array("Q", every[:55])], 4)
    assignment = family.joins(0.55)
    decide_all(assignment, lambda a, b: 0.55, 1)  # noqa: ARG005
    assert assignment.representatives.tolist() == [REPRESENTATIVE, 0]
    assert (assignment.resemblances[1], assignment.errors[1]) == (0.55, 0)


def test_short_pages_need_a_larger_margin() -> None:
    random = Random(7)
    for _ in range(2_000):
        page = array("Q", random.randbytes(16))
        packed = pack(minhash(page)) + pack(minhash(page[:1]))
        assignment = RepresentativeAssignment(packed, array("I", [2, 1]), 0, threshold=0.5)
        assert assignment.decide(array("Q"), array("d"), 1).tolist() == [1 << 32]


def test_without_minhashes_every_page_is_a_representative() -> None:
    assignment = RepresentativeAssignment(b"", array("I", [5, 5]), 0, threshold=0.5)
    assert not assignment.decide(array("Q"), array("d"), 1)
    assert assignment.representatives.tolist() == [REPRESENTATIVE, REPRESENTATIVE]


def test_errors_name_what_was_expected() -> None:
    def wrong(words: str, error: type[Exception] = ValueError, packed: object = bytes(8), **changes: Any) -> None:
        options = {"counts": array("I", [3, 3]), "ready": 0, "threshold": 0.5} | changes
        refused(error, words, RepresentativeAssignment, packed, options.pop("counts"), options.pop("ready"), **options)

    wrong("MinHashes as bytes, got list", TypeError, packed=[b"", b""])
    for other, name in ((None, "NoneType"), (array("Q", [3, 3]), "an array of typecode 'Q'")):
        wrong(f"counts as an array of typecode 'I', got {name}", TypeError, counts=other)
    wrong("2 MinHashes of equal size, got 7 bytes", packed=bytes(7))
    wrong("0 MinHashes of equal size, got 7 bytes", packed=bytes(7), counts=array("I"))
    wrong("whole bins of 16 bits, got 1 bytes", packed=bytes(2), bits=16)
    for ready in (-1, 3):
        wrong(f"0 to 2 representatives, got {ready}", ready=ready)
    for threshold in (0.0, 1.1, nan):
        wrong(f"a threshold above 0 and up to 1, got {threshold}", threshold=threshold)
    wrong("0 or more standard errors, got -1", clear=-1)
    decide = RepresentativeAssignment(bytes(8), array("I", [3, 3]), 0, threshold=0.5).decide
    none = array("d")
    refused(TypeError, r"decide\(\) expects an array of 64-bit unsigned integers .* got list", decide, [], none, 1)
    refused(TypeError, "resemblances as an array of typecode 'd', got NoneType", decide, array("Q"), None, 1)
    refused(ValueError, "a resemblance for each of 1 pairs, got 0", decide, array("Q", [1 << 32]), none, 1)
    for pairs in ([5, 4], [5, 5]):
        refused(ValueError, "in ascending order, each once", decide, array("Q", pairs), array("d", [0, 0]), 1)
    refused(ValueError, "1 pair or more, got 0", decide, array("Q"), none, 0)
