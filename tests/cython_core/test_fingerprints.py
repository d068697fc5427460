from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.fingerprints import SELECTIONS, fingerprints
from tests.cython_core import reference
from tests.refused import refused

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


def assert_is_reference(text: str, k: int, w: int, selection: str, key: int = 0, robust: bool = True) -> None:
    hashes, positions = fingerprints(text, k, w, selection, key, robust=robust)
    assert list(zip(hashes, positions, strict=True)) == reference.fingerprints(text, k, w, selection, key, robust)


@pytest.mark.parametrize("selection", SELECTIONS)
@given(texts, st.integers(1, 20), st.integers(1, 70), st.sampled_from([0, 77]), st.booleans())
def test_compiled_is_reference(selection: str, text: str, k: int, w: int, key: int, robust: bool) -> None:
    assert_is_reference(text, k, w, selection, key, robust)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("w", [2**62, 2**63 - 1])
def test_the_largest_window_is_the_whole_text(selection: str, w: int) -> None:
    """With mod-p, this was a division by zero that ended the process."""
    assert_is_reference("abcdefgh", 2, w, selection)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize(("k", "w"), [(5, 4), (12, 90), (40, 7)])
def test_every_length_around_t(selection: str, k: int, w: int) -> None:
    for length in range(k - 1, k + 2 * w + 2):
        assert_is_reference(random_text(length, seed=length, alphabet="abcd"), k, w, selection)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("alphabet", ["a", "ab", LETTERS, "中文字"])
def test_texts_of_several_blocks(selection: str, robust: bool, alphabet: str) -> None:
    assert_is_reference(random_text(9_500, alphabet=alphabet), 9, 30, selection, robust=robust)


# Windows of at least k - 4 k-grams all have a syncmer, and vectors find it in k-grams of up to 66 characters.
SIZES = [(4, 9), (5, 1), (5, 9), (6, 2), (9, 4), (9, 5), (9, 6), (11, 40)]
SIZES += [(66, 62), (66, 90), (67, 63), (68, 64), (70, 80)]


@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("alphabet", ["ab", LETTERS, "жз中"])
@pytest.mark.parametrize(("k", "w"), SIZES)
def test_open_closed_in_windows_with_and_without_a_syncmer(k: int, w: int, alphabet: str, robust: bool) -> None:
    text = random_text(3_000, alphabet=alphabet) + alphabet[0] * 300 + random_text(1_500, 2, alphabet)
    assert_is_reference(text, k, w, "open-closed", robust=robust)


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


def test_errors_name_what_was_expected() -> None:
    for k, w in ((0, 5), (5, 0), (-1, -1)):
        refused(ValueError, "at least 1", fingerprints, "text", k, w)
    refused(ValueError, "no selection 'best'; choose one of winnow, open-closed", fingerprints, "text", 2, 2, "best")
    refused(TypeError, "str", fingerprints, b"text", 2, 2)
