from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.cython_core.fingerprints import SELECTIONS, fingerprints
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from tests.cython_core import reference

GUARANTEED = [selection for selection in SELECTIONS if selection != "mod-p"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def random_text(length: int, seed: int = 1, alphabet: str = LETTERS) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def density(text: str, k: int, w: int, selection: str = "winnow") -> float:
    return len(fingerprints(text, k, w, selection)[0]) / (len(text) - k + 1)


texts = st.one_of(
    st.text("ab", max_size=200),
    st.text(LETTERS, max_size=200),
    st.text("aé", max_size=80),
    st.text("aж中", max_size=80),
    st.text("a😀", max_size=80),
    st.builds(lambda unit, times: unit * times, st.text("abc", min_size=1, max_size=5), st.integers(1, 60)),
)


@pytest.mark.parametrize("selection", SELECTIONS)
@given(texts, st.integers(1, 20), st.integers(1, 70), st.sampled_from([0, 77]), st.booleans())
def test_compiled_is_reference(selection: str, text: str, k: int, w: int, key: int, robust: bool) -> None:
    hashes, positions = fingerprints(text, k, w, selection, key, robust=robust)
    assert list(zip(hashes, positions, strict=True)) == reference.fingerprints(text, k, w, selection, key, robust)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_largest_window_is_the_whole_text(selection: str) -> None:
    """With mod-p, this was a division by zero that ended the process."""
    for w in (2**62, 2**63 - 1):
        hashes, positions = fingerprints("abcdefgh", 2, w, selection)
        assert list(zip(hashes, positions, strict=True)) == reference.fingerprints("abcdefgh", 2, w, selection)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize(("k", "w"), [(5, 4), (12, 90), (40, 7)])
def test_every_length_around_t(selection: str, k: int, w: int) -> None:
    for length in range(k - 1, k + 2 * w + 2):
        text = random_text(length, seed=length, alphabet="abcd")
        hashes, positions = fingerprints(text, k, w, selection)
        assert list(zip(hashes, positions, strict=True)) == reference.fingerprints(text, k, w, selection)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("alphabet", ["a", "ab", LETTERS, "中文字"])
def test_texts_of_several_blocks(selection: str, robust: bool, alphabet: str) -> None:
    text = random_text(9_500, alphabet=alphabet)
    hashes, positions = fingerprints(text, 9, 30, selection, robust=robust)
    assert list(zip(hashes, positions, strict=True)) == reference.fingerprints(text, 9, 30, selection, robust=robust)


@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("alphabet", ["ab", LETTERS, "жз中"])
@pytest.mark.parametrize(
    ("k", "w"),
    [
        (4, 9),
        (5, 1),
        (5, 9),
        (6, 2),
        (9, 4),
        (9, 5),
        (9, 6),
        (11, 40),
        (66, 62),
        (66, 90),
        (67, 63),
        (68, 64),
        (70, 80),
    ],
)
def test_open_closed_for_windows_that_all_have_a_syncmer_and_shorter_ones(
    k: int, w: int, alphabet: str, robust: bool
) -> None:
    """Windows of at least k - 4 k-grams have one, and vectors find it in k-grams of up to 66 characters."""
    text = random_text(3_000, alphabet=alphabet) + alphabet[0] * 300 + random_text(1_500, 2, alphabet)
    hashes, positions = fingerprints(text, k, w, "open-closed", robust=robust)
    assert list(zip(hashes, positions, strict=True)) == reference.fingerprints(text, k, w, "open-closed", robust=robust)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_hash_is_that_of_the_kgram_at_its_position(selection: str) -> None:
    text = random_text(20_000)
    every = kgram_hashes(text, 12)
    hashes, positions = fingerprints(text, 12, 30, selection)
    assert [every[i] for i in positions] == list(hashes)
    assert all(a < b for a, b in pairwise(positions))


@pytest.mark.parametrize("selection", GUARANTEED)
def test_a_text_shorter_than_t_keeps_its_smallest_kgram(selection: str) -> None:
    page = random_text(60)
    hashes, positions = fingerprints(page, 50, 100, selection)
    smallest = min(reference.kgrams(page, 50))
    assert list(hashes) == [reference.mix(smallest)]
    assert fingerprints(page, 50, 100, selection) == (hashes, positions)
    assert len(fingerprints(page[:50], 50, 100, selection)[0]) == 1
    assert not fingerprints(page[:49], 50, 100, selection)[0]


def test_density_on_random_text_is_that_of_the_paper() -> None:
    text = random_text(4_000_000)
    assert density(text, 50, 100) == pytest.approx(2 / 101, rel=0.01)
    assert density(text, 50, 100, "mod-p") == pytest.approx(1 / 50, rel=0.01)
    assert density(text, 50, 100, "open-closed") <= 0.85 * 2 / 101
    assert density(text, 200, 50, "mod-minimizer") <= 0.65 * 2 / 51


@pytest.mark.parametrize("selection", ["winnow", "open-closed"])
def test_robust_keeps_one_per_window_of_a_repeated_character(selection: str) -> None:
    assert density("0" * 1_000_000, 50, 100, selection) == pytest.approx(1 / 100, rel=0.001)
    hashes, _ = fingerprints("0" * 100_000, 50, 100, selection, robust=False)
    assert len(hashes) > 99_000


def test_a_larger_window_keeps_a_part_of_what_a_smaller_one_keeps() -> None:
    text = random_text(50_000)
    small, large = (set(fingerprints(text, 20, w)[0]) for w in (20, 80))
    assert large < small


def test_hashes_are_spread_evenly_though_small_ones_were_picked() -> None:
    hashes, _ = fingerprints(random_text(1_000_000), 50, 100)
    top = [hash_ >> 60 for hash_ in hashes]
    expected = len(hashes) / 16
    chi_squared = sum((top.count(digit) - expected) ** 2 / expected for digit in range(16))
    assert chi_squared < 37.7  # 15 degrees of freedom, one in a thousand


@pytest.mark.parametrize(("k", "w"), [(0, 5), (5, 0), (-1, -1)])
def test_sizes_below_one_are_rejected(k: int, w: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        fingerprints("text", k, w)


def test_an_unknown_selection_is_rejected() -> None:
    with pytest.raises(ValueError, match="no selection 'best'; choose one of winnow, open-closed"):
        fingerprints("text", 2, 2, "best")


def test_bytes_are_rejected() -> None:
    with pytest.raises(TypeError, match="str"):
        fingerprints(b"text", 2, 2)  # type: ignore[arg-type]
