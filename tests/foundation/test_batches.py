"""Batches have all items in order, and keep their limits."""

from __future__ import annotations

from hypothesis import given, strategies as st

from opensearch_winnow.foundation.batches import batches, batches_by_size


@given(st.lists(st.integers()), st.integers(1, 5))
def test_batches_have_all_items_and_only_the_last_is_shorter(items: list[int], size: int) -> None:
    found = list(batches(iter(items), size))
    assert [each for batch in found for each in batch] == items
    assert all(len(batch) == size for batch in found[:-1])
    assert all(0 < len(batch) <= size for batch in found[-1:])


@given(st.lists(st.integers(0, 9)), st.integers(1, 20), st.none() | st.integers(1, 5))
def test_a_batch_ends_with_the_item_that_reaches_a_limit(items: list[int], size: int, most: int | None) -> None:
    found = list(batches_by_size(iter(items), lambda item: item, size, most))
    assert [each for batch in found for each in batch] == items
    assert all(sum(batch[:-1]) < size and (most is None or len(batch) <= most) for batch in found)
    assert all(sum(batch) >= size or len(batch) == most for batch in found[:-1])
