"""Which fingerprints of a page are stored, and which are looked up."""

from __future__ import annotations

from array import array
from dataclasses import replace

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.rare_grams import rare_grams
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.selection import fingerprints_at, searched_fingerprints, stored_fingerprints

SCHEME = Scheme(selection="koala", noise=5, guarantee=10, stored=10, searched=80)
TEXTS = st.text("abc", max_size=200)


@given(TEXTS, st.integers(0, 1_000))
def test_every_epoch_stores_a_part_of_the_search_fingerprint(chars: str, epoch: int) -> None:
    searched = searched_fingerprints(chars, SCHEME, SCHEME.w, array("Q"))
    stored, positions = stored_fingerprints(chars, SCHEME, epoch)
    assert set(stored) <= set(searched)
    assert len(stored) == len(positions) == min(SCHEME.stored, len(searched))
    assert list(positions) == sorted(set(positions))


@given(TEXTS)
def test_a_full_round_of_epochs_repeats_nothing_unless_it_must(chars: str) -> None:
    searched = set(searched_fingerprints(chars, SCHEME, SCHEME.w, array("Q")))
    epochs = max(len(searched) // SCHEME.stored, 2)
    stored = [frozenset(stored_fingerprints(chars, SCHEME, epoch)[0]) for epoch in range(epochs + 1)]
    assert stored[-1] == stored[0]
    assert len(frozenset().union(*stored)) == min(epochs * SCHEME.stored, len(searched))


@given(TEXTS)
def test_the_first_epoch_stores_the_rarest(chars: str) -> None:
    assert set(stored_fingerprints(chars, SCHEME)[0]) == set(rare_grams(chars, SCHEME.k, SCHEME.stored)[0])


@given(TEXTS, st.integers(0, 20), st.sampled_from([None, "secret"]))
def test_positions_give_the_fingerprints_back(chars: str, epoch: int, key: str | None) -> None:
    scheme = replace(SCHEME, key=key)
    stored, positions = stored_fingerprints(chars, scheme, epoch)
    assert fingerprints_at(chars, positions, scheme) == stored
    assert fingerprints_at(chars, array("I", [len(chars)]), scheme) == array("Q")


@given(TEXTS, st.integers(1, 20))
def test_other_selections_have_no_epochs(chars: str, epoch: int) -> None:
    scheme = Scheme(noise=5, guarantee=10)
    assert stored_fingerprints(chars, scheme, epoch) == stored_fingerprints(chars, scheme)
