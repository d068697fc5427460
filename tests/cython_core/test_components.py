from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.components import UnionFind
from tests.cython_core import reference
from tests.refused import refused

if TYPE_CHECKING:
    from random import Random

MEMBERS = 40
pairs_of_members = st.lists(st.tuples(st.integers(0, MEMBERS - 1), st.integers(0, MEMBERS - 1)), max_size=60)


def columns(pairs: list[tuple[int, int]], typecode: str) -> tuple[array[int], array[int]]:
    return array(typecode, [a for a, _ in pairs]), array(typecode, [b for _, b in pairs])


@given(pairs_of_members)
def test_labels_are_the_smallest_members(pairs: list[tuple[int, int]]) -> None:
    members = UnionFind(MEMBERS)
    joined = [members.join(a, b) for a, b in pairs]
    labels = reference.labels(MEMBERS, pairs)
    assert list(members.labels()) == labels
    assert [members.find(a) for a in range(MEMBERS)] == labels
    assert sum(joined) == MEMBERS - len(set(labels))


@given(pairs_of_members, st.sampled_from("IQ"), st.randoms(use_true_random=False))
def test_order_and_typecode_do_not_matter(pairs: list[tuple[int, int]], typecode: str, random: Random) -> None:
    labels = reference.labels(MEMBERS, pairs)
    turned = [(b, a) for a, b in pairs]
    random.shuffle(turned)
    members = UnionFind(MEMBERS)
    assert members.join_all(*columns(turned, typecode)) == MEMBERS - len(set(labels))
    assert members.join_all(*columns(pairs, typecode)) == 0
    assert list(members.labels()) == labels


def test_a_long_chain_is_one_component() -> None:
    count = 200_000
    members = UnionFind(count)
    assert members.join_all(array("I", range(count - 1, 0, -1)), array("I", range(count - 2, -1, -1))) == count - 1
    assert members.labels() == array("I", [0]) * count


def test_no_members() -> None:
    assert len(UnionFind(0)) == 0
    assert UnionFind(0).labels() == array("I")
    assert UnionFind(0).join_all(array("I"), array("I")) == 0


def test_a_number_out_of_range_is_rejected() -> None:
    refused(ValueError, "0 is not one of the 0 members", UnionFind(0).find, 0)
    members = UnionFind(3)
    for number in (-1, 3, 2**32, 2**64 - 1, 2**64):
        refused(ValueError, f"{number} is not one of the 3 members", members.find, number)
        refused(ValueError, f"{number} is not one of the 3 members", members.join, 0, number)
    for count in (-1, 2**32, 2**80):
        refused(ValueError, f"0 to 4294967295 members, got {count}", UnionFind, count)


def test_a_number_out_of_range_is_rejected_before_any_pair_is_joined() -> None:
    members = UnionFind(3)
    refused(ValueError, "3 is not one of", members.join_all, array("I", [0, 1]), array("I", [1, 3]))
    # It is 0, if the upper half is dropped.
    refused(ValueError, "4294967296 is not one of", members.join_all, array("Q", [1, 2**32]), array("Q", [2, 1]))
    assert list(members.labels()) == [0, 1, 2]


def test_errors_name_what_was_expected() -> None:
    members = UnionFind(3)
    numbers, long, signed = (array(typecode, [1]) for typecode in "IQi")
    refused(TypeError, "an int, got float", UnionFind, 2.5)
    refused(TypeError, "an int, got str", members.join, 0, "1")
    refused(TypeError, "'I' or 'Q', got an array of typecode 'I' and .* 'Q'", members.join_all, numbers, long)
    refused(TypeError, "got list and NoneType", members.join_all, [1], None)
    refused(TypeError, "got an array of typecode 'I' and NoneType", members.join_all, numbers, None)
    refused(TypeError, "'i' and an array of typecode 'i'", members.join_all, signed, signed)
    refused(ValueError, "same length, got 1 and 2", members.join_all, numbers, array("I", [1, 2]))
