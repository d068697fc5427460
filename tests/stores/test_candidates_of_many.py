"""The law of candidates for many questions, on every kind of store."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Field, Lookup
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.store import LookupsOfQuestion, Sizes, Store
from tests.stores.conftest import TOKENS
from tests.stores.held_records import FILTERS, RECORDS
from tests.stores.store_questions import candidates

New = Callable[[], Store]
FIELDS: tuple[Field, ...] = get_args(Field)
LOOKUPS = st.lists(
    st.builds(
        Lookup,
        st.sampled_from(FIELDS),
        st.lists(st.sampled_from(TOKENS), unique=True).map(lambda tokens: array("Q", tokens)),
        st.integers(1, 3),
    ),
    max_size=3,
    unique_by=lambda lookup: lookup.field,
)
SOME_SIZES = st.none() | st.builds(Sizes, st.integers(0, 2**30), st.integers(2**30, 2**31 - 1))


@pytest.mark.check
@given(
    RECORDS,
    st.lists(st.builds(LookupsOfQuestion, LOOKUPS, SOME_SIZES), max_size=4),
    FILTERS,
    st.none() | st.builds(FrequencyCheck, st.integers(0, 4)),
    st.sets(st.integers(0, 7)),
)
def test_candidates_of_many_are_those_of_each(
    new_store: New,
    records: list[Record],
    questions: list[LookupsOfQuestion],
    where: Filters,
    check: FrequencyCheck | None,
    removed: set[int],
) -> None:
    with new_store() as store:
        store.write(records)
        store.delete([records[index].id for index in removed if index < len(records)])
        each = [candidates(store, lookups, where, check, sizes) for lookups, sizes in questions]
        assert store.candidates(questions, where, check) == each
