from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from tests.cython_core import reference
from tests.refused import refused

keys = st.one_of(st.just(0), st.integers(0, 2**64 - 1))


@given(st.text(st.characters(codec="utf-32"), max_size=60), st.integers(1, 20), keys)
def test_compiled_is_reference_for_every_character_width(chars: str, k: int, key: int) -> None:
    assert list(kgram_hashes(chars, k, key)) == [reference.mix(hash_) for hash_ in reference.kgrams(chars, k, key)]


@given(st.text("ab", min_size=1, max_size=40), st.sampled_from("éж😀"), st.integers(1, 8))
def test_a_hash_does_not_depend_on_the_width_of_the_string(chars: str, wide: str, k: int) -> None:
    alone = kgram_hashes(chars, k)
    assert kgram_hashes(chars + wide, k)[: len(alone)] == alone


@pytest.mark.parametrize("key", range(8))
def test_characters_in_a_table_and_beyond_hash_alike(key: int) -> None:
    """Wide characters of a few keys are looked up in tables of 2**18; others, and those of more keys, are computed."""
    chars = "aж中\uffff\U00010330\U0003fffe\U0003ffff\U00040000\U00040001\U0010ffff" * 3
    assert list(kgram_hashes(chars, 4, key)) == [reference.mix(hash_) for hash_ in reference.kgrams(chars, 4, key)]
    assert list(zip(*fingerprints(chars, 6, 5, "open-closed", key), strict=True)) == reference.fingerprints(
        chars, 6, 5, "open-closed", key
    )


def test_k_below_one_is_rejected() -> None:
    for k in (0, -1):
        refused(ValueError, "at least 1 character", kgram_hashes, "text", k)
