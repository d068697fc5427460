"""The rarest k-grams of a text, as Koala chooses them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.rare_grams import rare_grams
from tests.cython_core import reference
from tests.cython_core.test_fingerprints import random_text, texts
from tests.refused import refused

sizes = st.integers(1, 250)


@given(texts, st.integers(1, 20), sizes, st.sampled_from([0, 77]))
def test_compiled_is_reference(text: str, k: int, size: int, key: int) -> None:
    assert list(zip(*rare_grams(text, k, size, key), strict=True)) == reference.rare_grams(text, k, size, key)


@pytest.mark.parametrize("length", [2_047, 2_048, 2_049, 2_067, 2_068, 6_200])
def test_blocks_make_no_difference(length: int) -> None:
    text = random_text(length, alphabet="bcdf")
    assert list(zip(*rare_grams(text, 20, 300), strict=True)) == reference.rare_grams(text, 20, 300)


@given(texts, st.integers(1, 9), sizes, sizes)
def test_fewer_are_the_first_of_more(text: str, k: int, one: int, other: int) -> None:
    less, more = sorted((one, other))
    found = [list(zip(*rare_grams(text, k, size), strict=True)) for size in (less, more)]
    assert found[0] == found[1][:less]


@given(texts, st.integers(1, 9), sizes)
def test_each_is_the_hash_of_its_place_and_there_once(text: str, k: int, size: int) -> None:
    hashes, positions = rare_grams(text, k, size)
    grams = kgram_hashes(text, k)
    assert [grams[position] >> 32 for position in positions] == list(hashes)
    assert len({text[position : position + k] for position in positions}) == len(positions)


def test_rare_beginnings_come_first() -> None:
    text = "common" * 50 + "quartz" + "common" * 50
    assert all({*"qz"} & {*text[position : position + 5]} for position in rare_grams(text, 6, 4)[1])


def test_the_hashes_of_a_text_are_no_smaller_than_others() -> None:
    """If the smallest hashes were chosen, unrelated texts would share many of them by chance."""
    hashes, _ = rare_grams(random_text(20_000), 20, 1_000)
    assert 0.4 < sum(hashes) / len(hashes) / 2**32 < 0.6


def test_what_cannot_be() -> None:
    for k, size in ((0, 1), (-1, 1), (1, 0), (1, -5)):
        refused(ValueError, "k and size must be at least 1", rare_grams, "abc", k, size)
