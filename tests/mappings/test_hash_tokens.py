from __future__ import annotations

import re
from array import array
from base64 import urlsafe_b64decode

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.mappings.hash_tokens import (
    packed_positions,
    packed_tokens,
    tokens_of,
    unpacked_positions,
    unpacked_tokens,
)

HASHES = st.lists(st.integers(0, 2**64 - 1)).map(lambda hashes: array("Q", hashes))
POSITIONS = st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 300)).map(lambda each: array("I", each))


@given(HASHES)
def test_a_token_is_the_hash_in_base64(hashes: array[int]) -> None:
    tokens = tokens_of(hashes)
    assert [int.from_bytes(urlsafe_b64decode(f"{token}=")) for token in tokens] == list(hashes)
    assert all(re.fullmatch(r"[\w-]{11}", token) for token in tokens)
    assert packed_tokens(hashes) == " ".join(tokens)
    assert unpacked_tokens(packed_tokens(hashes)) == hashes


@pytest.mark.parametrize(
    "packed",
    ["A", "AAAAAAAAAAA ", "AAAAAAAAAAAA", "AAAAAAAAAAA-AAAAAAAAAAA", "AAAAAAAAAA=", "AAAAA AAAAA", "é" * 6, "B" * 11],
)
def test_invalid_tokens_are_refused(packed: str) -> None:
    with pytest.raises(ValueError, match="tokens are 11 characters of base64url"):
        unpacked_tokens(packed)


@given(POSITIONS)
def test_positions_survive_packing(positions: array[int]) -> None:
    assert unpacked_positions(packed_positions(positions)) == positions


def test_nearby_positions_take_a_byte_each_and_none_ends_too_early() -> None:
    assert packed_positions(array("I", range(0, 120 * 3, 3))) == "AAMD" + "AwMD" * 39
    with pytest.raises(ValueError, match="in the middle of one"):
        unpacked_positions("gA==")
