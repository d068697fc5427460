from __future__ import annotations

from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.shingles import shingles
from tests.cython_core import reference

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
    assert len(found) == 5
    assert len(set(found)) == 3
    assert found[0] == found[3]
    assert found[1] == found[4]


@given(st.lists(words, max_size=40).map(" ".join), st.integers(1, 12), keys)
def test_compiled_is_reference(text: str, width: int, key: int) -> None:
    canonical = canonical_text(text)
    assert shingles(canonical, width, key).tolist() == reference.shingles(words_of(canonical), width, key)


@given(st.text(), st.integers(1, 5))
def test_compiled_is_reference_on_any_text(text: str, width: int) -> None:
    canonical = canonical_text(text)
    assert shingles(canonical, width).tolist() == reference.shingles(words_of(canonical), width)


@pytest.mark.parametrize("wide", ["", "ж", "𠀀"])
def test_a_character_has_one_value_in_every_width(wide: str) -> None:
    text = "the quick brown fox jumps over the lazy dog and à la carte too"
    plain = shingles(canonical_text(text))
    assert shingles(canonical_text(f"{text} {wide}"))[: len(plain)] == plain


def test_where_words_begin_matters() -> None:
    assert shingles(canonical_text("now here")) != shingles(canonical_text("nowhere"))
    assert shingles(canonical_text("to get her")) != shingles(canonical_text("together"))


def test_a_short_text_is_one_shingle() -> None:
    short = canonical_text("Not found.")
    assert len(shingles(short)) == 1
    assert shingles(short) == shingles(canonical_text("not FOUND")) == shingles(short, 2)
    assert shingles(short) != shingles(canonical_text("found not"))


@pytest.mark.parametrize("nothing", ["", " \n", "…!?"])
def test_a_text_without_words_has_no_shingles(nothing: str) -> None:
    assert shingles(canonical_text(nothing)) == array("Q")


def test_another_key_gives_other_shingles() -> None:
    canonical = canonical_text("one two three four five")
    assert not set(shingles(canonical, 2)) & set(shingles(canonical, 2, key=1))


def test_errors_name_what_was_expected() -> None:
    canonical = canonical_text("some words")
    with pytest.raises(TypeError, match=r"shingles\(\) expects a CanonicalText, got str"):
        shingles("some words")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="width of at least 1 word, got 0"):
        shingles(canonical, 0)
    with pytest.raises(ValueError, match=r"a key from 0 to 2\*\*64 - 1, got -1"):
        shingles(canonical, key=-1)
