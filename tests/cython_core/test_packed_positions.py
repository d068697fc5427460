"""Packed positions, compared with the reference."""

from __future__ import annotations

from array import array

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.packed_positions import pack_positions, unpack_positions
from tests.cython_core import reference
from tests.refused import refused

POSITIONS = st.lists(st.integers(0, 300) | st.integers(0, 2**32 - 1), max_size=40)


@given(POSITIONS)
def test_packed_and_unpacked_they_are_the_same(positions: list[int]) -> None:
    packed = pack_positions(array("I", positions))
    assert packed == reference.pack_positions(positions)
    assert unpack_positions(packed) == array("I", positions)


@given(st.binary(max_size=20))
def test_any_bytes_are_positions_or_refused(packed: bytes) -> None:
    try:
        positions = unpack_positions(packed)
    except ValueError:
        return
    assert len(pack_positions(positions)) <= len(packed)


def test_errors_name_what_was_expected() -> None:
    for packed in (b"\x80", b"\x05\xff", b"\xff\xff\xff\xff\x1f"):
        refused(ValueError, "in the middle of one, or have more than 32 bits", unpack_positions, packed)
    for wrong in (None, [1], array("i", [1]), b"xyz"):
        refused(TypeError, r"pack_positions\(\) expects an array of 32-bit", pack_positions, wrong)
    refused(TypeError, "", unpack_positions, None)
