from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow import Scheme, SchemeError, WinnowError
from opensearch_winnow.foundation.answer_keys import json_values
from opensearch_winnow.foundation.scheme import PRESETS


def test_the_default_is_that_of_the_papers() -> None:
    scheme = Scheme()
    assert (scheme.k, scheme.t, scheme.w, scheme.shingle, scheme.modulus) == (50, 149, 100, 10, 25)
    assert scheme == Scheme(noise=50, guarantee=149) == Scheme.preset("pages")


@given(st.integers(1, 1_000), st.integers(0, 1_000))
def test_the_window_follows_from_the_two_thresholds(noise: int, more: int) -> None:
    scheme = Scheme(noise=noise, guarantee=noise + more)
    assert scheme.t == scheme.w + scheme.k - 1


def test_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Scheme().noise = 3  # type: ignore[misc]


def test_every_choice_is_in_the_id() -> None:
    others = [
        Scheme(noise=49),
        Scheme(guarantee=150),
        Scheme(selection="open-closed"),
        Scheme(form="consonants"),
        Scheme(shingle=9),
        Scheme(modulus=24),
        Scheme(bins=512),
        Scheme(bits=8),
        Scheme(bands=31),
        Scheme(rows=3),
        Scheme(key="secret"),
        Scheme(key="other secret"),
        Scheme(fold_confusables=True),
    ]
    assert len({Scheme().id, *(other.id for other in others)}) == 1 + len(others)
    koala = [Scheme(selection="koala"), Scheme(selection="koala", stored=99), Scheme(selection="koala", searched=999)]
    assert len({Scheme().id, *(each.id for each in koala)}) == 1 + len(koala)
    assert Scheme(stored=99, searched=999).id == Scheme().id  # they decide nothing in another selection
    # Normalisation has one value; key has two here, and stored and searched are tried with koala.
    assert len(others) == len(dataclasses.fields(Scheme)) - 1 + 1 - 2


def test_selections_by_windows_guarantee_something() -> None:
    assert all(
        each.guarantees for each in (Scheme(), Scheme(selection="open-closed"), Scheme(selection="mod-minimizer"))
    )
    assert not Scheme(selection="koala").guarantees
    assert not Scheme(selection="mod-p").guarantees


def test_the_version_of_pygments_is_in_the_id_of_code_and_of_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    schemes = [Scheme(form="text"), Scheme(form="consonants"), Scheme(form="code")]
    before = [scheme.id for scheme in schemes]
    assert len(set(before)) == 3
    monkeypatch.setattr("pygments.__version__", "99.1")
    after = [scheme.id for scheme in schemes]
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, True, False]
    assert before[0] == Scheme().id


def test_the_key_shows_nowhere() -> None:
    scheme = Scheme(key="open sesame")
    assert "sesame" not in repr(scheme) + scheme.id
    assert scheme.seed not in (0, Scheme(key="Open sesame").seed)
    assert Scheme().seed == 0


def test_all_complaints_come_at_once_in_words() -> None:
    with pytest.raises(SchemeError) as caught:
        Scheme(noise=0, guarantee=2.5, selection="best", shingle=True, bits=3, key="")  # type: ignore[arg-type]
    message = str(caught.value)
    for words in (
        "noise is a whole number from 1",
        "not 0",
        "guarantee is a whole number",
        "not 2.5",
        "selection is one of winnow, open-closed, mod-minimizer, mod-p, koala, not 'best'",
        "shingle is a whole number",
        "not True",
        "bits is one of 1, 2, 4, 8, 16, not 3",
        "key is a text of at least one character",
    ):
        assert words in message


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"noise": 50, "guarantee": 49}, "guarantee is at least noise: 49 is below 50"),
        ({"bands": 300}, "300 bands of 4 rows take more than the 1024 bins"),
        ({"normalisation": 99}, "normalisation is one of 1, not 99"),
        ({"form": "vowels"}, "form is one of text, consonants, code, not 'vowels'"),
        ({"noise": "50"}, "noise is a whole number"),
        ({"fold_confusables": 1}, "fold_confusables is one of False, True, not 1"),
        ({"fold_confusables": True, "form": "code"}, "fold_confusables is for text"),
    ],
)
def test_one_complaint(choices: dict[str, object], words: str) -> None:
    with pytest.raises(WinnowError, match=words):
        Scheme(**choices)  # type: ignore[arg-type]


def test_presets_are_schemes_with_a_purpose() -> None:
    assert len({scheme.id for scheme in PRESETS.values()}) == len(PRESETS)
    with pytest.raises(SchemeError, match="no preset 'books'; there are pages, passages"):
        Scheme.preset("books")


def test_the_key_is_no_key_of_its_json() -> None:
    told = json_values(Scheme(key="open-sesame"))
    assert list(told) == ["id", "noise", "guarantee", "selection", "form", "fold_confusables", "keyed", "shingle"]
    assert (told["noise"], told["keyed"], json_values(Scheme())["keyed"]) == (50, True, False)
