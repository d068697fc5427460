from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.shingles import shingles
from tests.cython_core import reference
from tests.refused import refused

keys = st.one_of(st.just(0), st.integers(0, 2**64 - 1))
# Words of every character width, some longer than a block of characters or the table of powers.
words = st.one_of(
    st.text("abcxyz019", min_size=1, max_size=8),
    st.text("éßжñ中の𠀀", min_size=1, max_size=4),
    st.sampled_from(["a" * 63, "b" * 64, "c" * 65, "d" * 1023, "e" * 1024, "f" * 2500]),
)


def words_of(canonical: CanonicalText) -> list[str]:
    bounds = [*canonical.words, len(canonical.chars)]
    return [canonical.chars[start:end] for start, end in pairwise(bounds)]


def test_the_example_of_the_paper() -> None:
    found = shingles(canonical_text("A rose is a rose is a rose"), 4)
    assert (found[3:], len(set(found))) == (found[:2], 3)


@given(st.lists(words, max_size=40).map(" ".join), st.integers(1, 12), keys)
def test_compiled_is_reference(text: str, width: int, key: int) -> None:
    canonical = canonical_text(text)
    assert shingles(canonical, width, key).tolist() == reference.shingles(words_of(canonical), width, key)


@given(st.text(), st.integers(1, 5))
def test_compiled_is_reference_on_any_text(text: str, width: int) -> None:
    canonical = canonical_text(text)
    assert shingles(canonical, width).tolist() == reference.shingles(words_of(canonical), width)


def test_errors_name_what_was_expected() -> None:
    canonical = canonical_text("some words")
    refused(TypeError, r"shingles\(\) expects a CanonicalText, got str", shingles, "some words")
    refused(ValueError, "width of at least 1 word, got 0", shingles, canonical, 0)
    refused(ValueError, r"a key from 0 to 2\*\*64 - 1, got -1", shingles, canonical, key=-1)
