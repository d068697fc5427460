"""The experiments of Broder and others fail when a sketch is wrong, and their theory is right."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import combinations, product
from math import comb

import pytest

from benchmarks.papers import broder_errors, broder_sketch_parts as parts, broder_super_shingles
from benchmarks.papers.broder_clusters import clusters_by_the_paper, pair_f1
from benchmarks.papers.broder_errors import share_variance
from benchmarks.papers.broder_pairs import WIDTH, Pair, contained_pairs, resembling_pairs
from benchmarks.papers.broder_super_shingles import at_least, run_probability
from benchmarks.papers.part import Part
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import mod_sketch
from opensearch_winnow.mappings.record import Record
from tests.public_pages import LUCENE, javadoc
from tests.quality.corpora import records

PERMUTATIONS = range(1, 26)


@pytest.fixture(scope="module")
def pages() -> list[Record]:
    return records(javadoc(LUCENE[0], LUCENE[2], one_in=8))


# Each experiment on pages, and wrong sketches in place of the core's.
EXPERIMENTS: dict[str, Callable[[list[Record]], Part]] = {
    "resemblance": lambda pages: parts.errors_of_resemblance(resembling_pairs(pages, 2), PERMUTATIONS),
    "containment": lambda pages: parts.errors_of_containment(contained_pairs(pages, 2), PERMUTATIONS),
    "super-shingles": lambda pages: parts.super_shingles_by_resemblance(resembling_pairs(pages, 4), PERMUTATIONS),
}
WRONG: dict[str, Callable[..., array[int]]] = {
    # Distinct shingles as a set would be without its sort.
    "in text order": lambda text, key=0: array("Q", dict.fromkeys(shingles(text, WIDTH, key))),
    "first of text": lambda page, size: page[:size],
    "largest": lambda page, size: page[-size:],
    "next modulus": lambda page, modulus: mod_sketch(page, modulus + 1),
    "double modulus": lambda page, modulus: mod_sketch(page, 2 * modulus),
    "double modulus of long pages": lambda page, modulus: mod_sketch(page, modulus * (1 + (len(page) > 2_000))),
    "unsorted": lambda page, modulus: array("Q", [value for value in page if value % modulus == 0]),
}


def outside(part: Part) -> list[str]:
    return [check.name for check in part.checks if not check.holds]


@pytest.mark.check
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_check_holds(experiment: str, pages: list[Record]) -> None:
    part = EXPERIMENTS[experiment](pages)
    assert part.checks
    assert not outside(part)


@pytest.mark.check
@pytest.mark.parametrize(
    ("experiment", "wrong", "complaint"),
    [
        ("resemblance", {"shingle_set": "in text order", "min_sketch": "first of text"}, "MIN_s, s = 100"),
        ("resemblance", {"min_sketch": "largest"}, "MIN_s, s = 100"),
        ("resemblance", {"mod_sketch": "next modulus"}, "sampled / expected, MOD_m"),
        ("containment", {"mod_sketch": "next modulus"}, "sampled / expected, containment"),
        ("containment", {"mod_sketch": "double modulus"}, "sampled / expected, containment"),
        ("containment", {"mod_sketch": "double modulus of long pages"}, "bias in standard errors, containment"),
        (
            "super-shingles",
            {"shingle_set": "in text order", "mod_sketch": "unsorted"},
            "distance from theory, 1 run of 8",
        ),
    ],
)
def test_a_wrong_sketch_is_noticed(
    experiment: str, wrong: dict[str, str], complaint: str, pages: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, function in wrong.items():
        room = broder_super_shingles if experiment == "super-shingles" else broder_errors
        monkeypatch.setattr(room, name, WRONG[function])
    assert any(complaint in name for name in outside(EXPERIMENTS[experiment](pages)))


@pytest.mark.parametrize("run", [1, 2, 4])
@pytest.mark.parametrize("r", [0.0, 0.3, 0.9, 1.0])
def test_the_probability_of_a_run_is_that_of_all_outcomes(run: int, r: float) -> None:
    outcomes = [line for line in map("".join, product("01", repeat=9)) if "1" * run in line]
    expected = sum(r ** line.count("1") * (1 - r) ** line.count("0") for line in outcomes)
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
        assert (pair.resemblance, pair.containment) == (len(a & b) / len(a | b), len(a & b) / len(a))


def test_the_papers_rule_links_pairs_whose_sketches_are_half_alike(pages: list[Record]) -> None:
    some = pages[::3]
    found = clusters_by_the_paper(some, [record.hashes.sketch for record in some])
    kept = [(record.url, set(record.hashes.sketch)) for record in some if record.url in found.kept]
    shared = {(a, b): (len(x & y), len(x | y)) for (a, x), (b, y) in combinations(sorted(kept), 2)}
    assert found.edges == {pair for pair, (both, either) in shared.items() if both and both >= either / 2}
    assert found.edges
    assert found.triplets == sum(both for both, _ in shared.values())
    assert found.merged == sum(both > 0 for both, _ in shared.values())
    assert all(found.clusters[a] == found.clusters[b] for a, b in found.edges)


def test_common_shingles_are_ignored(pages: list[Record]) -> None:
    sketches = [record.hashes.sketch for record in pages]
    assert clusters_by_the_paper(pages, sketches, 2).postings < clusters_by_the_paper(pages, sketches).postings


def test_the_f1_of_clusters() -> None:
    truth = {"a": "1", "b": "1", "c": "2", "d": "2"}
    assert pair_f1(truth, truth) == 1
    assert pair_f1({"a": "1", "b": "1", "c": "3", "d": "4"}, truth) == pytest.approx(2 / 3)
    assert pair_f1(dict.fromkeys("abcd", "1"), truth) == pytest.approx(2 * 2 / (6 + 2))
