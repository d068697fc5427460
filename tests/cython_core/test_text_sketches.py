"""The sketches of many texts at once are those of the functions for one text."""

from __future__ import annotations

from array import array

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct, mod_sketch
from opensearch_winnow.cython_core.text_sketches import TextSketches
from tests.refused import refused

CHOICES = {"width": 3, "key": 0, "modulus": 3, "bins": 64, "bits": 4, "bands": 8, "rows": 2}
WORDS = st.lists(st.sampled_from(["a", "bb", "ccc", "é", "日本", "😀", "."]), max_size=60).map(" ".join)


@given(
    st.lists(WORDS | st.text(max_size=200), max_size=8),
    st.sampled_from([0, 2**64 - 1]),
    st.sampled_from([1, 2, 25, 2**32]),
    st.sampled_from([(64, 4), (24, 1), (7, 16), (1024, 8)]),
)
def test_same_as_one_by_one(texts: list[str], key: int, modulus: int, signature: tuple[int, int]) -> None:
    bins, bits = signature
    canons = [canonical_text(text) for text in texts]
    found = TextSketches(canons, width=3, key=key, modulus=modulus, bins=bins, bits=bits, bands=3, rows=2)
    sets = [distinct(shingles(canon, 3, key)) for canon in canons]
    sketches = [mod_sketch(each, modulus) for each in sets]
    signatures = [minhash(each, bins) for each in sets]
    assert found.shingle_counts == array("I", map(len, sets))
    assert found.shingles == sum(sets, array("Q"))
    assert found.sketch_counts == array("I", map(len, sketches))
    assert found.sketch == sum(sketches, array("Q"))
    assert found.minhash == b"".join(pack(each, bits) for each in signatures)
    assert found.bands == sum((bands(each, 3, 2) for each in signatures), array("Q"))


def test_what_cannot_be_is_refused() -> None:
    for wrong in ({"width": 0}, {"modulus": 0}, {"bins": 0}, {"bins": 65_537}, {"bits": 3}, {"bins": 1}, {"bands": 0}):
        refused(ValueError, r"TextSketches\(\) cannot make", TextSketches, [], **(CHOICES | wrong))
    refused(ValueError, r"TextSketches\(\) cannot make", TextSketches, [], **(CHOICES | {"rows": 9}))
    for wrong in ({"key": -1}, {"key": 2**64}, {"modulus": 2**64}):
        refused(OverflowError, "", TextSketches, [], **(CHOICES | wrong))
    for texts in (None, ["text"], (), [None]):
        refused(TypeError, "", TextSketches, texts, **CHOICES)
