"""The experiments of Broder and others fail when a sketch is wrong, and their theory is right."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import combinations, product
from math import comb

import pytest

from benchmarks.papers import broder_errors, broder_super_shingles
from benchmarks.papers.broder_clusters import clusters_by_the_paper, pair_f1
from benchmarks.papers.broder_errors import share_variance
from benchmarks.papers.broder_pairs import WIDTH, Pair, contained_pairs, resembling_pairs
from benchmarks.papers.broder_sketch_parts import (
    errors_of_containment,
    errors_of_resemblance,
    super_shingles_by_resemblance,
)
from benchmarks.papers.broder_super_shingles import at_least, run_probability
from benchmarks.papers.part import Part
from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import mod_sketch
from opensearch_winnow.mappings.record import Record
from tests.public_pages import LUCENE, javadoc
from tests.quality.corpora import records

PERMUTATIONS = range(1, 26)
Experiment = Callable[[list[Record]], Part]


@pytest.fixture(scope="module")
def pages() -> list[Record]:
    return records(javadoc(LUCENE[0], LUCENE[2], one_in=8))


def resemblance(pages: list[Record]) -> Part:
    return errors_of_resemblance(resembling_pairs(pages, 2), PERMUTATIONS)


def containment(pages: list[Record]) -> Part:
    return errors_of_containment(contained_pairs(pages, 2), PERMUTATIONS)


def super_shingles(pages: list[Record]) -> Part:
    return super_shingles_by_resemblance(resembling_pairs(pages, 4), PERMUTATIONS)


def outside(part: Part) -> list[str]:
    return [check.name for check in part.checks if not check.holds]


def in_text_order(text: CanonicalText, key: int = 0) -> array[int]:
    """Return distinct shingles as a set would be without its sort."""
    return array("Q", dict.fromkeys(shingles(text, WIDTH, key)))


def first_of_text(page: array[int], size: int) -> array[int]:
    return page[:size]


def largest(page: array[int], size: int) -> array[int]:
    return page[-size:]


def next_modulus(page: array[int], modulus: int) -> array[int]:
    return mod_sketch(page, modulus + 1)


def double_modulus(page: array[int], modulus: int) -> array[int]:
    return mod_sketch(page, 2 * modulus)


def filtered(page: array[int], modulus: int) -> array[int]:
    return array("Q", [value for value in page if value % modulus == 0])


@pytest.mark.check
@pytest.mark.parametrize("experiment", [resemblance, containment, super_shingles])
def test_every_check_holds(experiment: Experiment, pages: list[Record]) -> None:
    part = experiment(pages)
    assert part.checks
    assert not outside(part)


@pytest.mark.check
@pytest.mark.parametrize(
    ("experiment", "room", "wrong", "complaint"),
    [
        (resemblance, broder_errors, {"shingle_set": in_text_order, "min_sketch": first_of_text}, "MIN_s, s = 100"),
        (resemblance, broder_errors, {"min_sketch": largest}, "MIN_s, s = 100"),
        (resemblance, broder_errors, {"mod_sketch": next_modulus}, "sampled / expected, MOD_m"),
        (containment, broder_errors, {"mod_sketch": next_modulus}, "sampled / expected, containment"),
        (containment, broder_errors, {"mod_sketch": double_modulus}, "sampled / expected, containment"),
        (
            super_shingles,
            broder_super_shingles,
            {"shingle_set": in_text_order, "mod_sketch": filtered},
            "distance from theory, 1 run of 8",
        ),
    ],
)
def test_a_wrong_sketch_is_noticed(
    experiment: Experiment,
    room: object,
    wrong: dict[str, Callable[..., array[int]]],
    complaint: str,
    pages: list[Record],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, function in wrong.items():
        monkeypatch.setattr(room, name, function)
    assert any(complaint in name for name in outside(experiment(pages)))


@pytest.mark.check
def test_a_wrong_modulus_of_one_page_makes_containment_biased(
    pages: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_the_longer_page(page: array[int], modulus: int) -> array[int]:
        return mod_sketch(page, 2 * modulus if len(page) > 2_000 else modulus)

    monkeypatch.setattr(broder_errors, "mod_sketch", of_the_longer_page)
    assert any("bias in standard errors, containment" in name for name in outside(containment(pages)))


@pytest.mark.parametrize("run", [1, 2, 4])
@pytest.mark.parametrize("r", [0.0, 0.3, 0.9, 1.0])
def test_the_probability_of_a_run_is_that_of_all_outcomes(run: int, r: float) -> None:
    expected = 0.0
    for outcome in product("01", repeat=9):
        line = "".join(outcome)
        if "1" * run in line:
            expected += r ** line.count("1") * (1 - r) ** line.count("0")
    assert run_probability(9, r, run) == pytest.approx(expected, abs=1e-12)


def test_at_least_is_that_of_all_outcomes() -> None:
    expected = sum(0.2 ** sum(each) * 0.8 ** (6 - sum(each)) for each in product((0, 1), repeat=6) if sum(each) >= 2)
    assert at_least(2, 6, 0.2) == pytest.approx(expected)


@pytest.mark.parametrize(("good", "population", "sampled"), [(3, 8, 4), (1, 5, 1), (4, 4, 2), (0, 6, 3)])
def test_the_variance_is_that_of_all_samples(good: int, population: int, sampled: int) -> None:
    share = good / population
    shares = [sum(item < good for item in some) / sampled for some in combinations(range(population), sampled)]
    assert len(shares) == comb(population, sampled)
    expected = sum((each - share) ** 2 for each in shares) / len(shares)
    assert share_variance(share, sampled, population) == pytest.approx(expected)


def test_pairs_are_exact(pages: list[Record]) -> None:
    pairs: list[Pair] = resembling_pairs(pages, 1)
    assert {round(pair.resemblance, 1) for pair in pairs} >= {0.1, 0.3, 0.5, 0.7, 0.9}
    for pair in pairs:
        a, b = (set(shingles(text, WIDTH)) for text in (pair.a, pair.b))
        assert pair.resemblance == len(a & b) / len(a | b)
        assert pair.containment == len(a & b) / len(a)


def test_the_papers_rule_links_pairs_whose_sketches_are_half_alike(pages: list[Record]) -> None:
    some = pages[::3]
    sketches = [record.sketch for record in some]
    found = clusters_by_the_paper(some, sketches)
    kept = [
        (record.url, set(sketch)) for record, sketch in zip(some, sketches, strict=True) if record.url in found.kept
    ]
    shared = {(a, b): (len(x & y), len(x | y)) for (a, x), (b, y) in combinations(sorted(kept), 2)}
    assert found.edges == {pair for pair, (both, either) in shared.items() if both and both >= either / 2}
    assert found.edges
    assert found.triplets == sum(both for both, _ in shared.values())
    assert found.merged == sum(both > 0 for both, _ in shared.values())
    assert all(found.clusters[a] == found.clusters[b] for a, b in found.edges)


def test_common_shingles_are_ignored(pages: list[Record]) -> None:
    sketches = [record.sketch for record in pages]
    assert clusters_by_the_paper(pages, sketches, 2).postings < clusters_by_the_paper(pages, sketches).postings


def test_the_f1_of_clusters() -> None:
    truth = {"a": "1", "b": "1", "c": "2", "d": "2"}
    assert pair_f1(truth, truth) == 1
    assert pair_f1({"a": "1", "b": "1", "c": "3", "d": "4"}, truth) == pytest.approx(2 / 3)
    assert pair_f1(dict.fromkeys("abcd", "1"), truth) == pytest.approx(2 * 2 / (6 + 2))
