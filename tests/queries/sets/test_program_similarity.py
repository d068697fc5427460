"""The similarity of programs: rarity counts, the order of files does not, and names are a second opinion."""

from __future__ import annotations

import re
from itertools import pairwise, product

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.foundation.scheme import PRESETS
from opensearch_winnow.queries.sets.pair_finder import find_pairs
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile
from opensearch_winnow.queries.sets.program_similarity import idf_weights

LINES = ["a = b + c", "if a < b: c()", "for i in x: y -= i", "return a * b", "while a: b += 1", "a[b] = c(a, b)"]
LINES.append("d = -a")
programs = st.lists(st.lists(st.sampled_from(LINES), min_size=3, max_size=15).map("\n".join), min_size=2, max_size=5)
TEMPLATE = "\n".join(f"for a{n} in b:\n    c[a{n}] = d(a{n}) {sign} {n}" for n, sign in enumerate("+-*/%"))


def similarities(texts: list[str]) -> dict[frozenset[str], float]:
    documents = [Document(str(n), (DocumentFile(f"{n}.py", text),)) for n, text in enumerate(texts)]
    return {frozenset((pair.a, pair.b)): pair.similarity for pair in find_pairs(documents, PRESETS["programs"]).pairs}


@given(programs)
def test_similarities_are_shares_and_a_copy_has_1(texts: list[str]) -> None:
    found = similarities([*texts, texts[0]])
    assert all(0 <= each <= 1 for each in found.values())
    assert found[frozenset(("0", str(len(texts))))] == pytest.approx(1)


@pytest.mark.check
@given(programs, st.data())
def test_the_order_of_the_programs_does_not_count(texts: list[str], data: st.DataObject) -> None:
    documents = [Document(str(n), (DocumentFile(f"{n}.py", text),)) for n, text in enumerate(texts)]
    orders = documents, data.draw(st.permutations(documents))
    one, other = (find_pairs(order, PRESETS["programs"], min_score=0).pairs for order in orders)
    scores = [{frozenset((pair.a, pair.b)): round(pair.similarity, 9) for pair in pairs} for pairs in (one, other)]
    assert scores[0] == scores[1]


def test_what_all_share_weighs_little() -> None:
    signs = list(product("+-*/%&|^", repeat=2))
    own = ["\n".join(f"x = y {a} (z {b} y) {b} {n}" for a, b in signs[n::8] * 2) + f"\nf{n}()" for n in range(8)]
    texts = [TEMPLATE + "\n" + each for each in own]
    alone = similarities(texts[:2])[frozenset("01")]
    assert similarities(texts)[frozenset("01")] < alone


def test_rarer_shingles_weigh_more_but_two_programs_are_weighted_alike() -> None:
    assert list(idf_weights(2, 2)) == [1, 1, 1]
    weights = list(idf_weights(30, 30))
    assert weights[1] == weights[2] == 1
    assert all(a > b > 0 for a, b in pairwise(weights[2:]))


def test_names_are_a_second_opinion() -> None:
    """A statement between every two of a copy leaves little structure, but it has the names of the original."""
    signs = list(product("+-*/%&|^", repeat=2))
    lines = [f"total_{n} = price_{n} {a} amount_{n} {b} total_{n} {a} {n}" for n, (a, b) in enumerate(signs)]
    kept = "\n".join(f"{line}\npass" for line in lines)
    renamed = re.sub(r"([a-z]+)_", r"\1x", kept)
    original = "\n".join(lines)
    assert similarities([original, kept])[frozenset("01")] > similarities([original, renamed])[frozenset("01")]
