"""Shingles counted in parts, compared with a Counter, and repeated runs, compared with sets of words."""

from __future__ import annotations

from array import array
from itertools import accumulate

from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.repeated_shingles import (
    count_documents,
    repeated_runs,
    split_shingles,
    take_marks,
)
from tests.cython_core import reference
from tests.refused import refused

LARGEST = 2**64 - 1
SHINGLE = st.integers(0, 6) | st.integers(LARGEST - 3, LARGEST) | st.integers(0, LARGEST)
DOCUMENTS = st.lists(st.lists(SHINGLE, max_size=20), max_size=8)
PARTS = st.sampled_from([1, 2, 7, 256])
Document = list[int]


def block_of(documents: list[Document], parts: int) -> tuple[array[int], array[int]]:
    ends = array("I", accumulate(map(len, documents)))
    return split_shingles(array("Q", [shingle for document in documents for shingle in document]), ends, parts)


@given(DOCUMENTS, PARTS)
def test_a_block_has_each_shingle_of_a_document_once(documents: list[Document], parts: int) -> None:
    block, counts = block_of(documents, parts)
    assert (list(block), list(counts)) == reference.split_shingles(documents, parts)


@given(st.lists(SHINGLE))
def test_marks_are_reference(shingles: list[int]) -> None:
    assert list(count_documents(array("Q", shingles))) == reference.count_documents(shingles)


@given(DOCUMENTS, PARTS, st.integers(1, 5))
@example([[5] * 9, [5, 6], [6]], 1, 3)
def test_every_document_gets_its_marks(documents: list[Document], parts: int, width: int) -> None:
    block, counts = block_of(documents, parts)
    marks = array("I")
    for start, count in zip(accumulate(counts, initial=0), counts, strict=False):
        marks += count_documents(block[start : start + count])
    places = array("I", [*accumulate(counts, initial=0)][:parts])
    taken = [list(take_marks(array("Q", document), width, block, marks, places)) for document in documents]
    assert taken == reference.document_marks(documents, width)
    assert list(places) == list(accumulate(counts))


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans())), st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_runs_are_reference(numbers: list[tuple[int, bool]], width: int, documents: int, every: bool) -> None:
    marks = [2 * count + first for count, first in numbers]
    found = repeated_runs(array("I", marks), width, documents, every)
    assert found == reference.repeated_runs(marks, width, documents, every)


def test_another_document_is_noticed() -> None:
    block, _ = block_of([[1, 2], [2, 3]], 1)
    marks, places = count_documents(block), array("I", [0])
    take_marks(array("Q", [1, 2]), 1, block, marks, places)
    refused(ValueError, "this is another", take_marks, array("Q", [3, 2]), 1, block, marks, places)
    take_marks(array("Q", [2, 3]), 1, block, marks, array("I", [2]))
    refused(ValueError, "this is another", take_marks, array("Q", [1]), 1, block, marks, array("I", [4]))


def test_bad_arguments_are_refused() -> None:
    three, empty, none = array("Q", [1, 2, 3]), array("Q"), array("I")
    for parts in (0, -1, 65_537):
        refused(ValueError, f"1 to 65,536 parts, got {parts}", split_shingles, empty, none, parts)
    refused(ValueError, "3 shingles in all, got 2", split_shingles, three, array("I", [1, 2]), 4)
    refused(ValueError, "document 1 ends too early", split_shingles, three, array("I", [3, 2]), 4)
    refused(TypeError, r"count_documents\(\) expects an array of 64-bit", count_documents, None)
    refused(ValueError, "a mark for each of 1 shingles", take_marks, empty, 1, three[:1], none, array("I", [0]))
    for places in (None, b"abcd", array("Q", [0])):
        refused(TypeError, "expects places to move", take_marks, empty, 1, empty, none, places)
    for width, documents in ((0, 1), (1, 0)):
        refused(ValueError, "at least 1 word and 1 document", repeated_runs, none, width, documents, True)
