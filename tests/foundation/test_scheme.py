from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, SchemeError
from opensearch_winnow.foundation.answer_keys import json_values
from opensearch_winnow.foundation.scheme import PRESETS
from tests.refused import refused


def test_the_default_is_that_of_the_papers_and_frozen() -> None:
    scheme = Scheme()
    assert (scheme.k, scheme.t, scheme.w, scheme.shingle, scheme.modulus) == (50, 149, 100, 10, 25)
    assert scheme == Scheme(noise=50, guarantee=149) == Scheme.preset("pages")
    refused(dataclasses.FrozenInstanceError, "", setattr, scheme, "noise", 3)


@given(st.integers(1, 1_000), st.integers(0, 1_000))
def test_the_window_follows_from_the_two_thresholds(noise: int, more: int) -> None:
    scheme = Scheme(noise=noise, guarantee=noise + more)
    assert scheme.t == scheme.w + scheme.k - 1


def test_every_choice_is_in_the_id() -> None:
    choices: list[dict[str, Any]] = [
        *({"noise": 49}, {"guarantee": 150}, {"selection": "open-closed"}, {"form": "consonants"}, {"shingle": 9}),
        *({"modulus": 24}, {"bins": 512}, {"bits": 8}, {"bands": 31}, {"rows": 3}, {"fold_confusables": True}),
        *({"key": "secret"}, {"key": "other secret"}),
    ]
    assert len({Scheme().id, *(Scheme(**each).id for each in choices)}) == 1 + len(choices)
    koala = [Scheme(selection="koala"), Scheme(selection="koala", stored=99), Scheme(selection="koala", searched=999)]
    assert len({Scheme().id, *(each.id for each in koala)}) == 1 + len(koala)
    assert Scheme(stored=99, searched=999).id == Scheme().id  # they decide nothing in another selection
    # Normalisation has one value, and stored and searched are tried with koala.
    names = {name for each in choices for name in each} | {"normalisation", "stored", "searched"}
    assert names == {field.name for field in dataclasses.fields(Scheme)}


def test_selections_by_windows_guarantee_something() -> None:
    guaranteed = {"winnow": True, "open-closed": True, "mod-minimizer": True, "koala": False, "mod-p": False}
    assert {name: Scheme(selection=name).guarantees for name in guaranteed} == guaranteed  # type: ignore[arg-type]


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
    patterns = ["noise is .*not 0", "guarantee is .*not 2.5", "selection is one of .*koala, not 'best'"]
    patterns += ["shingle is .*not True", "bits is one of 1, 2, 4, 8, 16, not 3", "key is .*at least one character"]
    assert [pattern for pattern in patterns if not re.search(pattern, str(caught.value))] == []


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
    refused(SchemeError, words, Scheme, **choices)


def test_presets_are_schemes_with_a_purpose() -> None:
    assert len({scheme.id for scheme in PRESETS.values()}) == len(PRESETS)
    refused(SchemeError, "no preset 'books'; there are pages, passages", Scheme.preset, "books")


def test_the_key_is_no_key_of_its_json() -> None:
    told = json_values(Scheme(key="open-sesame"))
    assert list(told) == ["id", "noise", "guarantee", "selection", "form", "fold_confusables", "keyed", "shingle"]
    assert (told["noise"], told["keyed"], json_values(Scheme())["keyed"]) == (50, True, False)
