from __future__ import annotations

import json
import random
from array import array
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, fingerprint
from opensearch_winnow.cython_core.sketches import mod_sketch
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.queries.compare import compare, side
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Boilerplate, Exclusions

SMALL = Scheme(noise=6, guarantee=12, shingle=3, modulus=2)
WORDS = ["rose", "is", "a", "Rose,", "thorn", "the", "of", "crawl", "copy"]
texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
sites = st.sampled_from([None, "a.example", "b.example"])
boilerplate = st.lists(st.builds(Boilerplate, st.just("name"), texts, sites), max_size=3)


def prose(words: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices([f"word{i}" for i in range(500)], k=words))


def kgrams(chars: str) -> list[str]:
    return [chars[i : i + SMALL.k] for i in range(len(chars) - SMALL.k + 1)]


def shingles(*of: str) -> set[int]:
    return {shingle for text in of for shingle in side(text, SMALL).shingles}


@given(texts, texts, boilerplate, st.tuples(sites, sites))
def test_scores_are_those_of_the_sets_without_boilerplate(
    a: str, b: str, registered: list[Boilerplate], of: tuple[str | None, str | None]
) -> None:
    """Compute the same with sets, as the rule is written down."""
    everywhere = shingles(*(each.text for each in registered if each.site is None))
    templates = [
        shingles(*(each.text for each in registered if each.site is not None and each.site == site)) for site in of
    ]
    ours, theirs = shingles(a) - everywhere, shingles(b) - everywhere
    shared = ours & theirs
    if of[0] == of[1]:
        shared -= templates[0]
    counted, other_counted = shared | (ours - templates[0]), shared | (theirs - templates[1])
    both = compare(a, b, SMALL, boilerplate=registered, sites=of)
    assert both.resemblance == len(shared) / max(len(counted | other_counted), 1)
    assert both.containment == len(shared) / max(len(counted), 1)
    assert both.contained == len(shared) / max(len(other_counted), 1)
    assert both.left_out == (len(shingles(a)) - len(counted), len(shingles(b)) - len(other_counted))
    # What counts of sketches is the sketch of what counts.
    exclusions = Exclusions(registered, SMALL)
    whole = [side(text, SMALL).shingles for text in (a, b)]
    sketched = exclusions.evidence_of_pair(mod_sketch(whole[0], 2), mod_sketch(whole[1], 2), of)
    assert sketched == tuple(mod_sketch(each, 2) for each in exclusions.evidence_of_pair(whole[0], whole[1], of))


@given(texts, texts, texts)
def test_a_fingerprint_from_within_boilerplate_is_always_recognised(before: str, inside: str, after: str) -> None:
    text = f"{before} {inside} {after}"
    start = len(canonical(before, SMALL).chars)
    end = start + len(canonical(inside, SMALL).chars)
    exclusions = Exclusions([Boilerplate("b", f"thorn {inside.upper()}; the")], SMALL)
    prints = fingerprint(text, SMALL)
    kept = list(exclusions.evidence(array("Q", prints.hashes)))
    picked = list(zip(prints.hashes, prints.positions, strict=True))
    assert not {hash_ for hash_, place in picked if start <= place <= end - SMALL.k} & set(kept)
    grams = kgrams(canonical(f"thorn {inside} the", SMALL).chars)
    chars = canonical(text, SMALL).chars
    assert kept == [hash_ for hash_, place in picked if chars[place : place + SMALL.k] not in grams]


@given(texts, texts)
def test_what_is_sketched_of_boilerplate_is_taken_out(text: str, registered: str) -> None:
    every = side(text, SMALL).shingles
    page = Sketches(len(every), mod_sketch(every, 2), b"minhash")
    left = Exclusions([Boilerplate("b", registered)], SMALL).sketch_evidence(page)
    assert set(left.sketch) == set(page.sketch) - shingles(registered)
    assert left.minhash == (b"" if registered else b"minhash")


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_places_are_the_characters_in_a_kgram_of_boilerplate(text: str, registered: list[str]) -> None:
    chars = canonical(text, SMALL).chars
    grams = {gram for one in registered for gram in kgrams(canonical(one, SMALL).chars)}
    expected = {i + j for i, gram in enumerate(kgrams(chars)) if gram in grams for j in range(SMALL.k)}
    *everywhere, template = registered
    both = [*(Boilerplate("b", each) for each in everywhere), Boilerplate("t", template, "a.example")]
    places = Exclusions(both, SMALL).spans(chars, "a.example")
    assert {i for start, end in places for i in range(start, end)} == expected
    assert all(before[1] < after[0] for before, after in pairwise(places))


def test_a_template_is_of_its_site_only_and_may_be_of_several_texts() -> None:
    text = prose(40, 1)
    exclusions = Exclusions([Boilerplate("t", text, "a.example")])
    chars = canonical(text, Scheme()).chars
    assert exclusions.spans(chars, "a.example") == [(0, len(chars))]
    assert exclusions.spans(chars, "b.example") == exclusions.spans(chars) == []
    picked = array("Q", fingerprint(text).hashes)
    assert exclusions.evidence(picked) == picked
    one, two = prose(30, 3), prose(30, 4)
    both = [Boilerplate(name, text, "a.example") for name, text in (("one", one), ("two", two))]
    shared = compare(f"{one} x {two}", f"{two} y {one}", boilerplate=both, sites=("a.example", "a.example"))
    assert shared.resemblance == 0
    assert len(shared.boilerplate) == 2


def test_nothing_excludes_nothing() -> None:
    values = array("Q", [1, 2, 3])
    page = Sketches(3, values, b"minhash")
    assert not NO_EXCLUSIONS
    assert NO_EXCLUSIONS.evidence(values) == values
    assert NO_EXCLUSIONS.sketch_evidence(page) is page
    assert NO_EXCLUSIONS.spans("letters" * 20) == []
    assert not Exclusions([Boilerplate("no words", "…")])


def test_a_key_hides_boilerplate_too_and_names_do_not_hide_that_of_code() -> None:
    keyed, text = Scheme(key="secret"), prose(60, 2)
    registered = [Boilerplate("b", text)]
    picked = array("Q", fingerprint(text, keyed).hashes)
    assert not Exclusions(registered, keyed).evidence(picked)
    assert Exclusions(registered).evidence(picked) == picked
    assert compare(text, text, keyed, boilerplate=registered).resemblance == 0
    scheme = Scheme.preset("code")
    line = "def {0}(self, {1}):\n    while {1}[{1}.{0}] // 2 > 3:\n        yield {0}({1}, '{1}')\n"
    base, copy = ("".join(line.format(f"{a}{i}", f"{b}{i}") for i in range(9)) for a, b in ("xy", "qr"))
    both = compare(base, copy, scheme, names=("a.py", "b.py"), boilerplate=[Boilerplate("base.py", base)])
    assert (both.resemblance, both.passages, len(both.boilerplate)) == (0, [], 1)


@given(st.builds(Boilerplate, st.text(), st.text(), st.none() | st.text(), st.booleans()))
def test_goes_through_json(one: Boilerplate) -> None:
    assert Boilerplate.from_document(json.loads(json.dumps(one.as_document()))) == one


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([1], "it needs name, text, site, learned, but this is [1]"),
        ({"name": "a"}, "this is {'name': 'a'}"),
        ({"name": "a", "text": 3, "site": None, "learned": False}, "its text is 3"),
        ({"name": "a", "text": "b", "site": 0, "learned": False}, "its site is 0"),
        ({"name": "a", "text": "b", "site": None, "learned": "no"}, "its learned is 'no'"),
        ({"name": "a" * 999}, "…"),
    ],
)
def test_says_what_is_no_boilerplate(document: object, said: str) -> None:
    with pytest.raises(WinnowError) as error:
        Boilerplate.from_document(document)
    assert said in str(error.value)
    assert len(str(error.value)) < 200
